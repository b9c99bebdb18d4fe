"""Settings of the conversion of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Settings:
    """What the user may choose about values.

    `strict`: what Pinot damages in silence is refused with `Damaged` instead of done and counted.
    `session_zone`: the zone (an IANA id) of a timestamp text that names none, and of the text of a timestamp.
    `extended`: dates and UUIDs are read, as Pinot does after 1.5.
    """

    strict: bool = False
    session_zone: str = "UTC"
    extended: bool = False


PARITY: Final = Settings()
"""As Pinot does it out of the box."""
