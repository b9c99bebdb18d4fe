"""Map, reduce and map-reduce: rows through a command or a Python function."""
