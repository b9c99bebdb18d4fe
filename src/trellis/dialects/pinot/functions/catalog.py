"""Every function that an expression may call, and the names of functions that are not implemented."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.functions import casts, date_time, json_values, numbers, points, strings
from trellis.dialects.pinot.functions.json_values import UnsupportedPath, read_path
from trellis.dialects.pinot.functions.not_implemented import PRIMITIVE_ARRAYS, UNSUPPORTED
from trellis.dialects.pinot.functions.registry import Function
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Expression, Literal, canonical, nodes
from trellis.errors import nearest


def _functions() -> Mapping[str, tuple[Function, ...]]:
    functions: dict[str, tuple[Function, ...]] = {}
    for theme in (casts, date_time, json_values, numbers, points, strings):
        for function in theme.FUNCTIONS:
            for name in map(canonical, function.names):
                functions[name] = (*functions.get(name, ()), function)
    return functions


FUNCTIONS: Final[Mapping[str, tuple[Function, ...]]] = _functions()
"""By canonical name; several of one name differ in their parameters.

`and` and `or` are not here: they need not evaluate all their arguments.
"""
_INSTEAD: Final = (
    "let Pinot's own classes do it with --option functions=pinot-jars, or compute its result before the load"
)
_NAMES: Final = sorted(
    {name for functions in FUNCTIONS.values() for function in functions for name in function.names}
)


class UnsupportedFunction(ExpressionError):
    """A function of Pinot that Trellis does not implement, so its use could not be checked."""


def function_of(name: str, count: int) -> Function:
    """The function of a name that takes so many arguments. Raises ExpressionError.

    >>> function_of("to_date_time", 2).names
    ('toDateTime',)
    >>> function_of("lowr", 1)
    Traceback (most recent call last):
    trellis...ExpressionError: unknown function lowr: did you mean 'lower'?
    """
    key = canonical(name)
    spelling = PRIMITIVE_ARRAYS.get(key) or UNSUPPORTED.get(key)
    if spelling is not None:
        raise UnsupportedFunction(f"Trellis does not carry out Pinot's function {spelling}: {_INSTEAD}")
    functions = FUNCTIONS.get(key)
    if functions is None:
        hint = nearest(name[:60], _NAMES)
        hint = hint if hint.startswith(": did") else ""
        raise ExpressionError(f"unknown function {name[:60]}{hint}")
    for function in functions:
        if function.accepts(count):
            if function.package and find_spec(function.package) is None:
                raise UnsupportedFunction(
                    f"{function.names[0]} needs the package {function.package}:"
                    f" pip install 'trellis-spark[{function.package}]'"
                )
            return function
    counts = _accepted_counts(functions)
    noun = "argument" if counts == "1" else "arguments"
    raise ExpressionError(f"{functions[0].names[0]} takes {counts} {noun}, not {count}")


def check_calls(expression: Expression) -> None:
    """Raises ExpressionError for a call that Pinot refuses, else UnsupportedFunction if one is."""
    unsupported: UnsupportedFunction | None = None
    for node, _ in nodes(expression):
        if isinstance(node, Call) and node.name not in ("and", "or"):
            try:
                function_of(node.name, len(node.arguments))
                _check_path(node)
            except UnsupportedFunction as error:
                unsupported = unsupported or error
    if unsupported is not None:
        raise unsupported


def _check_path(call: Call) -> None:
    """Raises UnsupportedFunction for a constant JSON path that Trellis does not follow."""
    if call.name.startswith("jsonpath") and isinstance(call.arguments[1], Literal):
        try:
            read_path(str(call.arguments[1].value))
        except UnsupportedPath as error:
            raise UnsupportedFunction(f"{error}: {_INSTEAD}") from None


def array_sentence(expression: Expression, data_type: PinotType) -> str:
    """Why a column of the type cannot hold the value of the expression; empty where it can."""
    function = PRIMITIVE_ARRAYS.get(expression.name) if isinstance(expression, Call) else None
    if function is None or data_type is PinotType.JSON:
        return ""
    effect = "the row fails, or the value is null with continueOnError"
    if data_type is PinotType.STRING:
        effect = "the text becomes that of a Java object, such as [I@1f2e3d"
    return (
        f"{function} returns a primitive array, which Pinot cannot store in a column of {data_type.value}:"
        f" {effect}. Compute the column before the load"
    )


def _accepted_counts(functions: tuple[Function, ...]) -> str:
    counts = {
        str(count)
        for function in functions
        for count in range(function.min_arguments, (function.max_arguments or function.min_arguments) + 1)
    }
    return " or ".join(sorted(counts))
