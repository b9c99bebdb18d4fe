"""Functions that find texts in texts and compare them (spec pinot.md, section 5)."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_int, as_text
from trellis.dialects.pinot.expression.utf16 import as_units, within

SEARCH: Final = Theme()


@SEARCH.function("strpos", as_units, as_units, as_int, optional=1)
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


@SEARCH.function("strrpos", as_units, as_units, as_int, optional=1)
def _strrpos(text: str, part: str, start: int | None = None) -> int:
    """Where a part stands for the last time, not after `start`; -1 where it does not."""
    if start is None:
        return text.rfind(part)
    return text.rfind(part, 0, start + len(part)) if start >= 0 else -1


@SEARCH.function("startsWith", as_text, as_text)
def _starts_with(text: str, part: str) -> bool:
    """Whether the text starts so."""
    return text.startswith(part)


@SEARCH.function("endsWith", as_text, as_text)
def _ends_with(text: str, part: str) -> bool:
    """Whether the text ends so."""
    return text.endswith(part)


@SEARCH.function("contains", as_text, as_text)
def _contains(text: str, part: str) -> bool:
    """Whether the part stands in the text."""
    return part in text


@SEARCH.function("strcmp", as_units, as_units)
def _strcmp(left: str, right: str) -> int:
    """0 for equal texts, else the difference of the first units that differ, or of the lengths."""
    for one, other in zip(left, right, strict=False):
        if one != other:
            return ord(one) - ord(other)
    return len(left) - len(right)


@SEARCH.function("hammingDistance", as_units, as_units)
def _hamming(left: str, right: str) -> int:
    """In how many places two texts differ; -1 where their lengths do."""
    return sum(map(str.__ne__, left, right)) if len(left) == len(right) else -1


@SEARCH.function("levenshteinDistance", as_units, as_units)
def _levenshtein(left: str, right: str) -> int:
    """How many characters must be put in, left out or replaced to make one text of the other."""
    within(len(left) * len(right))
    row = list(range(len(right) + 1))
    for at, one in enumerate(left, 1):
        corner, row[0] = row[0], at
        for to, other in enumerate(right, 1):
            corner, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, corner + (one != other))
    return row[-1]
