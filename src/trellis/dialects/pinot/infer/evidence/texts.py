"""Statistics of the texts at one path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from json import JSONDecodeError, loads
from typing import Any, Final

from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.infer.evidence.time_shapes import TIME_SHAPES, TimeShape

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
