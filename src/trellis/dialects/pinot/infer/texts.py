"""Statistics of the texts at one path, and the formats of times in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from json import JSONDecodeError, loads
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import is_sortable, parse_format
from trellis.dialects.pinot.date_time.joda.pattern import Part, parse_pattern
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.date_time.units import FormatError
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


Bounds = tuple[int, int]
"""The earliest and the latest instant, in milliseconds."""

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch
_VALUE: Final = re.compile(r"""\s*(?:(?:-?[0-9][0-9.eE+-]*|true|false|null)(?:\s|$)|["{\[])""").match


class TextStatistics:
    """The greatest length of texts, and the properties that all of them share.

    `times` are the time shapes that match every text, with the bounds. `whole` and `numbers`: all are such
    numbers. `documents`: all are JSON objects or lists. `like_json`: some would be read as other JSON.
    """

    def __init__(self, shapes: Sequence[TimeShape] = TIME_SHAPES) -> None:
        self.longest = 0
        self.nuls = 0
        self.like_json = False
        self.whole = self.numbers = self.documents = True
        self.times: dict[TimeShape, Bounds] = {}
        self._shapes: Sequence[TimeShape] | None = shapes

    def add(self, texts: Sequence[str]) -> None:
        self._measure(texts)
        if "\0" in "".join(texts):
            self.nuls += sum("\0" in text for text in texts)
        self.like_json = self.like_json or any(map(like_json, texts))
        self.whole = self.whole and all(map(_WHOLE, texts))
        self.numbers = self.numbers and all(map(_NUMBER, texts))
        self.documents = self.documents and all(map(is_document, texts))
        fit = self.times if self._shapes is None else self._shapes
        self._shapes = None
        self.times = {
            shape: union_of_bounds(self.times.get(shape), bounds)
            for shape in fit
            if all(map(shape.matches, texts)) and (bounds := _read(shape, texts)) is not None
        }

    def merge(self, other: TextStatistics) -> None:
        """Add the statistics of another."""
        if self._shapes is not None:
            self.times, self._shapes = dict(other.times), None
        self.longest = max(self.longest, other.longest)
        self.nuls += other.nuls
        self.like_json |= other.like_json
        self.whole &= other.whole
        self.numbers &= other.numbers
        self.documents &= other.documents
        self.times = {
            shape: union_of_bounds(known, other.times[shape])
            for shape, known in self.times.items()
            if shape in other.times
        }

    def _measure(self, texts: Sequence[str]) -> None:
        """The longest in UTF-16 units. Few texts are long enough to be measured one by one."""
        if all(map(str.isascii, texts)):
            self.longest = max(self.longest, *map(len, texts))
        elif 2 * max(map(len, texts)) > self.longest:
            longest = max(units(text) for text in texts if 2 * len(text) > self.longest)
            self.longest = max(self.longest, longest)


def units(text: str) -> int:
    """The length of a text as Pinot counts it.

    >>> units("h\\N{GRINNING FACE}")
    3
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_document(text: str) -> bool:
    """Whether a text is a JSON object or list that JSON columns keep: without duplicate keys.

    >>> is_document('{"a": 1}'), is_document("7"), is_document('{"a": 1, "a": 2}')
    (True, False, False)
    """
    if text[:1] not in ("{", "["):
        return False
    try:
        loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (JSONDecodeError, ValueError, RecursionError):
        return False
    return True


def like_json(text: str) -> bool:
    """Whether a JSON column would read a text that is not a document as another JSON value.

    >>> like_json("5 apples"), like_json("1.10"), like_json("apples"), like_json('{"a": 1}')
    (True, True, False, False)
    """
    return _VALUE(text) is not None and not is_document(text)


def bounds_of(millis: Iterable[int]) -> Bounds:
    instants = [*millis]
    return min(instants), max(instants)


def _read(shape: TimeShape, texts: Sequence[str]) -> Bounds | None:
    """The bounds of texts of a shape; None where one of them is not a time."""
    try:
        return bounds_of(map(shape.read, texts))
    except FormatError:
        return None


def union_of_bounds(one: Bounds | None, other: Bounds) -> Bounds:
    """
    >>> union_of_bounds((1, 2), (2, 5)), union_of_bounds(None, (3, 3))
    ((1, 5), (3, 3))
    """
    if one is None:
        return other
    return min(one[0], other[0]), max(one[1], other[1])


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice")
    return members


def _refuse_constant(word: str) -> Any:
    raise ValueError(word)
