"""Functions that put texts together, take them apart and replace parts (spec pinot.md, section 5)."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_int, as_text
from trellis.dialects.pinot.expression.utf16 import as_units, give_text, within

PIECE: Final = Theme()


@PIECE.function("replace", as_text, as_text, as_text)
def _replace(text: str, part: str, by: str) -> str:
    """The text with every occurrence of a part replaced."""
    within(len(text) + text.count(part) * len(by) if part else 0)
    return text.replace(part, by) if part else text


@PIECE.function("remove", as_text, as_text)
def _remove(text: str, part: str) -> str:
    """The text without every occurrence of a part."""
    return text.replace(part, "") if part else text


@PIECE.function("concat", as_text, as_text, as_text, optional=1)
def _concat(left: str, right: str, between: str = "") -> str:
    """Two texts, with a third between them."""
    return f"{left}{between}{right}"


@PIECE.function("concatWS", as_text, as_text, as_text)
def _concat_ws(between: str, left: str, right: str) -> str:
    """Two texts with a first between them."""
    return f"{left}{between}{right}"


@PIECE.function("lpad", as_units, as_int, as_units, gives=give_text)
def _lpad(text: str, size: int, pad: str) -> str:
    """The text filled from the left to a length; a longer one stays."""
    return _filling(size - len(text), pad) + text


@PIECE.function("rpad", as_units, as_int, as_units, gives=give_text)
def _rpad(text: str, size: int, pad: str) -> str:
    """The text filled from the right to a length; a longer one stays."""
    return text + _filling(size - len(text), pad)


def _filling(size: int, pad: str) -> str:
    within(size)
    return ((pad or " ") * size)[: max(0, size)]


@PIECE.function("repeat", as_text, as_int)
def _repeat(text: str, count: int) -> str:
    """The text so many times."""
    within(len(text) * count)
    return text * count


@PIECE.function("repeat", as_text, as_text, as_int)
def _repeat_between(text: str, between: str, count: int) -> str:
    """The text so many times, with another between."""
    within(max(1, len(text) + len(between)) * count)
    return between.join([text] * count)


@PIECE.function("split stringToArray", as_text, as_text, as_int, optional=1)
def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts between separators, at most `limit`. Separators in a row count as one; first ones do not."""
    return parts(text, separator, limit)


@PIECE.function("splitPart", as_text, as_text, as_int)
def _split_part(text: str, separator: str, index: int) -> str:
    """A part between separators, counted from 0, or from the end below 0; the text null if it is missing."""
    return _part(parts(text, separator, -1), index)


@PIECE.function("splitPart", as_text, as_text, as_int, as_int)
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
