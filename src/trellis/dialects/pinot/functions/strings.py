"""Functions on text and on lists. Lengths and places count UTF-16 units, as Java does.

Functions that return a primitive array are missing: it cannot be stored.
"""

from __future__ import annotations

from array import array
from typing import Final

from trellis.dialects.pinot.functions.registry import (
    FunctionError,
    Theme,
    as_int,
    as_list,
    as_object,
    as_text,
)
from trellis.dialects.pinot.value.numbers import BLANKS

TEXTS: Final = Theme()
LONGEST: Final = 2**24
"""Characters of a text that a function may make."""
_SPACES: Final = " \t\n\x0b\f\r"


def as_units(value: object) -> str:
    """Text in UTF-16 units, one character each."""
    text = as_text(value)
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, array("H", text.encode("utf-16", "surrogatepass")[2:])))


def text_result(units: str) -> str:
    """Text of UTF-16 units; two that are one character are joined."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def slice_units(text: str, start: int, end: int | None = None) -> str:
    """The part of a text; places below 0 count from the end.

    >>> slice_units("abc", -2), slice_units("abc", 1, -1), slice_units("abc", -9, 2), slice_units("abc", 2, 1)
    ('bc', 'b', 'ab', '')
    """
    size = len(text)
    start = max(0, start + size if start < 0 else start)
    end = size if end is None else end + size if end < 0 else min(end, size)
    return text[start:end] if start < end else ""


def _check_size(size: int) -> None:
    if size > LONGEST:
        raise FunctionError(f"a text of {size} characters is too long: {LONGEST} are the most")


TEXTS.function("upper", as_text)(str.upper)
TEXTS.function("lower", as_text)(str.lower)
TEXTS.function("reverse", as_text)(lambda text: text[::-1])
TEXTS.function("trim", as_text)(lambda text: text.strip(BLANKS))


@TEXTS.function("trim", as_text, as_units, as_units, result=text_result)
def _trim_characters(side: str, characters: str, text: str) -> str:
    """The text without some characters at an end; written as trim(BOTH 'x' FROM s), LEADING or TRAILING."""
    text = text.lstrip(characters) if side in ("BOTH", "LEADING") else text
    return text.rstrip(characters) if side in ("BOTH", "TRAILING") else text


TEXTS.function("ltrim", as_text)(lambda text: text.lstrip(_SPACES))
TEXTS.function("rtrim", as_text)(lambda text: text.rstrip(_SPACES))
TEXTS.function("length", as_units)(len)


@TEXTS.function("substr", as_units, as_int, as_int, optional=1, result=text_result)
def _substr(text: str, start: int, end: int = -1) -> str:
    """The part from `start`, counted from 0, up to and without `end`; an end of -1 is that of the text."""
    return slice_units(text, start, None if end == -1 else end)


@TEXTS.function("substring", as_units, as_int, as_int, optional=1, result=text_result)
def _substring(text: str, start: int, count: int | None = None) -> str:
    """The part from `start`, counted from 1, with `count` characters."""
    return slice_units(text, start - 1, None if count is None else start - 1 + count)


TEXTS.function("startsWith", as_text, as_text)(str.startswith)
TEXTS.function("endsWith", as_text, as_text)(str.endswith)
TEXTS.function("contains", as_text, as_text)(lambda text, part: part in text)


@TEXTS.function("strcmp", as_units, as_units)
def _strcmp(left: str, right: str) -> int:
    """0 for equal texts, else the difference of the first units that differ, or of the lengths."""
    for left_unit, right_unit in zip(left, right, strict=False):
        if left_unit != right_unit:
            return ord(left_unit) - ord(right_unit)
    return len(left) - len(right)


@TEXTS.function("replace", as_text, as_text, as_text)
def _replace(text: str, part: str, replacement: str) -> str:
    """The text with every occurrence of a part replaced."""
    _check_size(len(text) + text.count(part) * len(replacement) if part else 0)
    return text.replace(part, replacement) if part else text


TEXTS.function("concat", as_text, as_text, as_text, optional=1)(
    lambda left, right, separator="": f"{left}{separator}{right}"
)


@TEXTS.function("split stringToArray", as_text, as_text, as_int, optional=1)
def parts_of(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts between separators, at most `limit`. Separators in a row count as one; first ones do not.

    >>> parts_of(",a,,b,", ","), parts_of("a,b,c", ",", 2), parts_of("", ",")
    (['a', 'b', ''], ['a', 'b,c'], [])
    """
    parts: list[str] = []
    if not text:
        return parts
    if not separator:
        return text.split(None, limit - 1) if limit > 0 else text.split()
    start = 0
    while (end := text.find(separator, start)) >= 0:
        if end > start:
            if len(parts) + 1 == limit:
                break
            parts.append(text[start:end])
        start = end + len(separator)
    return [*parts, text[start:]]


@TEXTS.function("splitPart", as_text, as_text, as_int, as_int)
def _split_part(text: str, separator: str, limit: int, index: int) -> str:
    """One of at most `limit` parts, counted from 0, or from the end below 0; `null` if it is missing."""
    parts = parts_of(text, separator, limit)
    return parts[index] if -len(parts) <= index < len(parts) else "null"


TEXTS.function("splitPart", as_text, as_text, as_int)(
    lambda text, separator, index: _split_part(text, separator, -1, index)
)


TEXTS.function("arrayLength cardinality", as_list(as_object))(len)


@TEXTS.function("arrayToString", as_list(as_text), as_text, as_text, optional=1)
def _to_string(values: list[str], separator: str, _null: str = "") -> str:
    """The values as one text."""
    return separator.join(values)
