"""Reads that part of Pinot's SQL which transform and filter functions use.

Names, literals, calls and operators; operators become calls of the functions behind them.
"""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.grammar.tokens import ExpressionError, Token, TokenStream
from trellis.dialects.pinot.grammar.tree import Call, Column, Expression, Literal, canonical, nodes
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN

_RESERVED_WORDS: Final = """
    any asof call case create cross current cursor date define delete describe distinct drop except exists
    explain fetch friday from full grant group grouping having in inner insert intersect interval into join
    json_scope lateral left limit match_condition match_recognize measure merge minus monday natural new next
    not offset on order ordinal outer over partition pattern qualify range right rollup row rows safe_cast
    safe_offset safe_ordinal saturday select set skip some stream sunday table tablesample then thursday time
    timestamp try_cast tuesday union unique unknown unnest update using values wednesday when where window
    with
"""
RESERVED: Final = frozenset(_RESERVED_WORDS.split())
"""Words that name a column only in quotes, in lower case. Before an opening bracket they name a function."""
_PREFIXES: Final = ("not", "case")
_TRIM_SIDES: Final = ("both", "leading", "trailing")
_NOT_POWER: Final = 3
"""How tightly NOT binds."""
_SUM_POWER: Final = 7
"""How tightly + and - bind."""
DEEPEST: Final = 250
"""How deep an expression may be nested; any number of AND or OR counts as one level."""

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
    "+": (_SUM_POWER, "plus"),
    "-": (_SUM_POWER, "minus"),
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
"""A script and its columns: a call, too."""


def parse(text: str) -> Expression:
    """Read an expression. Raises ExpressionError with the place in the text and what was expected there.

    >>> parse("toEpochDays(ts) > 19000 AND NOT \\"is test\\"")
    Call(name='and', arguments=(Call(name='greaterthan', arguments=(Call(name='toepochdays', ...
    >>> parse("lower(name")
    Traceback (most recent call last):
    ExpressionError: , or ) is expected, not the end ...
    """
    script = _GROOVY.fullmatch(text)
    if script:
        columns = (Column(name.strip()) for name in script[2].split(",") if name.strip())
        return Call("groovy", (Literal(script[1]), *columns))
    try:
        expression = _Parser(text).parse_whole()
        if all(depth <= DEEPEST for _, depth in nodes(expression)):
            return expression
    except RecursionError:
        pass
    raise ExpressionError(f"the expression is nested too deep: {DEEPEST} levels are the most", text, 1)


class _Parser(TokenStream):
    def parse_whole(self) -> Expression:
        expression = self._parse_expression(0)
        if self.current.kind != "end":
            raise self.unexpected("the end or an operator")
        return expression

    def _parse_expression(self, power: int) -> Expression:
        """An expression of operators that bind more tightly than `power`."""
        left = self._parse_operand()
        while (longer := self._continued(left, power)) is not None:
            left = longer
        return left

    def _continued(self, left: Expression, power: int) -> Expression | None:
        """What follows an operand, as far as it binds more tightly than `power`."""
        word = self.word
        if word in _OPERATORS:
            right_power, name = _OPERATORS[word]
            if right_power <= power:
                return None
            self.take()
            right = self._parse_expression(right_power)
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
            return Call(name, (left, self._parse_expression(_COMPARISON_POWER)))
        raise self.unexpected("NULL, NOT NULL or DISTINCT FROM")

    def _range(self, left: Expression) -> Expression:
        if self.take_if("like"):
            return Call("like", (left, self._parse_expression(_RANGE_POWER)))
        if self.word == "in":
            raise ExpressionError(_MISSING["in"], self.text, self.current.column)
        self.expect("between")
        low = self._parse_expression(_RANGE_POWER)
        self.expect("and")
        return Call("between", (left, low, self._parse_expression(_RANGE_POWER)))

    def _parse_operand(self) -> Expression:
        token = self.take()
        if token.kind == "text":
            return Literal(token.text)
        if token.kind == "number":
            return Literal(self._number(token))
        if token.kind == "quoted" or (
            self.word == "(" and token.kind == "name" and token.text.lower() not in _PREFIXES
        ):
            return self._column_or_call(token)
        if token.kind == "name":
            return self._keyword(token)
        if token.text == "(":
            inner = self._parse_expression(0)
            self.expect(")")
            return inner
        if token.text in "+-" and token.kind == "sign":
            return self._signed(token)
        self.position -= token.kind != "end"
        raise self.unexpected("a column, a literal or a function")

    def _keyword(self, token: Token) -> Expression:
        word = token.text.lower()
        if word in ("true", "false"):
            return Literal(word == "true")
        if word == "null":
            return Literal(None)
        if word == "not":
            return Call("not", (self._parse_expression(_NOT_POWER),))
        if word == "case":
            return self._case()
        if word == "array" and self.take_if("["):
            return Call("arrayvalueconstructor", self._arguments("]"))
        if word in RESERVED:
            reason = f'{token.text} is a reserved word: as a column it is written "{token.text}"'
            raise ExpressionError(reason, self.text, token.column)
        return self._column_or_call(token)

    def _column_or_call(self, token: Token) -> Expression:
        """A column, whose name may have dots between its parts, or a call."""
        if self.take_if("("):
            return self._call(token)
        parts = [token.text]
        while self.word == ".":
            self.take()
            if self.current.kind not in ("name", "quoted"):
                raise self.unexpected("a name")
            parts.append(self.take().text)
        return Column(".".join(parts))

    def _call(self, token: Token) -> Expression:
        keyword = token.text.lower() if token.kind == "name" else ""
        if keyword == "minus":
            reason = "Pinot's SQL cannot read minus(a, b): write a - b"
            raise ExpressionError(reason, self.text, token.column)
        if keyword == "cast":
            return self._cast()
        if keyword == "trim":
            return self._trim()
        if keyword == "extract":
            if self.current.kind != "name":
                raise self.unexpected("a unit without quotes as in extract(YEAR FROM x)")
            unit = Literal(self.take().text.upper())
            self.expect("from")
            return self._closed(Call("extract", (unit, self._parse_expression(0))))
        return Call(canonical(token.text), self._arguments(")"))

    def _cast(self) -> Expression:
        """`CAST(x AS type)`; a length or precision after the type has no effect, as in Pinot."""
        value = self._parse_expression(0)
        self.expect("as")
        if self.current.kind not in ("name", "quoted"):
            raise self.unexpected("a type")
        target = self.take().text
        if self.take_if("("):
            self._arguments(")")
        return self._closed(Call("cast", (value, Literal(target))))

    def _trim(self) -> Expression:
        """`TRIM(x)`, or `TRIM([BOTH | LEADING | TRAILING] [characters] FROM x)`."""
        has_side = self.word in _TRIM_SIDES and self.tokens[self.position + 1].kind != "sign"
        side = Literal(self.take().text.upper() if has_side else "BOTH")
        characters = Literal(" ") if has_side and self.word == "from" else self._parse_expression(0)
        if not has_side and self.word != "from":
            return self._closed(Call("trim", (characters,)))
        self.expect("from")
        return self._closed(Call("trim", (side, characters, self._parse_expression(0))))

    def _closed(self, expression: Expression) -> Expression:
        self.expect(")")
        return expression

    def _arguments(self, end: str) -> tuple[Expression, ...]:
        arguments: list[Expression] = []
        if self.take_if(end):
            return ()
        while True:
            arguments.append(self._parse_expression(0))
            if self.take_if(end):
                return tuple(arguments)
            if not self.take_if(","):
                raise self.unexpected(f", or {end}")

    def _case(self) -> Expression:
        """`CASE [x] WHEN .. THEN .. [ELSE ..] END` as a call of caseWhen."""
        subject = None if self.word == "when" else self._parse_expression(0)
        branches: list[Expression] = []
        while self.take_if("when"):
            condition = self._parse_expression(0)
            branches.append(condition if subject is None else Call("equals", (subject, condition)))
            self.expect("then")
            branches.append(self._parse_expression(0))
        if not branches:
            raise self.unexpected("WHEN")
        branches.append(self._parse_expression(0) if self.take_if("else") else Literal(None))
        self.expect("end")
        return Call("casewhen", tuple(branches))

    def _signed(self, sign: Token) -> Expression:
        """A sign belongs to a number; Pinot has no sign before anything else."""
        inner = self._parse_expression(_SUM_POWER + 1)
        if isinstance(inner, Literal) and type(inner.value) in (int, float):
            if sign.text == "+":
                return inner
            assert isinstance(inner.value, int | float)
            if -inner.value <= LONG_MAX:
                return Literal(-inner.value or inner.value)
        instead = "negate(x)" if sign.text == "-" else "x"
        raise ExpressionError(
            f"Pinot takes a {sign.text} only before a number: write {instead}", self.text, sign.column
        )

    def _number(self, token: Token) -> int | float:
        digits = token.text.rstrip(".")
        if digits.isdigit():
            value = int(digits) if len(token.text) < 30 else 10**30
            negative = self.tokens[self.position - 2].text == "-"
            if value > -LONG_MIN or (value > LONG_MAX and not negative):
                raise ExpressionError(f"{token.text[:40]} does not fit in 64 bits", self.text, token.column)
            return value
        decimal = float(token.text)
        if decimal == float("inf"):
            raise ExpressionError(f"{token.text[:40]} is larger than any double", self.text, token.column)
        return decimal
