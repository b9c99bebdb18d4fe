"""The formats of times in texts, and the column that each becomes in Pinot."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from trellis.dialects.pinot.date_time.format import is_sortable, parse_format
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.document.types import PinotType


@dataclass(frozen=True)
class TimeShape:
    """One format. `named`: digits alone are ambiguous, so the column's name has to suggest a time too.

    `read` returns the instant of a text in milliseconds and raises FormatError. With `sorted` false the texts
    do not sort as their instants do, which Pinot refuses: another column is computed from such a column.
    """

    name: str
    matches: Callable[[str], object]
    read: Callable[[str], int]
    data_type: PinotType
    format: str
    granularity: str
    named: bool = False
    sorted: bool = True


def _shape(
    pattern: str, matching: str, granularity: str, named: bool = False, sorted: bool = True
) -> TimeShape:
    text = f"SIMPLE_DATE_FORMAT|{pattern}"
    read = parse_format(text).to_millis
    return TimeShape(
        pattern, re.compile(matching).fullmatch, read, PinotType.STRING, text, granularity, named, sorted
    )


def _stamp(name: str, matching: str, granularity: str) -> TimeShape:
    read = partial(timestamp_millis, strict=True)
    return TimeShape(
        name, re.compile(matching).fullmatch, read, PinotType.TIMESTAMP, "TIMESTAMP", granularity
    )


def _epoch(unit: str, digits: int) -> TimeShape:
    text = f"EPOCH|{unit}"
    matching = re.compile(rf"[1-9][0-9]{{{digits - 2},{digits - 1}}}").fullmatch
    return TimeShape(
        _UNITS[unit], matching, parse_format(text).to_millis, PinotType.LONG, text, f"1:{unit}", named=True
    )


_UNITS: Final = {
    "SECONDS": "seconds since 1970",
    "MILLISECONDS": "milliseconds since 1970",
    "MICROSECONDS": "microseconds since 1970",
    "NANOSECONDS": "nanoseconds since 1970",
    "DAYS": "days since 1970",
}

_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_ISO: Final = TimeShape(
    "ISO 8601",
    re.compile(rf"{_DAY}T[0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,9}})?)?(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?").fullmatch,
    parse_format("SIMPLE_DATE_FORMAT").to_millis,
    PinotType.STRING,
    "SIMPLE_DATE_FORMAT",
    "1:MILLISECONDS",
)  # fmt: skip

TIME_SHAPES: Final = (
    _stamp("yyyy-MM-dd HH:mm:ss", rf"{_DAY} {_CLOCK}", "1:SECONDS"),
    _stamp("yyyy-MM-dd HH:mm:ss.SSS", rf"{_DAY} {_CLOCK}(?:\.[0-9]{{1,3}}0*)?", "1:MILLISECONDS"),
    _stamp("ISO 8601 to the second", rf"{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})?", "1:SECONDS"),
    _stamp(
        "ISO 8601",
        rf"{_DAY}[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,3}}0{{0,6}})?)?"
        r"(?:Z|[+-][0-9]{2}:[0-9]{2})?",
        "1:MILLISECONDS",
    ),
    _ISO,
    _shape("yyyy-MM-dd HH:mm:ss.SSSSSS", rf"{_DAY} {_CLOCK}\.[0-9]{{6}}", "1:MILLISECONDS"),
    _shape("yyyy-MM-dd", _DAY, "1:DAYS"),
    _shape("yyyy/MM/dd", r"[0-9]{4}/[0-9]{2}/[0-9]{2}", "1:DAYS"),
    _shape("yyyy/MM/dd HH:mm:ss", rf"[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}} {_CLOCK}", "1:SECONDS"),
    _shape("yyyy-MM-dd HH:mm", rf"{_DAY} [0-9]{{2}}:[0-9]{{2}}", "1:MINUTES"),
    _shape("yyyyMMdd'T'HHmmss'Z'", r"[0-9]{8}T[0-9]{6}Z", "1:SECONDS"),
    _shape("yyyyMMddHHmmss", r"[12][0-9]{13}", "1:SECONDS", named=True),
    _shape("yyyyMMddHH", r"[12][0-9]{9}", "1:HOURS", named=True),
    _shape("yyyyMMdd", r"[12][0-9]{7}", "1:DAYS", named=True),
    _shape("yyyy-MM", r"[12][0-9]{3}-[0-9]{2}", "1:DAYS", named=True),
    _epoch("SECONDS", 10),
    _epoch("MILLISECONDS", 13),
    _epoch("MICROSECONDS", 16),
    _epoch("NANOSECONDS", 19),
    *(
        _shape(f"{pattern}{clock}", matching + clocks, granularity, sorted=False)
        for pattern, matching in (
            ("MM/dd/yyyy", r"[0-9]{2}/[0-9]{2}/[0-9]{4}"),
            ("dd/MM/yyyy", r"[0-9]{2}/[0-9]{2}/[0-9]{4}"),
            ("dd.MM.yyyy", r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}"),
            ("MM-dd-yyyy", r"[0-9]{2}-[0-9]{2}-[0-9]{4}"),
            ("dd-MM-yyyy", r"[0-9]{2}-[0-9]{2}-[0-9]{4}"),
        )
        for clock, clocks, granularity in (
            ("", "", "1:DAYS"),
            (" HH:mm", " [0-9]{2}:[0-9]{2}", "1:MINUTES"),
            (" HH:mm:ss", f" {_CLOCK}", "1:SECONDS"),
        )
    ),
    _shape(
        "EEE MMM dd HH:mm:ss Z yyyy",
        rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [0-9]{{2}} {_CLOCK} [+-][0-9]{{4}} [0-9]{{4}}",
        "1:SECONDS",
        sorted=False,
    ),
)
"""All formats that are detected, the most specific first."""


def parse_shape(choice: str) -> TimeShape:
    """The shape of a format that a user chose: one of Pinot, or only a pattern. Raises FormatError.

    >>> parse_shape("dd.MM.yyyy").sorted, parse_shape("EPOCH|SECONDS").data_type.value
    (False, 'LONG')
    """
    pinot = (
        choice.startswith(("EPOCH", "TIMESTAMP", "SIMPLE_DATE_FORMAT")) or _COLONS.match(choice) is not None
    )
    text = choice if pinot else f"SIMPLE_DATE_FORMAT|{choice}"
    form = parse_format(text)
    data_type = _OF_KIND.get(form.kind, PinotType.STRING)
    steps = (("S", "MILLISECONDS"), ("s", "SECONDS"), ("m", "MINUTES"), ("H", "HOURS"), ("h", "HOURS"))
    finest = next((unit for letter, unit in steps if letter in (form.pattern or "S")), "DAYS")
    in_time = form.pattern is None or is_sortable(form.pattern)
    granularity = f"1:{form.unit if form.kind == 'EPOCH' else finest}"
    return TimeShape(
        form.pattern or text, _matches_anything, form.to_millis, data_type, text, granularity, sorted=in_time
    )


def _matches_anything(text: str) -> bool:
    return True


_COLONS: Final = re.compile(r"[0-9]+:[A-Z]+:")
_OF_KIND: Final = {"EPOCH": PinotType.LONG, "TIMESTAMP": PinotType.TIMESTAMP}
