"""Enrichers, transforms and filters of a table: their arguments, their order, and what they do to rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from trellis.dialects.pinot.date_time.units import to_millis
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.expression.compiler import FAILURES, CompiledExpression, compile_expression
from trellis.dialects.pinot.functions.registry import FunctionError, as_text
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Column, Expression, Literal, arguments
from trellis.dialects.pinot.table.config import EnricherConfig, TableConfig
from trellis.dialects.pinot.value.json_text import utf16_key
from trellis.errors import SchemaError
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


KEYS: Final = "__KEYS"
VALUES: Final = "__VALUES"


@dataclass(frozen=True)
class Transform:
    """The computation of one column, and the fields it reads."""

    column: str
    program: CompiledExpression
    arguments: frozenset[str]
    steps: tuple[Step, ...] = ()
    """The steps on its one argument for whole columns, if it consists of such steps."""


def order_transforms(
    schema: PinotSchema, table: TableConfig, pinot_jars: bool = False
) -> tuple[Transform, ...]:
    """The transforms of a table, each after those whose columns it reads. Raises SchemaError.

    A transform of the table config beats that of the schema. A column `X__KEYS` or `X__VALUES` without one
    holds the keys or values of the map X. With `pinot_jars` Pinot computes what is not implemented here.
    """
    texts: dict[str, str | None] = dict(table.transforms)
    for spec in sorted(schema.specs(), key=lambda spec: spec.name):
        if not spec.virtual:
            texts.setdefault(spec.name, spec.transform)
    transforms = (
        _declared_transform(column, text, pinot_jars) if text else _map_transform(column)
        for column, text in texts.items()
    )
    return _topological_order({transform.column: transform for transform in transforms if transform})


def _declared_transform(column: str, text: str, pinot_jars: bool) -> Transform:
    expression, program = _compile(text, f"transform function of column {column}", pinot_jars)
    return Transform(column, program, arguments(expression), column_steps(expression))


def _compile(text: str, noun: str, pinot_jars: bool) -> tuple[Expression, CompiledExpression]:
    """An expression as it is read and as it is computed. Raises SchemaError, with what it is of."""
    try:
        expression = parse(text)
        return expression, compile_expression(expression, text, pinot_jars)
    except ExpressionError as error:
        raise SchemaError(f"{noun}: {error}") from None


def _map_transform(column: str) -> Transform | None:
    for place, suffix in enumerate((KEYS, VALUES)):
        field = column.removesuffix(suffix)
        if field and field != column:
            return Transform(column, partial(_elements, field, place), frozenset({field}))
    return None


def _elements(field: str, place: int, row: Mapping[str, Any]) -> list[Any] | None:
    """The keys (place 0) or the values (1) of a map in the order of its keys; None where there is no map."""
    value = row.get(field)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise FunctionError(f"a map is expected, not a value of class {value.__class__.__name__}")
    of_numbers = all(isinstance(key, int | float) for key in value)
    items = sorted(value.items(), key=lambda item: item[0] if of_numbers else utf16_key(as_text(item[0])))
    return [item[place] for item in items]


def _topological_order(transforms: Mapping[str, Transform]) -> tuple[Transform, ...]:
    graph = {
        column: sorted(transform.arguments & transforms.keys()) for column, transform in transforms.items()
    }
    try:
        return tuple(transforms[column] for column in TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = error.args[1]
        first = next(column for column in transforms if column in cycle)
        reason = f"Expression cycle found for column '{first}' in Ingestion Transform Function definitions"
        raise SchemaError(f"{reason}: {' <- '.join(cycle)}") from None


class RowFault(Exception):
    """A record that cannot be processed further: the batch stops, or the row is incomplete."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"column {column}: {reason}" if column else reason)
        self.column = column
        self.reason = reason
        self.kind = f"column {column}: cannot be stored" if column else "the filter cannot be computed"


class Transforms:
    """The transforms of a table. Raises SchemaError for an invalid function, a cycle and a script.

    `arguments` are the fields of the record that they read, besides each other's columns.
    """

    def __init__(self, schema: PinotSchema, table: TableConfig, pinot_jars: bool = False) -> None:
        self.order = order_transforms(schema, table, pinot_jars)
        self.arguments = frozenset().union(*(transform.arguments for transform in self.order))

    def apply(self, values: MutableMapping[str, Any], nulls: set[str]) -> list[RowFault]:
        """Compute the columns of a row in place; returns the errors of those that failed.

        A record may bring a column computed: a transform runs only where its column has no value, or has a
        list or map and the result is of another container. A column without a result is removed and marked
        null.
        """
        failures: list[RowFault] = []
        for transform in self.order:
            column = transform.column
            present = values.get(column)
            if present is not None and not isinstance(present, Mapping | list | tuple):
                continue
            try:
                result = evaluate(transform.program, values, column)
            except RowFault as error:
                if present is None:
                    failures.append(error)
                    _clear(values, nulls, column)
                continue
            if present is None and result is None:
                _clear(values, nulls, column)
            elif present is None or (result is not None and _container(result) is not _container(present)):
                values[column] = result
                nulls.discard(column)
        return failures


class Filter:
    """A filter function. Raises SchemaError where it cannot be read.

    >>> unusable = Filter("amount <= 0 OR country IS NULL")
    >>> unusable.drops({"amount": 5, "country": "de"}), unusable.drops({"amount": 0, "country": "de"})
    (False, True)
    """

    def __init__(self, text: str, pinot_jars: bool = False) -> None:
        expression, self.program = _compile(text, "filter function", pinot_jars)
        self.arguments = arguments(expression)

    def drops(self, values: Mapping[str, Any]) -> bool:
        """Whether the row is dropped: the function is true. Null and false keep it. Raises RowFault."""
        return evaluate(self.program, values, noun="filter: ") is True


def evaluate(program: CompiledExpression, values: Mapping[str, Any], column: str = "", noun: str = "") -> Any:
    """The value of an expression for a row. Raises RowFault only; its reason begins with the noun."""
    try:
        return program(values)
    except FAILURES as error:
        reason = str(error) or f"{error.__class__.__name__} in the expression"
        raise RowFault(column, noun + reason) from None


def _clear(values: MutableMapping[str, Any], nulls: set[str], column: str) -> None:
    values.pop(column, None)
    nulls.add(column)


def _container(value: Any) -> type[Any]:
    if isinstance(value, Mapping):
        return dict
    return list if isinstance(value, list | tuple) else object


class Enrichers:
    """The functions of fields before or after flattening, in order. Raises SchemaError for an invalid one.

    >>> config = EnricherConfig((("b", "upper(a)"), ("c", "concat(a, b, '-')")))
    >>> enrichers = Enrichers([config], before_flattening=False)
    >>> enrichers.apply(record := {"a": "x", "b": "old"})
    >>> record
    {'a': 'x', 'b': 'X', 'c': 'x-X'}
    """

    def __init__(
        self, configs: Iterable[EnricherConfig], before_flattening: bool, pinot_jars: bool = False
    ) -> None:
        self.programs = []
        self.arguments: set[str] = set()
        chosen = [config for config in configs if config.before_flattening is before_flattening]
        for field, text in (pair for config in chosen for pair in config.functions):
            expression, program = _compile(text, f"enrichment of {field} by '{text}'", pinot_jars)
            self.programs.append((field, program))
            self.arguments |= arguments(expression)

    def apply(self, values: MutableMapping[str, Any]) -> None:
        """Compute the fields, over what the record has. Raises RowFault."""
        for field, program in self.programs:
            values[field] = evaluate(program, values, field, "enrichment: ")
