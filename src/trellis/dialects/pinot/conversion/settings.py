"""Settings of the conversion of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Settings:
    """Options of the user that concern values.

    `strict`: what Pinot changes without an error is refused with `LossyConversion`, not counted.
    `session_zone`: the zone (an IANA id) of a timestamp text that names none, and of the text of a timestamp.
    `extended`: dates and UUIDs are read, as Pinot does after 1.5.
    `pinot_jars`: Pinot's own classes compute the expressions that are not implemented here.
    """

    strict: bool = False
    session_zone: str = "UTC"
    extended: bool = False
    pinot_jars: bool = False


PINOT_DEFAULTS: Final = Settings()
"""What Pinot does without further settings."""
