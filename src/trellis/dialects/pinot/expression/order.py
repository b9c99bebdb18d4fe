"""Which columns are computed, from what, and in which order (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy import conversion
from trellis.dialects.pinot.expression.chain import chain_of
from trellis.dialects.pinot.expression.grammar import ExpressionError, arguments, parse
from trellis.dialects.pinot.expression.map_columns import KEYS, VALUES, keys_of, values_of
from trellis.dialects.pinot.expression.program import Program, compiled
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import SchemaError
from trellis.evolution.vector import Step


@dataclass(frozen=True)
class Transform:
    """How one column is computed, and from which fields."""

    column: str
    program: Program
    arguments: frozenset[str]
    steps: tuple[Step, ...] = ()
    """What it does to its one argument, for whole columns, where that can be said."""


def ordered(schema: PinotSchema, table: TableConfig) -> tuple[Transform, ...]:
    """The transforms of a table, each after those whose columns it reads. Raises SchemaError.

    A transform of the table config beats that of the schema. A column `X__KEYS` or `X__VALUES` without one
    holds the keys or values of the map X.
    """
    found: dict[str, Transform] = {}
    for column, text in table.transforms:
        if column in found:
            raise SchemaError(f"Cannot set more than one transform function on column: {column}.")
        found[column] = _written(column, text)
    for column, declared in _declared(schema).items():
        if column not in found:
            made = _written(column, declared) if declared else _implicit(column)
            if made is not None:
                found[column] = made
    return _sorted(found)


def _declared(schema: PinotSchema) -> dict[str, str | None]:
    """The columns of a schema in the order of their names, with their transforms."""
    made = {spec.name: spec.transform for spec in schema.specs() if not spec.virtual}
    if schema.time is not None:
        made[schema.time.column.name] = schema.time.transform or conversion(schema.time)
    return dict(sorted(made.items()))


def _written(column: str, text: str) -> Transform:
    try:
        expression = parse(text)
        return Transform(column, compiled(expression), arguments(expression), chain_of(expression))
    except ExpressionError as wrong:
        raise SchemaError(f"transform function of column {column}: {wrong}") from None


_MAPS: Final = {KEYS: keys_of, VALUES: values_of}


def _implicit(column: str) -> Transform | None:
    for suffix, take in _MAPS.items():
        field = column.removesuffix(suffix)
        if field and field != column:

            def program(row: Mapping[str, Any], field: str = field, take: Any = take) -> Any:
                return take(row.get(field))

            return Transform(column, program, frozenset({field}))
    return None


def _sorted(found: Mapping[str, Transform]) -> tuple[Transform, ...]:
    needed = {column: sorted(each.arguments & found.keys()) for column, each in found.items()}
    try:
        return tuple(found[column] for column in TopologicalSorter(needed).static_order())
    except CycleError as wrong:
        cycle = wrong.args[1]
        first = next(column for column in found if column in cycle)
        where = f"Expression cycle found for column '{first}' in Ingestion Transform Function definitions"
        raise SchemaError(f"{where}: {' <- '.join(cycle)}") from None
