"""What the folder of this destination brings, for the registry of destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.registration import Registration

if TYPE_CHECKING:
    from trellis.destinations.base import Destination


def _open(url: str) -> Destination:
    from trellis.destinations.postgres.destination import Postgres

    return Postgres(url)


registration = Registration(
    open=_open, url_form="postgresql://USER@HOST/DATABASE", other_schemes=("postgresql",)
)
