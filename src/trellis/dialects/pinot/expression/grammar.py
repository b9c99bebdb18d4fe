"""The grammar of transform and filter functions (spec pinot.md, section 5).

It is that part of Pinot's SQL which can be ingested: names, literals, calls and operators. Operators become
calls of the functions behind them.
"""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.expression.operands import ADDED, Operands
from trellis.dialects.pinot.expression.tokens import ExpressionError
from trellis.dialects.pinot.expression.tree import (
    Call,
    Column,
    Expression,
    Literal,
    Script,
    arguments,
    nodes,
    written,
)

__all__ = [
    "Call",
    "Column",
    "Expression",
    "ExpressionError",
    "Literal",
    "Script",
    "arguments",
    "nodes",
    "parse",
    "written",
]

DEEPEST: Final = 220
"""How deep operands may be nested; a call counts twice, so more than a hundred may stand in one another."""
TALLEST: Final = 250
"""How many operators may follow one on another; any number of AND or OR counts as one."""

_OPERATORS: Final = {
    "or": (1, "or"),
    "and": (2, "and"),
    "=": (5, "equals"),
    "!=": (5, "notequals"),
    "<>": (5, "notequals"),
    "<": (5, "lessthan"),
    "<=": (5, "lessthanorequal"),
    ">": (5, "greaterthan"),
    ">=": (5, "greaterthanorequal"),
    "+": (ADDED, "plus"),
    "-": (ADDED, "minus"),
    "*": (8, "times"),
    "/": (8, "divide"),
    "%": (8, "mod"),
}
_IS: Final = 4
_RANGE: Final = 6
_MISSING: Final = {
    "in": "Pinot has no IN in transforms and filters: write x = 1 OR x = 2",
    "||": "Pinot has no || in transforms and filters: write concat(a, b)",
    "[": "Pinot cannot pick an element in transforms and filters: use jsonPath or an arrayElementAt function",
}
_GROOVY: Final = re.compile(r"\s*Groovy\(\s*\{(.+)\}\s*((?:,\s*[\w.$]+\s*)*)\)\s*", re.DOTALL)


def parse(text: str) -> Expression:
    """Read an expression. Raises ExpressionError with the place in the text and what was expected there.

    >>> parse("toEpochDays(ts) > 19000 AND NOT \\"is test\\"")
    Call(name='and', arguments=(Call(name='greaterthan', arguments=(Call(name='toepochdays', ...
    >>> parse("Groovy({a + b}, a, b)")
    Script(text='a + b', names=('a', 'b'))
    >>> parse("lower(name")
    Traceback (most recent call last):
    trellis.dialects.pinot.expression.tokens.ExpressionError: , or ) is expected, not the end ...
    """
    if text.lstrip().startswith("Groovy("):
        return _script(text)
    return _Parser(text).whole()


def _script(text: str) -> Script:
    found = _GROOVY.fullmatch(text)
    if not found:
        raise ExpressionError("a script is expected as Groovy({script}, argument, ...)", text, 1)
    names = tuple(each.strip() for each in found[2].split(",") if each.strip())
    return Script(found[1], names)


class _Parser(Operands):
    def whole(self) -> Expression:
        made = self.expression(0)
        if self.seen.kind != "end":
            raise self.wrong("the end or an operator")
        if any(depth > TALLEST for _, depth in nodes(made)):
            raise ExpressionError(f"{TALLEST} operators may follow one on another and no more", self.text, 1)
        return made

    def expression(self, floor: int) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError("the expression is nested too deep", self.text, self.seen.column)
        left = self.start()
        while True:
            more = self.continued(left, floor)
            if more is None:
                self.depth -= 1
                return left
            left = more

    def continued(self, left: Expression, floor: int) -> Expression | None:
        """What follows an operand, as far as it binds more tightly than `floor`."""
        word = self.word
        if word in _OPERATORS:
            power, name = _OPERATORS[word]
            if power <= floor:
                return None
            self.take()
            right = self.expression(power)
            if name in ("and", "or") and isinstance(left, Call) and left.name == name:
                return Call(name, (*left.arguments, right))
            return Call(name, (left, right))
        if word == "is" and floor < _IS:
            self.take()
            return self.test(left)
        negated = word == "not" and self.tokens[self.at + 1].said.lower() in ("between", "like", "in")
        if floor < _RANGE and (negated or word in ("between", "like")):
            self.at += negated
            made = self.ranged(left)
            return Call("not", (made,)) if negated else made
        if word in _MISSING:
            raise ExpressionError(_MISSING[word], self.text, self.seen.column)
        return None

    def test(self, left: Expression) -> Expression:
        negated = self.took("not")
        if self.took("null"):
            return Call("isnotnull" if negated else "isnull", (left,))
        if self.took("distinct", "from"):
            return Call("isnotdistinctfrom" if negated else "isdistinctfrom", (left, self.expression(5)))
        raise self.wrong("NULL, NOT NULL or DISTINCT FROM")

    def ranged(self, left: Expression) -> Expression:
        if self.took("like"):
            return Call("like", (left, self.expression(_RANGE)))
        if self.word == "in":
            raise ExpressionError(_MISSING["in"], self.text, self.seen.column)
        self.need("between")
        low = self.expression(_RANGE)
        self.need("and")
        return Call("between", (left, low, self.expression(_RANGE)))
