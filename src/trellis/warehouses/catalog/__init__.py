"""The warehouses, each with its types, names and statements, and what a change of a table costs there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trellis.warehouses.catalog import databases as db
from trellis.warehouses.catalog import lakes
from trellis.warehouses.warehouse import Warehouse

_ALL: Final = (
    *(db.DUCKDB, db.POSTGRES, db.REDSHIFT, db.SNOWFLAKE, db.BIGQUERY, lakes.DATABRICKS, db.CLICKHOUSE),
    *(db.SQL_SERVER, db.SYNAPSE, lakes.ATHENA, lakes.PARQUET, lakes.DELTA, lakes.ICEBERG),
)
WAREHOUSES: Final[Mapping[str, Warehouse]] = {warehouse.name: warehouse for warehouse in _ALL}
