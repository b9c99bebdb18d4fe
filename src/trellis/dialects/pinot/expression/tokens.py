"""The text of an expression as tokens (spec pinot.md, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class ExpressionError(ValueError):
    """An expression that cannot be read or run; the text is one sentence.

    `column` is where in the text, counted from 1; 0 where it concerns the whole.
    """

    def __init__(self, reason: str, text: str = "", column: int = 0) -> None:
        shown = text if len(text) <= 80 else f"{text[:77]}..."
        super().__init__(f"{reason}, at column {column} of {shown!r}" if column else reason)
        self.reason, self.column = reason, column


class Token(NamedTuple):
    """A word of an expression. `kind` is name, quoted, text, number, sign or end."""

    kind: str
    said: str
    column: int


_SIGNS: Final = ("<=", ">=", "!=", "<>", "||", *"()[],=<>+-*/%.;{}")
_BLANK: Final = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w$])", re.ASCII)
_NAME: Final = re.compile(r"[\w$]+")
_QUOTED: Final = re.compile(r'"((?:[^"]|"")+)"')
_TEXT: Final = re.compile(r"'((?:[^']|'')*)'")
_SIGN: Final = re.compile("|".join(map(re.escape, _SIGNS)))


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text and a last one of kind `end`. Raises ExpressionError."""
    at, end = 0, len(text)
    while at < end:
        blank = _BLANK.match(text, at)
        if blank:
            at = blank.end()
            continue
        token = _token(text, at)
        yield token[0]
        at = token[1]
    yield Token("end", "the end", end + 1)


def _token(text: str, at: int) -> tuple[Token, int]:
    quoted = _QUOTED.match(text, at)
    if quoted:
        return Token("quoted", quoted[1].replace('""', '"'), at + 1), quoted.end()
    literal = _TEXT.match(text, at)
    if literal:
        return Token("text", literal[1].replace("''", "'"), at + 1), literal.end()
    for kind, pattern in (("number", _NUMBER), ("name", _NAME), ("sign", _SIGN)):
        found = pattern.match(text, at)
        if found:
            return Token(kind, found[0], at + 1), found.end()
    if text[at] in "\"'":
        what = "text" if text[at] == "'" else "name"
        raise ExpressionError(f"a quoted {what} is empty or never closed with {text[at]}", text, at + 1)
    raise ExpressionError(
        f"there is an unexpected {text[at]!r}; names with it stand in double quotes", text, at + 1
    )
