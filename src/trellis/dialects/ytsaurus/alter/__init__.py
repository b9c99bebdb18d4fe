"""Which changes of a schema need no data."""
