"""An expression as a Python callable (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trellis.dialects.pinot.expression.compare_functions import as_logical
from trellis.dialects.pinot.expression.functions import function_of
from trellis.dialects.pinot.expression.registry import Function
from trellis.dialects.pinot.expression.tokens import ExpressionError
from trellis.dialects.pinot.expression.tree import Call, Column, Expression, Literal

Program = Callable[[Mapping[str, Any]], Any]
"""What an expression makes of a row: its value, None for null."""

FAILURES = (ValueError, ArithmeticError, LookupError, TypeError, RecursionError, MemoryError)
"""What a program may raise for a row. All of it is about the values of that row."""


def compiled(expression: Expression) -> Program:
    """The program of an expression. Raises ExpressionError for an unknown function, and for a script.

    A program raises one of FAILURES for a row that it cannot compute.

    >>> from trellis.dialects.pinot.expression.grammar import parse
    >>> compiled(parse("toEpochDays(ts) + 1"))({"ts": 1700000000123})
    19676.0
    """
    if isinstance(expression, Column):
        name = expression.name
        return lambda row: row.get(name)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda _: value
    if isinstance(expression, Call):
        inner = [compiled(each) for each in expression.arguments]
        if expression.name in ("and", "or"):
            return _logical(inner, expression.name == "or")
        return _call(function_of(expression.name, len(inner)), inner)
    raise ExpressionError("Groovy scripts are not run: write the expression with functions instead")


def _call(function: Function, inner: list[Program]) -> Program:
    call, gives, nullable = function.call, function.gives, function.nullable
    takes = list(function.takes[: len(inner)])
    if function.rest is not None:
        takes += [function.rest] * (len(inner) - len(takes))

    def run(row: Mapping[str, Any]) -> Any:
        values = [program(row) for program in inner]
        if not nullable:
            for value in values:
                if value is None:
                    return None
        made = call(*[take(value) for take, value in zip(takes, values, strict=True)])
        return None if made is None else gives(made)

    return run


def _logical(inner: list[Program], decisive: bool) -> Program:
    """AND and OR of three values: what decides ends it, and null stays where nothing decides."""

    def run(row: Mapping[str, Any]) -> Any:
        unknown = False
        for program in inner:
            value = as_logical(program(row))
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return run
