"""What a Spark session needs for the tables of a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.lake.formats import DELTA_FORMAT, HADOOP_AWS, TableFormat
from trellis.engine.spark.packages import SparkPackage, request_package
from trellis.engine.spark.session import get_session
from trellis.engine.spark.storage import configure_storage
from trellis.engine.storage.location import is_remote, parse_url
from trellis.errors import DestinationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAIN_CATALOG = "spark_catalog"


def request_format(format_: TableFormat, root: str) -> None:
    """Let a session that Trellis starts in local mode have what the tables below a folder need."""
    settings = {f"spark.sql.catalog.{MAIN_CATALOG}": DELTA_FORMAT.catalog} if format_ is DELTA_FORMAT else {}
    request_package(SparkPackage(format_.package, format_.extension, settings))
    request_storage(root)


def request_storage(location: str) -> None:
    """Let a session that Trellis starts in local mode have what opens files there."""
    if is_remote(location) and parse_url(location).store == "s3":
        request_package(SparkPackage(HADOOP_AWS))


def delta_session(root: str) -> SparkSession:
    """A session that reads and writes the Delta tables below a folder.

    Raises DestinationError where the session that runs has no Delta Lake.
    """
    request_format(DELTA_FORMAT, root)
    session = get_session()
    if catalog_class(session, MAIN_CATALOG) != DELTA_FORMAT.catalog:
        raise DestinationError(
            "the Spark session of this process has no Delta Lake, which merges need; start it with "
            f"spark.jars.packages={DELTA_FORMAT.package}, spark.sql.extensions={DELTA_FORMAT.extension} and "
            f"spark.sql.catalog.{MAIN_CATALOG}={DELTA_FORMAT.catalog}; nothing was loaded"
        )
    configure_storage(session, root)
    return session


def catalog_class(session: SparkSession, catalog: str) -> str:
    """The class of a catalog; empty where the session has none of this name."""
    return session.conf.get(f"spark.sql.catalog.{catalog}", "") or ""
