"""The Spark session for Iceberg tables below a folder, which is a catalog of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from trellis.destinations.lake.formats import ICEBERG_FORMAT
from trellis.destinations.lake.session import catalog_class, missing_format, request_format
from trellis.engine.spark.session import get_session
from trellis.engine.spark.settings import add_settings
from trellis.engine.spark.storage import hadoop_settings
from trellis.engine.storage.location import spark_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def iceberg_session(warehouse: str) -> SparkSession:
    """A session that has the tables below a folder as a catalog.

    Raises DestinationError where the session that runs has no Iceberg.
    """
    request_format(ICEBERG_FORMAT, warehouse)
    session, name = get_session(), iceberg_catalog(warehouse)
    is_new = not catalog_class(session, name)
    add_settings(session, iceberg_settings(warehouse))
    if is_new:
        try:
            session.catalog.databaseExists(f"`{name}`.`main`")
        except Exception as failure:
            if ICEBERG_FORMAT.catalog not in str(failure):
                raise
            raise missing_format(session, ICEBERG_FORMAT) from failure
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
