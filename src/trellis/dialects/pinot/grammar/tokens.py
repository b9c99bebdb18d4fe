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
_BLANK: Final = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN: Final = re.compile(
    r'"(?P<quoted>(?:[^"]|"")+)"'
    r"|'(?P<text>(?:[^']|'')*)'"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![a-zA-Z0-9_$]))"
    r"|(?P<name>[\w$]+)"
    rf"|(?P<sign>{'|'.join(map(re.escape, _SIGNS))})"
)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text and a last one of kind `end`. Raises ExpressionError."""
    position = _after_blank(text, 0)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(_unreadable(text[position]), text, position + 1)
        kind = str(match.lastgroup)
        quote = match[0][0] if kind in ("quoted", "text") else ""
        yield Token(kind, match[kind].replace(quote * 2, quote) if quote else match[0], position + 1)
        position = _after_blank(text, match.end())
    yield Token("end", "the end", len(text) + 1)


def _after_blank(text: str, position: int) -> int:
    """Where the next token is: after blanks and comments."""
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _unreadable(sign: str) -> str:
    if sign in "\"'":
        noun = "text" if sign == "'" else "name"
        return f"a quoted {noun} is empty or never closed with {sign}"
    return f"unexpected {sign!r}: names with it must stand in double quotes"


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
