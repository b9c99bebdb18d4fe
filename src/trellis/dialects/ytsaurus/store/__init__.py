"""Tables on disk: a catalogue in SQLite, rows in Parquet. Stands above the engine; may do I/O."""
