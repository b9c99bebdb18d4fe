"""The computed columns of a table, their arguments, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import conversion_transform
from trellis.dialects.pinot.expression.column_steps import column_steps
from trellis.dialects.pinot.expression.compiler import CompiledExpression, compile_expression
from trellis.dialects.pinot.functions.registry import FunctionError, as_text
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import arguments
from trellis.dialects.pinot.table.config import TableConfig
from trellis.dialects.pinot.value.json_text import utf16_key
from trellis.errors import SchemaError
from trellis.evolution.columnar_transform import Step

KEYS: Final = "__KEYS"
VALUES: Final = "__VALUES"


def keys_of(value: Any) -> list[Any] | None:
    """The keys of a map in order; None where there is no map.

    >>> keys_of({"b": 1, "a": 2}), values_of({"b": 1, "a": 2})
    (['a', 'b'], [2, 1])
    """
    return None if value is None else [key for key, _ in _items(value)]


def values_of(value: Any) -> list[Any] | None:
    """The values of a map in the order of its keys; None where there is no map."""
    return None if value is None else [element for _, element in _items(value)]


def _items(value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise FunctionError(f"a map is expected, not a value of class {value.__class__.__name__}")
    if all(isinstance(key, int | float) for key in value):
        return sorted(value.items())
    return sorted(value.items(), key=lambda item: utf16_key(as_text(item[0])))


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
    transforms: dict[str, Transform] = {}
    for column, text in table.transforms:
        if column in transforms:
            raise SchemaError(f"Cannot set more than one transform function on column: {column}.")
        transforms[column] = _declared_transform(column, text, pinot_jars)
    for column, declared in _schema_transforms(schema).items():
        if column not in transforms:
            transform = (
                _declared_transform(column, declared, pinot_jars) if declared else _map_transform(column)
            )
            if transform is not None:
                transforms[column] = transform
    return _topological_order(transforms)


def _schema_transforms(schema: PinotSchema) -> dict[str, str | None]:
    """The columns of a schema in the order of their names, with their transforms."""
    declared = {spec.name: spec.transform for spec in schema.specs() if not spec.virtual}
    if schema.time is not None:
        declared[schema.time.column.name] = schema.time.transform or conversion_transform(schema.time)
    return dict(sorted(declared.items()))


def _declared_transform(column: str, text: str, pinot_jars: bool) -> Transform:
    try:
        expression = parse(text)
        program = compile_expression(expression, text, pinot_jars)
        return Transform(column, program, arguments(expression), column_steps(expression))
    except ExpressionError as error:
        raise SchemaError(f"transform function of column {column}: {error}") from None


_MAPS: Final = {KEYS: keys_of, VALUES: values_of}


def _map_transform(column: str) -> Transform | None:
    for suffix, elements_of in _MAPS.items():
        field = column.removesuffix(suffix)
        if field and field != column:

            def program(row: Mapping[str, Any], field: str = field, elements_of: Any = elements_of) -> Any:
                return elements_of(row.get(field))

            return Transform(column, program, frozenset({field}))
    return None


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
