"""The Spark session of a lake: the user's own where one runs, else one with what the table format needs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from trellis.destinations.lake.formats import DELTA_FORMAT, FORMATS, ICEBERG_FORMAT, TableFormat
from trellis.engine.spark.packages import SparkPackage, request_package
from trellis.engine.spark.session import get_session
from trellis.errors import DestinationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MAIN_CATALOG = "spark_catalog"


def request_format(format_: TableFormat) -> None:
    """Let a session that Trellis starts in local mode have what the format needs."""
    settings = {f"spark.sql.catalog.{_MAIN_CATALOG}": DELTA_FORMAT.catalog} if format_ is DELTA_FORMAT else {}
    request_package(SparkPackage(format_.package, format_.extension, settings))


def delta_session() -> SparkSession:
    """Raises DestinationError where the session that runs has no Delta Lake."""
    request_format(DELTA_FORMAT)
    session = get_session()
    if _class_of(session, _MAIN_CATALOG) != DELTA_FORMAT.catalog:
        raise DestinationError(
            "the Spark session of this process has no Delta Lake, which merges need; start it with "
            f"spark.jars.packages={DELTA_FORMAT.package}, spark.sql.extensions={DELTA_FORMAT.extension} and "
            f"spark.sql.catalog.{_MAIN_CATALOG}={DELTA_FORMAT.catalog}; nothing was loaded"
        )
    return session


def iceberg_session(catalog: str, location: str) -> SparkSession:
    """A session with the Iceberg tables below a folder as a catalog."""
    request_format(ICEBERG_FORMAT)
    session = get_session()
    if not _class_of(session, catalog):
        session.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
        session.conf.set(f"spark.sql.catalog.{catalog}.warehouse", location)
        session.conf.set(f"spark.sql.catalog.{catalog}", ICEBERG_FORMAT.catalog)
    return session


def iceberg_catalog(location: str) -> str:
    """The name of the catalog of a warehouse."""
    return f"trellis_{hashlib.sha256(location.encode()).hexdigest()[:12]}"


def format_of(session: SparkSession, catalog: str) -> TableFormat:
    """The format of the tables that a catalog creates. Raises DestinationError."""
    class_name = _class_of(session, catalog)
    words = {"iceberg": ICEBERG_FORMAT, "delta": DELTA_FORMAT, "unitycatalog": DELTA_FORMAT}
    format_ = next((words[word] for word in words if word in class_name.lower()), None)
    if format_ is None:
        known = " or ".join(other.warehouse.title for other in FORMATS)
        raise DestinationError(
            f"catalog {catalog}: the Spark session has no catalog of that name whose tables commit, such as "
            f"one of {known}; set spark.sql.catalog.{catalog} to its class"
        )
    return format_


def _class_of(session: SparkSession, catalog: str) -> str:
    return session.conf.get(f"spark.sql.catalog.{catalog}", "") or ""
