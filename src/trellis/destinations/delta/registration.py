"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "delta:PATH"


def _open(url: str) -> Destination:
    """The Delta tables below a folder."""
    from trellis.destinations.lake.delta import DeltaStore
    from trellis.destinations.lake.destination import Lake
    from trellis.destinations.lake.files import staging_folders
    from trellis.destinations.lake.object_store import storage_options
    from trellis.destinations.refusals import require_package
    from trellis.destinations.url import location_of

    require_package("deltalake", "Delta tables")
    root = location_of(url, URL_FORM)
    storage_options(root)  # refuses a store that deltalake does not open
    return Lake(url, DeltaStore(root), staging_folders(root), default_dataset="", grows_structs=True)


def _request_packages(url: str) -> None:
    from trellis.destinations.lake.formats import DELTA_FORMAT
    from trellis.destinations.lake.session import request_format
    from trellis.destinations.url import location_of

    request_format(DELTA_FORMAT, location_of(url, URL_FORM))


registration = Registration(open=_open, url_form=URL_FORM, request_packages=_request_packages)
