"""An expression as a Python callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trellis.dialects.pinot.functions.catalog import UnsupportedFunction, check_calls, function_of
from trellis.dialects.pinot.functions.numbers import as_logical
from trellis.dialects.pinot.functions.registry import Function
from trellis.dialects.pinot.grammar.tree import Call, Column, Expression, Literal
from trellis.dialects.pinot.jars.gateway import pinot_expression

CompiledExpression = Callable[[Mapping[str, Any]], Any]
"""Computes the value of an expression for a row; None is null."""

FAILURES = (ValueError, ArithmeticError, LookupError, TypeError, RecursionError, MemoryError)
"""The exceptions of a compiled expression. All concern the values of the row."""


def compile_expression(
    expression: Expression, text: str = "", pinot_jars: bool = False
) -> CompiledExpression:
    """The expression as a function of a row. Raises ExpressionError for an unknown function and for a script.

    Raises UnsupportedFunction where that is the only fault; with `pinot_jars` Pinot's own classes compute the
    text instead. The function raises one of FAILURES for a row that it cannot compute.

    >>> from trellis.dialects.pinot.grammar.parser import parse
    >>> compile_expression(parse("toEpochDays(ts) + 1"))({"ts": 1700000000123})
    19676.0
    """
    try:
        check_calls(expression)
    except UnsupportedFunction:
        if pinot_jars:
            return pinot_expression(text)
        raise
    return _compile(expression)


def _compile(expression: Expression) -> CompiledExpression:
    if isinstance(expression, Column):
        name = expression.name
        return lambda row: row.get(name)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda _: value
    assert isinstance(expression, Call)
    arguments = [_compile(argument) for argument in expression.arguments]
    if expression.name in ("and", "or"):
        return _compile_logical(arguments, decisive=expression.name == "or")
    return _compile_call(function_of(expression.name, len(arguments)), arguments)


def _compile_call(function: Function, arguments: list[CompiledExpression]) -> CompiledExpression:
    call, result, nullable = function.call, function.result, function.nullable
    converters = list(function.parameters[: len(arguments)])
    if function.variadic is not None:
        converters += [function.variadic] * (len(arguments) - len(converters))

    def run(row: Mapping[str, Any]) -> Any:
        values = [program(row) for program in arguments]
        if not nullable:
            for value in values:
                if value is None:
                    return None
        returned = call(*[convert(value) for convert, value in zip(converters, values, strict=True)])
        return None if returned is None else result(returned)

    return run


def _compile_logical(arguments: list[CompiledExpression], decisive: bool) -> CompiledExpression:
    """Three-valued AND and OR: the decisive value ends it; without one, null stays null."""

    def run(row: Mapping[str, Any]) -> Any:
        unknown = False
        for program in arguments:
            value = as_logical(program(row))
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return run
