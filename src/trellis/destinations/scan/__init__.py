"""Parquet files as SQL relations of a DuckDB in this process, which is a library here, not a destination."""
