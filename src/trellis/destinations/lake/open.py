"""Opens the destinations of a lake by what their URLs name."""

from __future__ import annotations

import os
from functools import partial

from trellis.destinations.folder import staging_root
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.destination import Lake
from trellis.destinations.lake.formats import DELTA_FORMAT, ICEBERG_FORMAT
from trellis.destinations.lake.session import format_of, iceberg_catalog, iceberg_session, request_format
from trellis.destinations.lake.spark_store import SparkStore
from trellis.engine.spark.session import get_session
from trellis.engine.staging.stage import folder_name

_STAGING = os.path.join("_trellis", "staging")


def open_delta(url: str, path: str) -> Lake:
    """The Delta tables below a folder."""
    request_format(DELTA_FORMAT)
    staging = os.path.join(path, _STAGING)
    return Lake(url, DeltaStore(path), staging, default_dataset="", grows_structs=True)


def open_iceberg(url: str, path: str) -> Lake:
    """The Iceberg tables of a warehouse: a folder with one folder for each dataset."""
    request_format(ICEBERG_FORMAT)
    location = os.path.abspath(path)
    catalog = iceberg_catalog(location)
    store = SparkStore(
        catalog,
        path,
        ICEBERG_FORMAT.warehouse,
        partial(iceberg_session, catalog, location),
        lambda _: ICEBERG_FORMAT,
    )
    return Lake(url, store, os.path.join(path, _STAGING), default_dataset="main")


def open_catalog(url: str, catalog: str, schema: str) -> Lake:
    """The tables of a schema in a catalog of the session; the types are those that every format has."""
    store = SparkStore(
        catalog,
        f"{catalog}.{schema}",
        ICEBERG_FORMAT.warehouse,
        get_session,
        partial(format_of, catalog=catalog),
    )
    return Lake(url, store, os.path.join(staging_root(), folder_name(f"spark {catalog}")), schema)
