"""The words of an expression, read one after the other (spec pinot.md, section 5)."""

from __future__ import annotations

from trellis.dialects.pinot.expression.tokens import ExpressionError, Token, tokens


class TokenStream:
    """The tokens of a text, and the place that was reached."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(tokens(text))
        self.at = 0

    @property
    def seen(self) -> Token:
        return self.tokens[self.at]

    @property
    def word(self) -> str:
        """The token as an operator or a keyword; empty for a column, a text or a number."""
        return self.seen.said.lower() if self.seen.kind in ("name", "sign") else ""

    def take(self) -> Token:
        token = self.seen
        self.at += token.kind != "end"
        return token

    def took(self, *words: str) -> bool:
        """Whether these words follow; if so they are taken."""
        start = self.at
        for each in words:
            if self.word != each:
                self.at = start
                return False
            self.take()
        return True

    def need(self, word: str) -> None:
        if not self.took(word):
            raise self.wrong(word.upper())

    def wrong(self, expected: str) -> ExpressionError:
        said = self.seen.said if self.seen.kind == "end" else repr(self.seen.said)
        return ExpressionError(f"{expected} is expected, not {said}", self.text, self.seen.column)
