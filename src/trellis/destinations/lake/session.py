"""What a Spark session needs for the tables of a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.lake.formats import DELTA_FORMAT, TableFormat
from trellis.engine.input.source_format import EXTENSIONS
from trellis.engine.spark.packages import (
    SparkPackage,
    request_package,
    request_storage,
    why_missing,
)
from trellis.engine.spark.session import get_session, started_here
from trellis.engine.spark.storage import configure_storage
from trellis.errors import DestinationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAIN_CATALOG = "spark_catalog"
_DELTA_SETTINGS = {
    f"spark.sql.catalog.{MAIN_CATALOG}": DELTA_FORMAT.catalog,
    "spark.databricks.delta.snapshotPartitions": "4",  # of 50, a small table takes seconds to be looked at
}


def request_format(format_: TableFormat, root: str) -> None:
    """Let a session that Trellis starts in local mode have what the tables below a folder need."""
    settings = _DELTA_SETTINGS if format_ is DELTA_FORMAT else {}
    request_package(SparkPackage(format_.package, {EXTENSIONS: format_.extension, **settings}))
    request_storage(root)


def delta_session(root: str) -> SparkSession:
    """A session that reads and writes the Delta tables below a folder.

    Raises DestinationError where the session that runs has no Delta Lake.
    """
    request_format(DELTA_FORMAT, root)
    session = get_session()
    if catalog_class(session, MAIN_CATALOG) != DELTA_FORMAT.catalog:
        catalog = f"spark.sql.catalog.{MAIN_CATALOG}={DELTA_FORMAT.catalog}"
        raise missing_format(session, DELTA_FORMAT, catalog)
    configure_storage(session, root)
    return session


def missing_format(session: SparkSession, format_: TableFormat, *settings: str) -> DestinationError:
    """The session that runs lacks a format, which needs these settings besides its package and extension."""
    title, why = format_.warehouse.title, why_missing(format_.package)
    if started_here(session) and not why:
        return DestinationError(
            f"the Spark session of this process began before a pipeline asked for {title}, which merges "
            "need; open all pipelines before the first of them loads; nothing was loaded"
        )
    package, extension = f"spark.jars.packages={format_.package}", f"spark.sql.extensions={format_.extension}"
    *needed, last = package, extension, *settings
    return DestinationError(
        f"the Spark session of this process has no {title}, which merges need{why}; start it with "
        f"{', '.join(needed)} and {last}; nothing was loaded"
    )


def catalog_class(session: SparkSession, catalog: str) -> str:
    """The class of a catalog; empty where the session has none of this name."""
    return session.conf.get(f"spark.sql.catalog.{catalog}", "") or ""
