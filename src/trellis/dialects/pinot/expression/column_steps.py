"""Expressions that apply one function after another to one field, as steps for whole columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from trellis.dialects.pinot.date_time.units import to_millis
from trellis.dialects.pinot.grammar.tree import Call, Column, Expression, Literal
from trellis.evolution.columnar_transform import Divide, ReadTime, Step, Times, WriteTime

_EPOCH: Final = re.compile("(to|from)epoch(seconds|minutes|hours|days)(.*)")


def column_steps(expression: Expression) -> tuple[Step, ...]:
    """The steps from the field of an expression to its value; empty for other expressions.

    >>> from trellis.dialects.pinot.grammar.parser import parse
    >>> column_steps(parse("toEpochDays(fromDateTime(day, 'yyyy-MM-dd'))"))
    (ReadTime(pattern='yyyy-MM-dd'), Divide(by=86400000))
    """
    steps: list[Step] = []
    while isinstance(expression, Call):
        first, *others = expression.arguments or (Literal(None),)
        constants = [argument.value for argument in others if isinstance(argument, Literal)]
        call_steps = _steps(expression.name, constants) if len(constants) == len(others) else []
        if not call_steps:
            return ()
        steps = [*call_steps, *steps]
        expression = first
    return tuple(steps) if isinstance(expression, Column) else ()


def _steps(name: str, constants: Sequence[Any]) -> list[Step]:
    """The steps of a function on its first argument; empty where it has none."""
    match name, constants:
        case "fromdatetime", [str() as pattern] | [str() as pattern, "UTC"]:
            return [ReadTime(pattern)]
        case "todatetime", [str() as pattern] | [str() as pattern, "UTC"]:
            return [WriteTime(pattern)]
        case "round", [int() as size] if size > 0:
            return [Divide(size), Times(size)]
        case _:
            return _epoch_steps(name, constants)


def _epoch_steps(name: str, constants: Sequence[Any]) -> list[Step]:
    match = _EPOCH.fullmatch(name)
    if not match:
        return []
    length, to_epoch = to_millis(1, match[2].upper()), match[1] == "to"
    match match[3], constants:
        case "", []:
            return [Divide(length)] if to_epoch else [Times(length)]
        case "bucket", [int() as size] if size > 0:
            return [Divide(length), Divide(size)] if to_epoch else [Times(size), Times(length)]
        case "rounded", [int() as size] if size > 0 and to_epoch:
            return [Divide(length), Divide(size), Times(size)]
        case _:
            return []
