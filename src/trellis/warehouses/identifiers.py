"""Names of schemas, tables and columns in a warehouse: quotes, length and case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Quotes:
    """The marks around an identifier, and what is written for a character inside them."""

    left: str
    right: str
    escapes: Mapping[int, str] = field(hash=False)
    """A table for `str.translate`."""

    def quote(self, name: str) -> str:
        """
        >>> DOUBLE_QUOTES.quote('a"b'), BACKSLASHED_BACKTICKS.quote("a`b"), BRACKETS.quote("a]b")
        ('"a""b"', '`a\\\\`b`', '[a]]b]')
        """
        return self.left + name.translate(self.escapes) + self.right


DOUBLE_QUOTES: Final = Quotes('"', '"', str.maketrans({'"': '""'}))
BACKTICKS: Final = Quotes("`", "`", str.maketrans({"`": "``"}))
BACKSLASHED_BACKTICKS: Final = Quotes("`", "`", str.maketrans({"\\": "\\\\", "`": "\\`"}))
BRACKETS: Final = Quotes("[", "]", str.maketrans({"]": "]]"}))


@dataclass(frozen=True)
class Identifiers:
    """The rules of a warehouse for names.

    A name of more than `max_length` units is cut or refused. `folds` is the case that a name without quotes
    gets. Names that differ in case alone are two where they are `case_sensitive`. `reserved_words`, in upper
    case, need quotes.
    """

    max_length: int
    unit: Literal["characters", "bytes"] = "characters"
    folds: Literal["", "lower", "upper"] = ""
    case_sensitive: bool = False
    quotes: Quotes = DOUBLE_QUOTES
    reserved_words: frozenset[str] = field(default=frozenset(), repr=False)

    def length(self, name: str) -> int:
        """
        >>> Identifiers(63, "bytes").length("Größe"), Identifiers(63).length("Größe")
        (7, 5)
        """
        return len(name.encode()) if self.unit == "bytes" else len(name)

    def fold(self, name: str) -> str:
        """The name in the case that the warehouse gives to names without quotes."""
        return {"upper": name.upper(), "lower": name.lower()}.get(self.folds, name)

    def needs_quotes(self, name: str) -> bool:
        """Whether a statement that names it without quotes means something else, or nothing."""
        return not _PLAIN.fullmatch(name) or self.fold(name) != name or name.upper() in self.reserved_words

    def key(self, name: str) -> str:
        """The key under which names are one to the warehouse."""
        return name if self.case_sensitive else name.lower()
