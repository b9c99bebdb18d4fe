"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration
from trellis.errors import UsageError

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "spark:CATALOG.SCHEMA"


def _open(url: str) -> Destination:
    from trellis.destinations.lake.open import open_catalog

    catalog, dot, schema = url.partition(":")[2].partition(".")
    if not (catalog and dot and schema):
        raise UsageError(f"{url!r} names no schema of a catalog; write {URL_FORM}")
    return open_catalog(url, catalog, schema)


registration = Registration(open=_open, url_form=URL_FORM)
