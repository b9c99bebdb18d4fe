"""The grammar of transform and filter functions (spec pinot.md, section 5).

It is that part of Pinot's SQL which can be ingested: names, literals, calls and operators. Operators become
calls of the functions behind them.
"""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.expression.reserved import RESERVED
from trellis.dialects.pinot.expression.tokens import ExpressionError, Token, tokens
from trellis.dialects.pinot.expression.tree import (
    Call,
    Column,
    Expression,
    Literal,
    Script,
    arguments,
    canonical,
    nodes,
    written,
)
from trellis.dialects.pinot.value.kinds import LONG_MAX, LONG_MIN

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
    "+": (7, "plus"),
    "-": (7, "minus"),
    "*": (8, "times"),
    "/": (8, "divide"),
    "%": (8, "mod"),
}
_PREFIX: Final = ("not", "case")
_UNIT_FIRST: Final = ("timestampadd", "timestampdiff")
"""In these a bare word as first argument is the name of a unit."""
_NOT: Final = 3
_IS: Final = 4
_RANGE: Final = 6
_ADDED: Final = 7
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


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(tokens(text))
        self.at = 0
        self.depth = 0

    def whole(self) -> Expression:
        made = self.expression(0)
        if self.seen.kind != "end":
            raise self.wrong("the end or an operator")
        if any(depth > TALLEST for _, depth in nodes(made)):
            raise ExpressionError(f"{TALLEST} operators may follow one on another and no more", self.text, 1)
        return made

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

    def start(self) -> Expression:
        token = self.take()
        if token.kind == "text":
            return Literal(token.said)
        if token.kind == "number":
            return Literal(self.number(token, token.said))
        if token.kind == "quoted" or (
            self.word == "(" and token.kind == "name" and token.said.lower() not in _PREFIX
        ):
            return self.named(token)
        if token.kind == "name":
            return self.keyword(token)
        if token.said == "(":
            inner = self.expression(0)
            self.need(")")
            return inner
        if token.said in "+-" and token.kind == "sign":
            return self.signed(token)
        self.at -= token.kind != "end"
        raise self.wrong("a column, a literal or a function")

    def keyword(self, token: Token) -> Expression:
        word = token.said.lower()
        if word in ("true", "false"):
            return Literal(word == "true")
        if word == "null":
            return Literal(None)
        if word == "not":
            return Call("not", (self.expression(_NOT),))
        if word == "case":
            return self.case()
        if word == "array" and self.took("["):
            return Call("arrayvalueconstructor", self.listed("]"))
        if word in RESERVED:
            reason = f'{token.said} is a reserved word: as a column it is written "{token.said}"'
            raise ExpressionError(reason, self.text, token.column)
        return self.named(token)

    def named(self, token: Token) -> Expression:
        """A column, whose name may have dots between its parts, or a call."""
        if self.took("("):
            return self.call(token)
        parts = [token.said]
        while self.word == ".":
            self.take()
            if self.seen.kind not in ("name", "quoted"):
                raise self.wrong("a name")
            parts.append(self.take().said)
        return Column(".".join(parts))

    def call(self, token: Token) -> Expression:
        name = canonical(token.said)
        if token.kind == "name" and name == "groovy":
            raise ExpressionError(
                "a script is expected as Groovy({script}, argument, ...)", self.text, token.column
            )
        if token.kind == "name" and name == "cast":
            value = self.expression(0)
            if self.took("as"):
                return self.closed(Call("cast", (value, Literal(self.take().said))))
            return Call("cast", (value, *(self.listed(")") if self.took(",") else self.closed_empty())))
        if token.kind == "name" and name == "extract" and self.tokens[self.at + 1].said.lower() == "from":
            unit = self.take().said
            self.need("from")
            return self.closed(Call("extract", (Literal(unit.upper()), self.expression(0))))
        self.depth += 1
        given = self.listed(")")
        self.depth -= 1
        if token.kind == "name" and name in _UNIT_FIRST and given and isinstance(given[0], Column):
            given = (Literal(given[0].name), *given[1:])
        return Call(name, given)

    def closed(self, made: Expression) -> Expression:
        self.need(")")
        return made

    def closed_empty(self) -> tuple[Expression, ...]:
        self.need(")")
        return ()

    def listed(self, end: str) -> tuple[Expression, ...]:
        made: list[Expression] = []
        if self.took(end):
            return ()
        while True:
            made.append(self.expression(0))
            if self.took(end):
                return tuple(made)
            if not self.took(","):
                raise self.wrong(f", or {end}")

    def case(self) -> Expression:
        """`CASE [x] WHEN .. THEN .. [ELSE ..] END` as a call of caseWhen."""
        subject = None if self.word == "when" else self.expression(0)
        made: list[Expression] = []
        while self.took("when"):
            when = self.expression(0)
            made.append(when if subject is None else Call("equals", (subject, when)))
            self.need("then")
            made.append(self.expression(0))
        if not made:
            raise self.wrong("WHEN")
        made.append(self.expression(0) if self.took("else") else Literal(None))
        self.need("end")
        return Call("casewhen", tuple(made))

    def signed(self, sign: Token) -> Expression:
        """A sign belongs to a number; Pinot has no sign before anything else."""
        inner = self.expression(_ADDED + 1)
        if isinstance(inner, Literal) and type(inner.value) in (int, float):
            if sign.said == "+":
                return inner
            assert isinstance(inner.value, int | float)
            if -inner.value <= LONG_MAX:
                return Literal(-inner.value)
        instead = "negate(x)" if sign.said == "-" else "x"
        raise ExpressionError(
            f"Pinot takes a {sign.said} only before a number: write {instead}", self.text, sign.column
        )

    def number(self, token: Token, said: str) -> int | float:
        if said.rstrip(".").isdigit():
            value = int(said.rstrip(".")) if len(said) < 30 else 10**30
            if value > -LONG_MIN or (value > LONG_MAX and self.tokens[self.at - 2].said != "-"):
                raise ExpressionError(f"{said[:40]} does not fit in 64 bits", self.text, token.column)
            return value
        decimal = float(said)
        if decimal == float("inf"):
            raise ExpressionError(f"{said[:40]} is larger than any double", self.text, token.column)
        return decimal
