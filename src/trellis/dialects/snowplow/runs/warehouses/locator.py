"""The warehouse that a URL names."""

from __future__ import annotations

from trellis.destinations.url import path_of, redacted
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaWarehouse
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse
from trellis.dialects.snowplow.runs.warehouses.postgres import PostgresWarehouse
from trellis.errors import UsageError


def open_warehouse(url: str, *, read_only: bool = False, missing_ok: bool = False) -> RunWarehouse:
    """`read_only` lets several processes open a DuckDB file, and makes none; with `missing_ok`, one that is
    not there is empty. Raises UsageError, DestinationError."""
    if url.startswith("duckdb:"):
        return DuckDBWarehouse(path_of(url, "duckdb:PATH"), read_only=read_only, missing_ok=missing_ok)
    if url.startswith("delta:"):
        return DeltaWarehouse(path_of(url, "delta:PATH"))
    if url.startswith(("postgresql:", "postgres:")):
        return PostgresWarehouse(url)
    raise UsageError(
        f"{redacted(url)}: runs are loaded into duckdb:PATH, delta:PATH and postgresql://...; "
        "`trellis snowplow script` writes statements for Redshift, and other warehouses take events with "
        "`trellis load --dialect snowplow`"
    )
