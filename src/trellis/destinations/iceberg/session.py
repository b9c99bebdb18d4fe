"""The Spark session for Iceberg tables below a folder, which is a catalog of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from trellis.destinations.lake.formats import ICEBERG_FORMAT
from trellis.destinations.lake.session import request_format
from trellis.engine.spark.session import get_session
from trellis.engine.spark.settings import add_settings
from trellis.engine.spark.storage import hadoop_settings
from trellis.engine.storage.location import spark_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def iceberg_session(warehouse: str) -> SparkSession:
    """A session that has the tables below a folder as a catalog."""
    request_format(ICEBERG_FORMAT, warehouse)
    session = get_session()
    add_settings(session, iceberg_settings(warehouse))
    return session


def iceberg_settings(warehouse: str) -> dict[str, str]:
    """The settings of that catalog, which keeps no table in memory: other processes commit to them."""
    catalog = f"spark.sql.catalog.{iceberg_catalog(warehouse)}"
    hadoop = {f"{catalog}.hadoop.{name}": value for name, value in hadoop_settings(warehouse).items()}
    return {
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": spark_location(warehouse),
        f"{catalog}.cache-enabled": "false",
        **hadoop,
        catalog: ICEBERG_FORMAT.catalog,
    }


def iceberg_catalog(warehouse: str) -> str:
    """The name of the catalog of a warehouse."""
    return f"trellis_{hashlib.sha256(warehouse.encode()).hexdigest()[:12]}"
