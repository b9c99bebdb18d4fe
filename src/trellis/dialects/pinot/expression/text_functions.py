"""Functions on text. Lengths and places count UTF-16 units, as Java does (spec pinot.md, section 5)."""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_int, as_text
from trellis.dialects.pinot.expression.utf16 import as_units, cut, give_text
from trellis.dialects.pinot.value.numerals import BLANKS

TEXT: Final = Theme()
_FORMS: Final[tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...]] = ("NFC", "NFD", "NFKC", "NFKD")
_SPACES: Final = " \t\n\x0b\f\r"


@TEXT.function("upper", as_text)
def _upper(text: str) -> str:
    """The text in upper case."""
    return text.upper()


@TEXT.function("lower", as_text)
def _lower(text: str) -> str:
    """The text in lower case."""
    return text.lower()


@TEXT.function("initcap", as_text)
def _initcap(text: str) -> str:
    """Each word, as blanks divide them, with an upper-case first letter and the others in lower case."""
    return " ".join(each[:1].upper() + each[1:].lower() for each in text.split(" "))


@TEXT.function("reverse", as_text)
def _reverse(text: str) -> str:
    """The text backwards."""
    return text[::-1]


@TEXT.function("trim", as_text)
def _trim(text: str) -> str:
    """The text without blanks and control characters at both ends."""
    return text.strip(BLANKS)


@TEXT.function("trim", as_text, as_units, as_units, gives=give_text)
def _trim_signs(side: str, signs: str, text: str) -> str:
    """The text without some characters at an end; written as trim(BOTH 'x' FROM s), LEADING or TRAILING."""
    text = text.lstrip(signs) if side in ("BOTH", "LEADING") else text
    return text.rstrip(signs) if side in ("BOTH", "TRAILING") else text


@TEXT.function("ltrim", as_text)
def _ltrim(text: str) -> str:
    """The text without blanks at its start."""
    return text.lstrip(_SPACES)


@TEXT.function("rtrim", as_text)
def _rtrim(text: str) -> str:
    """The text without blanks at its end."""
    return text.rstrip(_SPACES)


@TEXT.function("length", as_units)
def _length(text: str) -> int:
    """How many UTF-16 units the text has."""
    return len(text)


@TEXT.function("substr", as_units, as_int, as_int, optional=1, gives=give_text)
def _substr(text: str, start: int, end: int = -1) -> str:
    """The part from `start`, counted from 0, up to and without `end`; an end of -1 is that of the text."""
    return cut(text, start, None if end == -1 else end)


@TEXT.function("substring", as_units, as_int, as_int, optional=1, gives=give_text)
def _substring(text: str, start: int, count: int | None = None) -> str:
    """The part from `start`, counted from 1, with `count` characters."""
    return cut(text, start - 1, None if count is None else start - 1 + count)


@TEXT.function("left leftSubStr", as_units, as_int, gives=give_text)
def _left(text: str, count: int) -> str:
    """The first characters."""
    return text[: max(0, count)]


@TEXT.function("right rightSubStr", as_units, as_int, gives=give_text)
def _right(text: str, count: int) -> str:
    """The last characters."""
    return text[max(0, len(text) - count) :] if count > 0 else ""


@TEXT.function("codepoint", as_text)
def _codepoint(text: str) -> int:
    """The number of the first character."""
    if not text:
        raise FunctionError("codepoint is given an empty text, which has no first character")
    return ord(text[0])


@TEXT.function("chr", as_int)
def _chr(number: int) -> str:
    """The character of a number."""
    if not 0 <= number <= 0x10FFFF:
        raise FunctionError(f"{number} is not the number of a character: they go from 0 to 1114111")
    return chr(number)


@TEXT.function("normalize", as_text, as_text, optional=1)
def _normalize(text: str, form: str = "NFC") -> str:
    """The text in a normal form of Unicode: NFC, NFD, NFKC or NFKD."""
    for known in _FORMS:
        if form == known:
            return unicodedata.normalize(known, text)
    raise FunctionError(f"the form NFC, NFD, NFKC or NFKD is expected, not {form[:60]!r}")
