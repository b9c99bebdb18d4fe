"""Schemas as nested types, for Parquet, ORC and wide rows (docs/conformance/snowplow.md, R-69 to R-80)."""
