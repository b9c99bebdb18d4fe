"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "iceberg:PATH"


def _open(url: str) -> Destination:
    """The Iceberg tables of a warehouse: a folder with one folder for each dataset."""
    from trellis.destinations.iceberg.store import IcebergStore
    from trellis.destinations.lake.destination import Lake
    from trellis.destinations.lake.files import staging_folders
    from trellis.destinations.refusals import require_package
    from trellis.destinations.url import location_of
    from trellis.engine.storage.location import spark_location

    require_package("pyiceberg", "Iceberg tables")
    root = location_of(url, URL_FORM)
    return Lake(url, IcebergStore(spark_location(root)), staging_folders(root), default_dataset="main")


def _request_packages(url: str) -> None:
    from trellis.destinations.lake.formats import ICEBERG_FORMAT
    from trellis.destinations.lake.session import request_format
    from trellis.destinations.url import location_of

    request_format(ICEBERG_FORMAT, location_of(url, URL_FORM))


registration = Registration(open=_open, url_form=URL_FORM, request_packages=_request_packages)
