"""What stands between operators: columns, literals, calls, and calls with words of their own.

(Spec pinot.md, section 5.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from trellis.dialects.pinot.expression.reserved import RESERVED
from trellis.dialects.pinot.expression.token_stream import TokenStream
from trellis.dialects.pinot.expression.tokens import ExpressionError, Token
from trellis.dialects.pinot.expression.tree import Call, Column, Expression, Literal, canonical
from trellis.dialects.pinot.value.kinds import LONG_MAX, LONG_MIN

_PREFIX: Final = ("not", "case")
_UNIT_FIRST: Final = ("timestampadd", "timestampdiff")
"""In these a bare word as first argument is the name of a unit."""
_SIDES: Final = ("both", "leading", "trailing")
NEGATED: Final = 3
"""How tightly NOT binds."""
ADDED: Final = 7
"""How tightly + and - bind."""


class Operands(TokenStream, ABC):
    """Reads operands; those who know the operators say what an expression is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    @abstractmethod
    def expression(self, floor: int) -> Expression:
        """An expression of operators that bind more tightly than `floor`."""

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
            return Call("not", (self.expression(NEGATED),))
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
        if token.kind == "name" and name == "trim":
            return self.trimmed()
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

    def trimmed(self) -> Expression:
        """`TRIM(x)`, or `TRIM([BOTH | LEADING | TRAILING] [characters] FROM x)`."""
        side = ""
        if self.word in _SIDES and self.tokens[self.at + 1].kind != "sign":
            side = self.take().said.upper()
            if self.took("from"):
                return self.closed(Call("trim", (Literal(side), Literal(" "), self.expression(0))))
        first = self.expression(0)
        if side or self.word == "from":
            self.need("from")
            return self.closed(Call("trim", (Literal(side or "BOTH"), first, self.expression(0))))
        return self.closed(Call("trim", (first,)))

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
        inner = self.expression(ADDED + 1)
        if isinstance(inner, Literal) and type(inner.value) in (int, float):
            if sign.said == "+":
                return inner
            assert isinstance(inner.value, int | float)
            if -inner.value <= LONG_MAX:
                return Literal(-inner.value or inner.value)
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
