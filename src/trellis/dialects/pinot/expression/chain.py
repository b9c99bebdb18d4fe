"""Expressions that do one thing after the other to one field, as steps for whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.dialects.pinot.expression.epoch_functions import UNITS
from trellis.dialects.pinot.expression.tree import Call, Column, Expression, Literal
from trellis.evolution.vector import Divide, ReadTime, Step, Times, WriteTime

_LENGTHS: Final[Mapping[str, int]] = {unit.lower(): length for unit, length in UNITS.items()}


def chain_of(expression: Expression) -> tuple[Step, ...]:
    """The steps from the field of an expression to its value; empty where it is no such chain.

    >>> from trellis.dialects.pinot.expression.grammar import parse
    >>> chain_of(parse("toEpochDays(fromDateTime(day, 'yyyy-MM-dd'))"))
    (ReadTime(pattern='yyyy-MM-dd'), Divide(by=86400000))
    """
    steps: list[Step] = []
    while isinstance(expression, Call):
        first, *others = expression.arguments or (Literal(None),)
        if not all(isinstance(each, Literal) for each in others):
            return ()
        said = _steps(expression.name, [each.value for each in others if isinstance(each, Literal)])
        if not said:
            return ()
        steps = [*said, *steps]
        expression = first
    return tuple(steps) if isinstance(expression, Column) else ()


def _steps(name: str, others: Sequence[Any]) -> list[Step]:
    """What a function does to its first argument; nothing where that is not known."""
    match name, others:
        case "fromdatetime", [str() as pattern] | [str() as pattern, "UTC"]:
            return [ReadTime(pattern)]
        case "todatetime", [str() as pattern] | [str() as pattern, "UTC"]:
            return [WriteTime(pattern)]
        case "round", [int() as size] if size > 0:
            return [Divide(size), Times(size)]
        case _:
            return _epoch(name, others)


def _epoch(name: str, others: Sequence[Any]) -> list[Step]:
    to = name.startswith("toepoch")
    unit = next(
        (
            each
            for each in _LENGTHS
            if name.removeprefix("toepoch").removeprefix("fromepoch").startswith(each)
        ),
        "",
    )
    if not unit or not name.startswith(("toepoch", "fromepoch")):
        return []
    length, rest = _LENGTHS[unit], name.partition(unit)[2]
    match rest, others:
        case "", []:
            return [Divide(length)] if to else [Times(length)]
        case "bucket", [int() as size] if size > 0:
            return [Divide(length), Divide(size)] if to else [Times(size), Times(length)]
        case "rounded", [int() as size] if size > 0 and to:
            return [Divide(length), Divide(size), Times(size)]
        case _:
            return []
