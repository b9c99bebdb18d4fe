"""Functions that give pieces of a text to search by: n-grams, beginnings, ends (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_int, several
from trellis.dialects.pinot.expression.utf16 import as_units, give_text, within

GRAM: Final = Theme()


def as_units_or_null(value: Any) -> str | None:
    """As `as_units`, or null."""
    return None if value is None else as_units(value)


def _given(pieces: Iterable[str]) -> list[str]:
    return list(map(give_text, pieces))


def _lengths(text: str, longest: int) -> range:
    if longest < 0:
        raise FunctionError(f"the greatest length of a piece is 0 or more, not {longest}")
    count = min(longest, len(text))
    within(count * count // 2)
    return range(1, count + 1)


@GRAM.function("prefixes", as_units, as_int, gives=_given)
def _prefixes(text: str, longest: int) -> list[str]:
    """The beginnings of a text with 1, 2 and more characters."""
    return [text[:size] for size in _lengths(text, longest)]


@GRAM.function("suffixes", as_units, as_int, gives=_given)
def _suffixes(text: str, longest: int) -> list[str]:
    """The ends of a text with 1, 2 and more characters."""
    return [text[len(text) - size :] for size in _lengths(text, longest)]


@GRAM.function("prefixesWithPrefix", as_units, as_int, as_units_or_null, gives=_given, nullable=True)
def _prefixes_after(text: str, longest: int, before: str | None) -> list[str]:
    """As prefixes, each with a text before it; null for none."""
    return [f"{before or ''}{each}" for each in _prefixes(text, longest)]


@GRAM.function("suffixesWithSuffix", as_units, as_int, as_units_or_null, gives=_given, nullable=True)
def _suffixes_before(text: str, longest: int, after: str | None) -> list[str]:
    """As suffixes, each with a text after it; null for none."""
    return [f"{each}{after or ''}" for each in _suffixes(text, longest)]


def _declare(names: str, take: Callable[[Any], Any], texts: Callable[[Any], list[str]], said: str) -> None:
    @GRAM.function(names, take, as_int, gives=_given)
    def _of_one_length(given: Any, size: int) -> list[str]:
        return _grams(texts(given), max(size, 0) if isinstance(given, list) else size, size)

    @GRAM.function(names, take, as_int, as_int, gives=_given)
    def _of_lengths(given: Any, least: int, most: int) -> list[str]:
        return _grams(texts(given), least, most)

    _of_one_length.__doc__ = f"The pieces of so many characters {said}, each once."
    _of_lengths.__doc__ = f"The pieces of `least` to `most` characters {said}, each once."


def _grams(texts: list[str], least: int, most: int) -> list[str]:
    made: dict[str, None] = {}
    for text in texts:
        if least < 0:
            raise FunctionError(f"the length of a piece is 0 or more, not {least}")
        sizes = range(max(1, least), min(most, len(text)) + 1)
        within(len(text) * sum(sizes))
        for size in sizes:
            made.update((text[at : at + size], None) for at in range(len(text) - size + 1))
    return list(made)


_declare("uniqueNgrams generateUniqueNgrams", as_units, lambda text: [text], "in a text")
_declare("uniqueNgramsMV generateUniqueNgramsMV", several(as_units), list, "in texts")
