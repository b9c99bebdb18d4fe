"""The formats of times in texts, and the column that each becomes in Pinot."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from trellis.dialects.pinot.date_time.format import is_sortable, parse_format
from trellis.dialects.pinot.date_time.joda.pattern import Part, parse_pattern
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


def parse_shape(choice: str) -> TimeShape:
    """The shape of a format that a user chose: one of Pinot, or only a pattern. Raises FormatError.

    >>> parse_shape("dd.MM.yyyy").sorted, parse_shape("EPOCH|SECONDS").data_type.value
    (False, 'LONG')
    """
    pinot = choice.startswith(("EPOCH", "TIMESTAMP", "SIMPLE_DATE_FORMAT")) or _COLONS.match(choice)
    text = choice if pinot else f"SIMPLE_DATE_FORMAT|{choice}"
    form = parse_format(text)
    steps = (("S", "MILLISECONDS"), ("s", "SECONDS"), ("m", "MINUTES"), ("H", "HOURS"), ("h", "HOURS"))
    finest = next((unit for letter, unit in steps if letter in (form.pattern or "S")), "DAYS")
    return TimeShape(
        form.pattern or text,
        lambda _: True,
        form.to_millis,
        _OF_KIND.get(form.kind, PinotType.STRING),
        text,
        f"1:{form.unit if form.kind == 'EPOCH' else finest}",
        sorted=form.pattern is None or is_sortable(form.pattern),
    )


_COLONS: Final = re.compile(r"[0-9]+:[A-Z]+:")
_OF_KIND: Final = {"EPOCH": PinotType.LONG, "TIMESTAMP": PinotType.TIMESTAMP}


def _shape(pattern: str, named: bool = False) -> TimeShape:
    """The shape of texts that have as many digits and letters as their pattern."""
    matches = re.compile("".join(map(_matching, parse_pattern(pattern)))).fullmatch
    return replace(parse_shape(pattern), matches=matches, named=named)


def _matching(part: Part) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if part.numeric:
        return f"[0-9]{{{part.width}}}"
    return "[+-][0-9]{4}" if part.letter == "Z" else "[A-Z][a-z]{2}"


def _stamp(name: str, matching: str, granularity: str) -> TimeShape:
    read = partial(timestamp_millis, strict=True)
    matches = re.compile(matching).fullmatch
    return TimeShape(name, matches, read, PinotType.TIMESTAMP, "TIMESTAMP", granularity)


def _epoch(unit: str, digits: int) -> TimeShape:
    matches = re.compile(rf"[1-9][0-9]{{{digits - 2},{digits - 1}}}").fullmatch
    shape = parse_shape(f"EPOCH|{unit}")
    return replace(shape, name=f"{unit.lower()} since 1970", matches=matches, named=True)


_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_ISO_TIME: Final = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"

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
    replace(
        parse_shape("SIMPLE_DATE_FORMAT"),
        name="ISO 8601",
        matches=re.compile(f"{_DAY}T{_ISO_TIME}").fullmatch,
    ),
    *map(
        _shape,
        (
            *("yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyy-MM-dd", "yyyy/MM/dd", "yyyy/MM/dd HH:mm:ss"),
            *("yyyy-MM-dd HH:mm", "yyyyMMdd'T'HHmmss'Z'"),
        ),
    ),
    *(_shape(pattern, named=True) for pattern in ("yyyyMMddHHmmss", "yyyyMMddHH", "yyyyMMdd", "yyyy-MM")),
    _epoch("SECONDS", 10),
    _epoch("MILLISECONDS", 13),
    _epoch("MICROSECONDS", 16),
    _epoch("NANOSECONDS", 19),
    *(
        _shape(day + clock)
        for day in ("MM/dd/yyyy", "dd/MM/yyyy", "dd.MM.yyyy", "MM-dd-yyyy", "dd-MM-yyyy")
        for clock in ("", " HH:mm", " HH:mm:ss")
    ),
    _shape("EEE MMM dd HH:mm:ss Z yyyy"),
)
"""All formats that are detected, the most specific first."""
