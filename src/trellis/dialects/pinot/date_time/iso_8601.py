"""ISO 8601 as a format without a pattern reads and writes it."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import HOUR, LONG_MAX, LONG_MIN, MINUTE, SECOND
from trellis.dialects.pinot.date_time.joda.fields import (
    MILLIS_OF_HOUR,
    MILLIS_OF_MINUTE,
    RULES,
    FieldRule,
    local_time_of_fields,
)
from trellis.dialects.pinot.date_time.joda.reader import OFFSET, fraction_millis, offset_millis
from trellis.dialects.pinot.date_time.joda.writer import write
from trellis.dialects.pinot.date_time.units import FormatError

_ISO: Final = re.compile(
    r"(?:"
    r"(?P<y>[+-]?[0-9]{1,9})(?:-(?P<M>[0-9]{1,2})(?:-(?P<d>[0-9]{1,2}))?)?"
    r"|(?P<x>[+-]?[0-9]{1,9})-[Ww](?P<w>[0-9]{1,2})(?:-(?P<e>[0-9]))?"
    r"|(?P<Y>[+-]?[0-9]{1,9})-(?P<D>[0-9]{1,3})"
    r")(?:[Tt](?:(?P<H>[0-9]{1,2})(?:"
    r":(?P<m>[0-9]{1,2})(?::(?P<s>[0-9]{1,2})(?:[.,](?P<S>[0-9]{1,9}))?|[.,](?P<of_minute>[0-9]{1,9}))?"
    r"|[.,](?P<of_hour>[0-9]{1,9}))?)?"
    rf"(?P<offset>{OFFSET})?)?"
)
_FRACTIONS: Final = {
    "S": (RULES["S"], SECOND),
    "of_minute": (MILLIS_OF_MINUTE, MINUTE),
    "of_hour": (MILLIS_OF_HOUR, HOUR),
}


def read_iso(text: str) -> int:
    """The instant of an ISO text in milliseconds since 1970-01-01 UTC. Raises FormatError.

    A date (`2023`, `2023-11`, `2023-11-14`, `2023-W46-2`, `2023-318`), then perhaps `T` with a time, whose
    last part may have a fraction, and an offset. Without an offset it is UTC.

    >>> read_iso("2023-11-14T22.5"), read_iso("2023-W46-2")
    (1700001000000, 1699920000000)
    """
    match = _ISO.fullmatch(text)
    if match is None:
        raise FormatError(
            f"Cannot read {text!r} as ISO 8601: expected a date as 2023-11-14, perhaps T, a time, an offset"
        )
    groups = match.groupdict()
    offset = groups.pop("offset")
    try:
        local = local_time_of_fields(
            _value(name, digits) for name, digits in groups.items() if digits is not None
        )
    except FormatError as error:
        raise FormatError(f"Cannot read {text!r} as ISO 8601: {error}") from None
    millis = local if offset is None else local - offset_millis(offset)
    if not LONG_MIN <= millis <= LONG_MAX:
        raise FormatError(f"Cannot read {text!r}: the instant does not fit into 64 bits of milliseconds")
    return millis


def write_iso(millis: int) -> str:
    """`2023-11-14T22:13:20Z` of an instant; milliseconds are left out."""
    return write("yyyy-MM-dd'T'HH:mm:ss'Z'", millis, "UTC")


def _value(name: str, digits: str) -> tuple[FieldRule, int]:
    if name in _FRACTIONS:
        rule, unit = _FRACTIONS[name]
        return rule, fraction_millis(digits, unit)
    return RULES["y" if name == "Y" else name], int(digits)
