"""What the values at one path have in common, and the types and formats that hold all of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.stored_schema import TIME_FORMATS
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

NUMBERS: Final = frozenset(("int", "integer beyond 64 bits", "float", "decimal"))
_EXACT: Final = 2**53
"""A double holds every whole number up to this one."""
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.%s)?)?(?:Z|[+-][0-9]{2}%s[0-9]{2})?"
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UNITS: Final = frozenset(("s", "sec", "seconds", "ms", "millis", "utc"))
_TIMES: Final = frozenset(
    (
        *("time", "ts", "timestamp", "datetime", "date", "at", "on", "since", "until", "created", "updated"),
        *("modified", "started", "ended", "occurred", "received", "event", "epoch"),
    )
)


def names_time(name: str) -> bool:
    """Whether a name is that of an instant.

    >>> names_time("createdAt"), names_time("ts_ms"), names_time("time_zone_id"), names_time("fare")
    (True, True, False, False)
    """
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1] in _UNITS:
        words.pop()
    return bool(words) and words[-1] in _TIMES


@dataclass(frozen=True)
class TimeFormat:
    """A format of times, with the type and granularity of its column. `shape` is a pattern of its texts."""

    format: str
    data_type: PinotType
    granularity: str
    shape: str = ""

    def is_format_of(self, texts: Iterable[str]) -> bool:
        """Whether all texts follow it; of timestamps without hours and days that roll over."""
        is_timestamp = self.data_type is PinotType.TIMESTAMP
        read = partial(timestamp_millis, strict=True) if is_timestamp else parse_format(self.format).to_millis
        matches = re.compile(self.shape).fullmatch
        try:
            return all(matches(text) and read(text) is not None for text in texts)
        except FormatError:
            return False


TIMESTAMP: Final = TimeFormat(
    TIME_FORMATS["timestamp"][0],
    PinotType.TIMESTAMP,
    TIME_FORMATS["timestamp"][1],
    rf"{_DAY}[T ]{_CLOCK % ('[0-9]{1,3}0{0,6}', ':')}",
)
DATE: Final = TimeFormat(TIME_FORMATS["date"][0], PinotType.STRING, TIME_FORMATS["date"][1], _DAY)
ISO: Final = TimeFormat(
    "SIMPLE_DATE_FORMAT", PinotType.STRING, "1:MILLISECONDS", rf"{_DAY}T{_CLOCK % ('[0-9]{1,9}', ':?')}"
)
"""This one keeps what is finer than a millisecond."""
EPOCHS: Final = tuple(
    TimeFormat(f"EPOCH|{unit}", PinotType.LONG, f"1:{unit}") for unit in ("SECONDS", "MILLISECONDS")
)


@dataclass
class PathValues:
    """The range of whole numbers, the formats that all texts follow, and the length of the longest one: at
    least that in UTF-16 units.
    """

    formats: tuple[TimeFormat, ...] = (TIMESTAMP, DATE, ISO)
    least: int = LONG_MAX
    most: int = LONG_MIN
    longest: int = 0

    def add(self, kind: str, values: Sequence[Any]) -> None:
        """Add values of one kind."""
        if kind == "int":
            self.least, self.most = min(self.least, *values), max(self.most, *values)
        elif kind == "string":
            texts = [*map(str, values)]
            self.longest = max(self.longest, *(len(text) * (1 if text.isascii() else 2) for text in texts))
            self.formats = tuple(form for form in self.formats if form.is_format_of(texts))

    def epoch(self) -> TimeFormat | None:
        """The unit in which all whole numbers are times from 1971 to 2071."""
        for form in EPOCHS:
            read = parse_format(form.format).to_millis
            if read(self.least) >= VALID_MIN_MILLIS and read(self.most) <= VALID_MAX_MILLIS:
                return form
        return None


def type_of(kinds: Collection[str], several: Sequence[PathValues]) -> tuple[PinotType, str] | None:
    """The type that holds all scalars of these kinds, and what they are; None where Pinot has none.

    `several` are the paths that hold them: a list and single values may share a column.

    >>> type_of({"int"}, [PathValues(least=0, most=2**40)]), type_of({"time"}, [])
    ((<PinotType.LONG: 'LONG'>, 'whole numbers'), None)
    """
    if "time" in kinds:
        return None
    if len(kinds) > 1 and not NUMBERS.issuperset(kinds):
        return PinotType.STRING, f"{listed(kinds)} are mixed"
    if len(kinds) == 1 and "int" not in kinds:
        return _TYPES[next(iter(kinds))]
    least, most = min(values.least for values in several), max(values.most for values in several)
    if len(kinds) == 1:
        return PinotType.INT if least >= INT_MIN and most <= INT_MAX else PinotType.LONG, listed(kinds)
    is_exact = {*kinds} == {"int", "float"} and least >= -_EXACT and most <= _EXACT
    return PinotType.DOUBLE if is_exact else PinotType.BIG_DECIMAL, listed(kinds)


def listed(kinds: Collection[str]) -> str:
    """
    >>> listed({"int", "string", "array"})
    'lists, text and whole numbers'
    """
    names = sorted(_TYPES[kind][1] if kind in _TYPES else kind for kind in kinds)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


_TYPES: Final = {
    "bool": (PinotType.BOOLEAN, "booleans"),
    "int": (PinotType.LONG, "whole numbers"),
    "integer beyond 64 bits": (PinotType.BIG_DECIMAL, "numbers beyond LONG"),
    "float": (PinotType.DOUBLE, "fractions"),
    "decimal": (PinotType.BIG_DECIMAL, "decimals"),
    "string": (PinotType.STRING, "text"),
    "timestamp": (PinotType.TIMESTAMP, "timestamps"),
    "date": (PinotType.STRING, "dates"),
    "binary": (PinotType.BYTES, "bytes"),
    "array": (PinotType.JSON, "lists"),
    "object": (PinotType.JSON, "objects"),
}
