"""Spans of time, sizes of data and time units as table configs write them."""

from __future__ import annotations

import re
from typing import Final

UNITS: Final = (
    "NANOSECONDS",
    "MICROSECONDS",
    "MILLISECONDS",
    "SECONDS",
    "MINUTES",
    "HOURS",
    "DAYS",
)
_PERIOD: Final = re.compile(r"(?=.)(?:(-?\d+)d)?(?:(-?\d+)h)?(?:(-?\d+)m)?(?:(-?\d+)s)?", re.IGNORECASE)
_DATA_SIZE: Final = re.compile(r"\d+(\.\d+)?[KMGTP]?B?", re.IGNORECASE)
_SECONDS: Final = (86_400, 3_600, 60, 1)


def period_millis(text: str) -> int | None:
    """The length of a period such as `30d` or `4h30m`; None for any other text.

    >>> period_millis("4h30m"), period_millis("soon")
    (16200000, None)
    """
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    return 1000 * sum(int(count or 0) * size for count, size in zip(match.groups(), _SECONDS, strict=True))


def is_data_size(text: str) -> bool:
    """Whether a text is a size such as `200M` or `1.5GB`."""
    return _DATA_SIZE.fullmatch(text) is not None
