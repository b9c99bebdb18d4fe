"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "iceberg:PATH"


def _open(url: str) -> Destination:
    from trellis.destinations.lake.open import open_iceberg
    from trellis.destinations.url import path_of

    return open_iceberg(url, path_of(url, URL_FORM))


registration = Registration(open=_open, url_form=URL_FORM)
