"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration
from trellis.errors import UsageError

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "spark:CATALOG.SCHEMA"


def _open(url: str) -> Destination:
    """The tables of a schema in a catalog of the session; the types are those that every format has."""
    import os
    from dataclasses import replace

    from trellis.destinations.folder import staging_root
    from trellis.destinations.lake.destination import Lake
    from trellis.destinations.lake.formats import ICEBERG_FORMAT
    from trellis.destinations.spark.store import SparkStore
    from trellis.engine.spark.session import get_session
    from trellis.engine.staging.stage import folder_name

    catalog, dot, schema = url.partition(":")[2].partition(".")
    if not (catalog and dot and schema):
        raise UsageError(f"{url!r} names no schema of a catalog; write {URL_FORM}")
    iceberg = ICEBERG_FORMAT.warehouse
    # Spark has no statement that makes a column NOT NULL.
    warehouse = replace(iceberg, syntax=replace(iceberg.syntax, set_not_null=""))
    store = SparkStore(catalog, f"{catalog}.{schema}", warehouse, get_session)
    folder = os.path.join(staging_root(), folder_name(f"spark {catalog}"))
    return Lake(url, store, (folder, None), schema)


registration = Registration(open=_open, url_form=URL_FORM)
