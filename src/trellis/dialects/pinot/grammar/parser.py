"""Reads that part of Pinot's SQL which transform and filter functions use.

Names, literals, calls and operators; operators become calls of the functions behind them.
"""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.grammar.operands import SUM_POWER, OperandParser
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Expression, Script, nodes

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
    "+": (SUM_POWER, "plus"),
    "-": (SUM_POWER, "minus"),
    "*": (8, "times"),
    "/": (8, "divide"),
    "%": (8, "mod"),
}
_IS_POWER: Final = 4
_COMPARISON_POWER: Final = 5
_RANGE_POWER: Final = 6
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
    ExpressionError: , or ) is expected, not the end ...
    """
    if text.lstrip().startswith("Groovy("):
        return _parse_script(text)
    return _Parser(text).parse_whole()


def _parse_script(text: str) -> Script:
    match = _GROOVY.fullmatch(text)
    if not match:
        raise ExpressionError("a script is expected as Groovy({script}, argument, ...)", text, 1)
    return Script(match[1], tuple(name.strip() for name in match[2].split(",") if name.strip()))


class _Parser(OperandParser):
    def parse_whole(self) -> Expression:
        expression = self.parse_expression(0)
        if self.current.kind != "end":
            raise self.unexpected("the end or an operator")
        if any(depth > TALLEST for _, depth in nodes(expression)):
            raise ExpressionError(f"{TALLEST} operators may follow one on another and no more", self.text, 1)
        return expression

    def parse_expression(self, power: int) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError("the expression is nested too deep", self.text, self.current.column)
        left = self.parse_operand()
        while True:
            longer = self._continued(left, power)
            if longer is None:
                self.depth -= 1
                return left
            left = longer

    def _continued(self, left: Expression, power: int) -> Expression | None:
        """What follows an operand, as far as it binds more tightly than `power`."""
        word = self.word
        if word in _OPERATORS:
            right_power, name = _OPERATORS[word]
            if right_power <= power:
                return None
            self.take()
            right = self.parse_expression(right_power)
            if name in ("and", "or") and isinstance(left, Call) and left.name == name:
                return Call(name, (*left.arguments, right))
            return Call(name, (left, right))
        if word == "is" and power < _IS_POWER:
            self.take()
            return self._is(left)
        next_word = self.tokens[self.position + 1].text.lower() if word == "not" else ""
        negated = next_word in ("between", "like", "in")
        if power < _RANGE_POWER and (negated or word in ("between", "like")):
            self.position += negated
            condition = self._range(left)
            return Call("not", (condition,)) if negated else condition
        if word in _MISSING:
            raise ExpressionError(_MISSING[word], self.text, self.current.column)
        return None

    def _is(self, left: Expression) -> Expression:
        negated = self.take_if("not")
        if self.take_if("null"):
            return Call("isnotnull" if negated else "isnull", (left,))
        if self.take_if("distinct", "from"):
            name = "isnotdistinctfrom" if negated else "isdistinctfrom"
            return Call(name, (left, self.parse_expression(_COMPARISON_POWER)))
        raise self.unexpected("NULL, NOT NULL or DISTINCT FROM")

    def _range(self, left: Expression) -> Expression:
        if self.take_if("like"):
            return Call("like", (left, self.parse_expression(_RANGE_POWER)))
        if self.word == "in":
            raise ExpressionError(_MISSING["in"], self.text, self.current.column)
        self.expect("between")
        low = self.parse_expression(_RANGE_POWER)
        self.expect("and")
        return Call("between", (left, low, self.parse_expression(_RANGE_POWER)))
