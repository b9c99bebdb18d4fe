"""The warehouse that a URL names."""

from __future__ import annotations

from trellis.destinations.url import path_of, redacted
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaWarehouse
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse, MissingFile
from trellis.dialects.snowplow.runs.warehouses.postgres import PostgresWarehouse
from trellis.errors import UsageError


def open_warehouse(url: str, *, read_only: bool = False, missing: MissingFile = "make") -> RunWarehouse:
    """`read_only` lets several processes open a DuckDB file; `missing` is for one that is not there.

    Raises UsageError, DestinationError.
    """
    check_warehouse(url)
    if url.startswith("duckdb:"):
        return DuckDBWarehouse(path_of(url, "duckdb:PATH"), read_only=read_only, missing=missing)
    if url.startswith("delta:"):
        return DeltaWarehouse(path_of(url, "delta:PATH"))
    return PostgresWarehouse(url)


def check_warehouse(url: str) -> None:
    """Raises UsageError for a URL of a warehouse that takes no runs."""
    if url.startswith(("duckdb:", "delta:", "postgresql:", "postgres:")):
        return
    raise UsageError(
        f"{redacted(url)}: runs are loaded into duckdb:PATH, delta:PATH and postgresql://...; "
        "`trellis snowplow script` writes statements for Redshift, and other warehouses take events with "
        "`trellis load --dialect snowplow`"
    )
