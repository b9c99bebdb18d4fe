"""Functions on text. Lengths and places count UTF-16 units, as Java does (spec pinot.md, section 5)."""

from __future__ import annotations

import unicodedata
from array import array
from typing import Final, Literal

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_int, as_text
from trellis.dialects.pinot.value.numerals import BLANKS

TEXT: Final = Theme()
LONGEST: Final = 2**24
"""Characters of a text that a function may make."""

_FORMS: Final[tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...]] = ("NFC", "NFD", "NFKC", "NFKD")
_SPACES: Final = " \t\n\x0b\f\r"


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


def _within(size: int) -> None:
    if size > LONGEST:
        raise FunctionError(f"a text of {size} characters is asked for; {LONGEST} are the most")


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


@TEXT.function("strpos", as_units, as_units, as_int, optional=1)
def _strpos(text: str, part: str, occurrence: int = 1) -> int:
    """Where a part stands for the first time, or the n-th, counted from 0; -1 where it does not."""
    if occurrence < 1:
        return -1
    if not part:
        return 0
    at = -1
    for _ in range(occurrence):
        at = text.find(part, at + 1)
        if at < 0:
            break
    return at


@TEXT.function("strrpos", as_units, as_units, as_int, optional=1)
def _strrpos(text: str, part: str, start: int | None = None) -> int:
    """Where a part stands for the last time, not after `start`; -1 where it does not."""
    if start is None:
        return text.rfind(part)
    return text.rfind(part, 0, start + len(part)) if start >= 0 else -1


@TEXT.function("startsWith", as_text, as_text)
def _starts_with(text: str, part: str) -> bool:
    """Whether the text starts so."""
    return text.startswith(part)


@TEXT.function("endsWith", as_text, as_text)
def _ends_with(text: str, part: str) -> bool:
    """Whether the text ends so."""
    return text.endswith(part)


@TEXT.function("contains", as_text, as_text)
def _contains(text: str, part: str) -> bool:
    """Whether the part stands in the text."""
    return part in text


@TEXT.function("strcmp", as_units, as_units)
def _strcmp(left: str, right: str) -> int:
    """0 for equal texts, else the difference of the first units that differ, or of the lengths."""
    for one, other in zip(left, right, strict=False):
        if one != other:
            return ord(one) - ord(other)
    return len(left) - len(right)


@TEXT.function("replace", as_text, as_text, as_text)
def _replace(text: str, part: str, by: str) -> str:
    """The text with every occurrence of a part replaced."""
    _within(len(text) + text.count(part) * len(by) if part else 0)
    return text.replace(part, by) if part else text


@TEXT.function("remove", as_text, as_text)
def _remove(text: str, part: str) -> str:
    """The text without every occurrence of a part."""
    return text.replace(part, "") if part else text


@TEXT.function("concat", as_text, as_text, as_text, optional=1)
def _concat(left: str, right: str, between: str = "") -> str:
    """Two texts, with a third between them."""
    return f"{left}{between}{right}"


@TEXT.function("concatWS", as_text, as_text, as_text)
def _concat_ws(between: str, left: str, right: str) -> str:
    """Two texts with a first between them."""
    return f"{left}{between}{right}"


@TEXT.function("lpad", as_units, as_int, as_units, gives=give_text)
def _lpad(text: str, size: int, pad: str) -> str:
    """The text filled from the left to a length; a longer one stays."""
    return _filling(size - len(text), pad) + text


@TEXT.function("rpad", as_units, as_int, as_units, gives=give_text)
def _rpad(text: str, size: int, pad: str) -> str:
    """The text filled from the right to a length; a longer one stays."""
    return text + _filling(size - len(text), pad)


def _filling(size: int, pad: str) -> str:
    _within(size)
    return ((pad or " ") * size)[: max(0, size)]


@TEXT.function("repeat", as_text, as_int)
def _repeat(text: str, count: int) -> str:
    """The text so many times."""
    _within(len(text) * count)
    return text * count


@TEXT.function("repeat", as_text, as_text, as_int)
def _repeat_between(text: str, between: str, count: int) -> str:
    """The text so many times, with another between."""
    _within(max(1, len(text) + len(between)) * count)
    return between.join([text] * count)


@TEXT.function("split stringToArray", as_text, as_text, as_int, optional=1)
def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts between separators, at most `limit`. Separators in a row count as one; first ones do not."""
    return parts(text, separator, limit)


@TEXT.function("splitPart", as_text, as_text, as_int)
def _split_part(text: str, separator: str, index: int) -> str:
    """A part between separators, counted from 0, or from the end below 0; the text null if it is missing."""
    return _part(parts(text, separator, -1), index)


@TEXT.function("splitPart", as_text, as_text, as_int, as_int)
def _split_part_limited(text: str, separator: str, limit: int, index: int) -> str:
    """One of at most `limit` parts between separators."""
    return _part(parts(text, separator, limit), index)


def _part(found: list[str], index: int) -> str:
    return found[index] if -len(found) <= index < len(found) else "null"


def parts(text: str, separator: str, limit: int) -> list[str]:
    """
    >>> parts(",a,,b,", ",", -1), parts("a,b,c", ",", 2), parts("", ",", -1)
    (['a', 'b', ''], ['a', 'b,c'], [])
    """
    made: list[str] = []
    if not text:
        return made
    if not separator:
        return text.split(None, limit - 1) if limit > 0 else text.split()
    start = 0
    while (end := text.find(separator, start)) >= 0:
        if end > start:
            if len(made) + 1 == limit:
                break
            made.append(text[start:end])
        start = end + len(separator)
    return [*made, text[start:]]


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


@TEXT.function("hammingDistance", as_units, as_units)
def _hamming(left: str, right: str) -> int:
    """In how many places two texts differ; -1 where their lengths do."""
    return sum(map(str.__ne__, left, right)) if len(left) == len(right) else -1


@TEXT.function("levenshteinDistance", as_units, as_units)
def _levenshtein(left: str, right: str) -> int:
    """How many characters must be put in, left out or replaced to make one text of the other."""
    _within(len(left) * len(right))
    row = list(range(len(right) + 1))
    for at, one in enumerate(left, 1):
        corner, row[0] = row[0], at
        for to, other in enumerate(right, 1):
            corner, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, corner + (one != other))
    return row[-1]
