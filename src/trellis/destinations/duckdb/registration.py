"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

URL_FORM = "duckdb:PATH"


def _open(url: str) -> Destination:
    from trellis.destinations.duckdb.destination import DuckDB
    from trellis.destinations.url import path_of

    return DuckDB(path_of(url, URL_FORM))


registration = Registration(open=_open, url_form=URL_FORM)
