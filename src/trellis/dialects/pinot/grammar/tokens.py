"""The text of an expression as tokens, read one after the other."""

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
    text: str
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
    position, end = 0, len(text)
    while position < end:
        blank = _BLANK.match(text, position)
        if blank:
            position = blank.end()
            continue
        token, position = _next_token(text, position)
        yield token
    yield Token("end", "the end", end + 1)


def _next_token(text: str, position: int) -> tuple[Token, int]:
    quoted = _QUOTED.match(text, position)
    if quoted:
        return Token("quoted", quoted[1].replace('""', '"'), position + 1), quoted.end()
    literal = _TEXT.match(text, position)
    if literal:
        return Token("text", literal[1].replace("''", "'"), position + 1), literal.end()
    for kind, pattern in (("number", _NUMBER), ("name", _NAME), ("sign", _SIGN)):
        match = pattern.match(text, position)
        if match:
            return Token(kind, match[0], position + 1), match.end()
    if text[position] in "\"'":
        noun = "text" if text[position] == "'" else "name"
        raise ExpressionError(
            f"a quoted {noun} is empty or never closed with {text[position]}", text, position + 1
        )
    raise ExpressionError(
        f"unexpected {text[position]!r}: names with it must stand in double quotes", text, position + 1
    )


class TokenStream:
    """The tokens of a text and the position that was reached."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(tokens(text))
        self.position = 0

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    @property
    def word(self) -> str:
        """The current token as an operator or a keyword; empty for a column, a text or a number."""
        return self.current.text.lower() if self.current.kind in ("name", "sign") else ""

    def take(self) -> Token:
        token = self.current
        self.position += token.kind != "end"
        return token

    def take_if(self, *words: str) -> bool:
        """Whether these words follow; if so they are taken."""
        start = self.position
        for word in words:
            if self.word != word:
                self.position = start
                return False
            self.take()
        return True

    def expect(self, word: str) -> None:
        if not self.take_if(word):
            raise self.unexpected(word.upper())

    def unexpected(self, expected: str) -> ExpressionError:
        shown = self.current.text if self.current.kind == "end" else repr(self.current.text)
        return ExpressionError(f"{expected} is expected, not {shown}", self.text, self.current.column)
