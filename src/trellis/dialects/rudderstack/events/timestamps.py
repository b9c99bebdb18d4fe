"""The timestamps RudderStack recognises in text.

All of them name a day: `2024-02-29`, alone or with a time of day after `T` or one white space. Without a
zone they are UTC. They are read to the millisecond. RudderStack's two engines differ in a few forms: `parse`
follows the one in Go, which transforms all events by now, `parse_legacy` the one in JavaScript before it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from typing import Final

UTC: Final = timezone.utc
LONGEST: Final = 40

ISO_TIME: Final = r"^[12]\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)?$"
"""The pattern of texts that `parse` and `parse_legacy` take for what ISO 8601 says, to the millisecond."""

Parse = Callable[[str], "datetime | None"]

_DAY = r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_HOUR, _MINUTE = r"([01]\d|2[0-3])", r"([0-5]\d)"
_accepted = re.compile(
    rf"{_DAY}(?:[T\s](?:{_HOUR}:{_MINUTE}(?::{_MINUTE}(?:\.(\d+))?)?(?:Z|([+-]){_HOUR}(?::?{_MINUTE})?)?)?)?",
    re.ASCII,
).fullmatch
_strict = re.compile(
    rf"{_DAY}(?: {_HOUR}(?::{_MINUTE}){{2}}(?:\.\d{{6}})?"
    rf"|T{_HOUR}(?::{_MINUTE}){{2}}\.\d{{3}}(?:Z|[+-]{_HOUR}:?{_MINUTE}))?",
    re.ASCII,
).fullmatch
_only_in_go = re.compile(r"T(?:.*[+-]\d\d)?\Z", re.ASCII).match
"""From the `T` on: no time of day, or a zone without minutes."""


def _without_zone(text: str) -> datetime:
    return datetime.fromisoformat(text[:23]).replace(tzinfo=UTC)


# Of `2024-02-29T00:00:00.000Z`; raises ValueError.
_of_iso = datetime.fromisoformat if sys.version_info >= (3, 11) else _without_zone


def parse(text: str) -> datetime | None:
    """The moment in UTC; None where the text is no timestamp. February the 30th is early in March.

    >>> to_text(parse("2024-02-29T10:00:00.123456+0530"))
    '2024-02-29T04:30:00.123Z'
    >>> to_text(parse("2023-02-30 10:00"))
    '2023-03-02T10:00:00.000Z'
    >>> parse("29 Feb 2024")
    """
    if text[4:20:3] == "--T::." and len(text) == 24 and text[23] == "Z" and text[11:13] != "24":
        try:
            return _of_iso(text)
        except ValueError:
            pass
    if text[4:5] != "-" or len(text) > LONGEST:
        return None
    match = _accepted(text)
    return None if match is None else _assemble(match)


def parse_legacy(text: str) -> datetime | None:
    """`parse` by the engine in JavaScript.

    >>> parse_legacy("2024-02-29T10:00z"), parse_legacy("2024-02-29T10:00+05")
    (datetime.datetime(2024, 2, 29, 10, 0, tzinfo=datetime.timezone.utc), None)
    """
    if text[4:5] != "-" or _only_in_go(text, 10):
        return None
    return parse(f"{text[:-1]}Z" if text[-1] == "z" else text)


def parse_strict(text: str) -> datetime | None:
    """`parse` for the six shapes of RudderStack's documentation alone.

    >>> parse_strict("2009-05-19 14:39:22"), parse_strict("2009-05-19T14:39:22Z")
    (datetime.datetime(2009, 5, 19, 14, 39, 22, tzinfo=datetime.timezone.utc), None)
    """
    return parse(text) if text[4:5] == "-" and _strict(text) is not None else None


def in_utc(moment: date) -> datetime | None:
    """A date or a datetime to the millisecond; without a zone it is UTC. None outside the years 1 to 9999."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def to_text(moment: datetime) -> str:
    """
    >>> to_text(datetime(2024, 2, 29, tzinfo=UTC))
    '2024-02-29T00:00:00.000Z'
    """
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _assemble(match: re.Match[str]) -> datetime | None:
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            1,
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int(fraction[:3].ljust(3, "0")) * 1000 if fraction else 0,
            UTC,
        )
        moment += timedelta(int(day) - 1)
        if not sign:
            return moment
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return moment + offset if sign == "-" else moment - offset
    except (ValueError, OverflowError):  # the year 0, or a day that a zone moves out of the calendar
        return None
