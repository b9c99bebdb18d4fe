"""Functions on text, lists and bytes. Lengths and places count UTF-16 units, as Java does.

Text that is given for bytes is hexadecimal.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from functools import lru_cache, partial
from typing import Final

from trellis.dialects.pinot.functions.registry import (
    Function,
    as_bytes,
    as_int,
    as_list,
    as_text,
)
from trellis.dialects.pinot.value.numbers import BLANKS

_SPACES: Final = " \t\n\x0b\f\r"
_DIGESTS: Final = {"md5": "md5", "sha": "sha1", "sha256": "sha256", "sha512": "sha512"}


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


def _trim_characters(side: str, characters: str, text: str) -> str:
    """The text without some characters at an end; written as trim(BOTH 'x' FROM s), LEADING or TRAILING."""
    text = text.lstrip(characters) if side in ("BOTH", "LEADING") else text
    return text.rstrip(characters) if side in ("BOTH", "TRAILING") else text


def _substr(text: str, start: int, end: int = -1) -> str:
    """The part from `start`, counted from 0, up to and without `end`; an end of -1 is that of the text."""
    return slice_units(text, start, None if end == -1 else end)


def _substring(text: str, start: int, count: int | None = None) -> str:
    """The part from `start`, counted from 1, with `count` characters."""
    return slice_units(text, start - 1, None if count is None else start - 1 + count)


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


def _like(text: str, pattern: str) -> bool:
    """Whether the whole text matches: % stands for any text, _ for any character. Case does not count."""
    return _compile_like(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile_like(pattern: str) -> re.Pattern[str]:
    pieces = re.findall(r"\\[%_]|.", pattern, re.DOTALL)
    wildcards = {"%": ".*", "_": "."}
    python = "".join(wildcards.get(piece) or re.escape(piece[-1]) for piece in pieces)
    return re.compile(python, re.IGNORECASE | re.ASCII | re.DOTALL)


def _digest(algorithm: str, data: bytes) -> str:
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


FUNCTIONS: Final[tuple[Function, ...]] = (
    Function("upper", str.upper, as_text),
    Function("lower", str.lower, as_text),
    Function("trim", lambda text: text.strip(BLANKS), as_text),
    Function("trim", _trim_characters, as_text, as_units, as_units, result=text_result),
    Function("ltrim", lambda text: text.lstrip(_SPACES), as_text),
    Function("rtrim", lambda text: text.rstrip(_SPACES), as_text),
    Function("length", len, as_units),
    Function("substr", _substr, as_units, as_int, as_int, optional=1, result=text_result),
    Function("substring", _substring, as_units, as_int, as_int, optional=1, result=text_result),
    Function("startsWith", str.startswith, as_text, as_text),
    Function("endsWith", str.endswith, as_text, as_text),
    Function("contains", lambda text, part: part in text, as_text, as_text),
    Function("like", _like, as_text, as_text),
    Function(
        "replace",
        lambda text, part, other: text.replace(part, other) if part else text,
        as_text,
        as_text,
        as_text,
    ),
    Function(
        "concat",
        lambda left, right, separator="": f"{left}{separator}{right}",
        as_text,
        as_text,
        as_text,
        optional=1,
    ),
    Function("split stringToArray", parts_of, as_text, as_text, as_int, optional=1),
    Function("arrayLength cardinality", len, as_list),
    Function("toUtf8", lambda text: text.encode("utf-8", "replace"), as_text),
    Function("fromUtf8", lambda data: data.decode("utf-8", "replace"), as_bytes),
    Function("hexToBytes", as_bytes, as_text),
    Function("bytesToHex", bytes.hex, as_bytes),
    *(Function(name, partial(_digest, algorithm), as_bytes) for name, algorithm in _DIGESTS.items()),
)
