"""Detectors: what a value is beyond its Python type, where a schema's settings ask for it.

The names are those in `settings.detections`. No two of them recognise the same value, so their order does
not matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from trellis.errors import SchemaError, nearest
from trellis.evolution.scalars.iso import is_timestamp, parse_date
from trellis.evolution.scalars.values import BIGINT_MAX, WEI_LIMIT, HexBytes, Wei
from trellis.schema.model import DataType


@dataclass(frozen=True)
class Detecting:
    """How far from now, in seconds, the `timestamp` detector looks; `now` is fixed to repeat a run."""

    window: float = 365 * 86_400.0
    now: float | None = None


DEFAULT = Detecting()


def timestamp(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    """Seconds since 1970 within the window around now."""
    if type(value) is not int and type(value) is not float:
        return None
    now = time.time() if using.now is None else using.now
    return "timestamp" if now - using.window <= value <= now + using.window else None


def iso_timestamp(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    """Text with a date and a time of day."""
    return "timestamp" if isinstance(value, str) and is_timestamp(value) else None


def iso_date(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    """Text with a date alone."""
    return "date" if isinstance(value, str) and parse_date(value) is not None else None


def large_integer(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    """An integer beyond 64 bits is wei, and text beyond the 38 digits a wei column holds."""
    if not isinstance(value, int) or value <= BIGINT_MAX:
        return None
    return "wei" if value < WEI_LIMIT else "text"


def hexbytes_to_text(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    return "text" if isinstance(value, HexBytes) else None


def wei_to_double(value: Any, using: Detecting = DEFAULT) -> DataType | None:
    return "double" if isinstance(value, Wei) else None


Detector = Callable[[Any, Detecting], "DataType | None"]
DETECTORS: dict[str, Detector] = {
    detector.__name__: detector
    for detector in (timestamp, iso_timestamp, iso_date, large_integer, hexbytes_to_text, wei_to_double)
}


def detect(value: Any, detections: Iterable[str], using: Detecting = DEFAULT) -> DataType | None:
    """What the first detector that recognises the value calls it, or None.

    >>> detect("2024-05-06T07:08Z", ("iso_timestamp",)), detect("2024-05-06", ("iso_timestamp",))
    ('timestamp', None)
    """
    for name in detections:
        data_type = detector(name)(value, using)
        if data_type is not None:
            return data_type
    return None


def detector(name: str) -> Detector:
    """The detector of that name; a SchemaError if there is none."""
    try:
        return DETECTORS[name]
    except KeyError:
        raise SchemaError(
            f"settings.detections: there is no detector {name!r}{nearest(name, DETECTORS)}"
        ) from None
