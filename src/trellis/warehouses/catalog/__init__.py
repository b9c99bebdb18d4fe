"""The warehouses, each with its types, names and statements, and what a change of a table costs there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from trellis.warehouses.catalog.databases import (
    BIGQUERY,
    CLICKHOUSE,
    DUCKDB,
    POSTGRES,
    REDSHIFT,
    SNOWFLAKE,
    SQL_SERVER,
    SYNAPSE,
)
from trellis.warehouses.catalog.lakes import ATHENA, DATABRICKS, DELTA, ICEBERG, PARQUET
from trellis.warehouses.warehouse import Warehouse

WAREHOUSES: Final[Mapping[str, Warehouse]] = MappingProxyType(
    {
        warehouse.name: warehouse
        for warehouse in (
            *(DUCKDB, POSTGRES, REDSHIFT, SNOWFLAKE, BIGQUERY, DATABRICKS, CLICKHOUSE, SQL_SERVER),
            *(SYNAPSE, ATHENA, PARQUET, DELTA, ICEBERG),
        )
    }
)
