"""Texts in UTF-16 units, as Java counts them (spec pinot.md, section 5)."""

from __future__ import annotations

from array import array
from typing import Final

from trellis.dialects.pinot.expression.take import FunctionError, as_text

LONGEST: Final = 2**24
"""Characters of a text that a function may make."""


def as_units(value: object) -> str:
    """Text in UTF-16 units, one character each."""
    text = as_text(value)
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, array("H", text.encode("utf-16", "surrogatepass")[2:])))


def give_text(units: str) -> str:
    """Text of UTF-16 units; two that are one character are joined."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def cut(text: str, start: int, end: int | None = None) -> str:
    """The part of a text; places below 0 count from the end.

    >>> cut("abc", -2), cut("abc", 1, -1), cut("abc", -9, 2), cut("abc", 2, 1)
    ('bc', 'b', 'ab', '')
    """
    size = len(text)
    start = max(0, start + size if start < 0 else start)
    end = size if end is None else end + size if end < 0 else min(end, size)
    return text[start:end] if start < end else ""


def within(size: int) -> None:
    if size > LONGEST:
        raise FunctionError(f"a text of {size} characters is asked for; {LONGEST} are the most")
