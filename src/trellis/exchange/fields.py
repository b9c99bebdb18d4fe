"""Columns with the types of the values nested in them, for formats that have nested types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from trellis.engine.arrow.nested_types import is_list, nested_type
from trellis.engine.arrow.types import column_type
from trellis.schema.model import Column, Schema, Table


@dataclass(frozen=True)
class ListOf:
    element: Field


@dataclass(frozen=True)
class MapOf:
    key: Field
    value: Field


@dataclass(frozen=True)
class StructOf:
    fields: tuple[Field, ...]


Nested = ListOf | MapOf | StructOf


@dataclass(frozen=True)
class Field:
    """A column, or a part of nested values; `nested` is the type of what are lists, maps or structs."""

    column: Column
    nested: Nested | None = None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def required(self) -> bool:
        return self.column.required

    def renamed(self, name: str) -> Field:
        return replace(self, column=replace(self.column, name=name))


def only_table(schema: Schema) -> Table:
    """The table of a schema that has one."""
    (table,) = schema.tables.values()
    return table


def fields_of(table: Table) -> tuple[Field, ...]:
    """The columns of known types. Raises SchemaError for a damaged type of nested values."""
    return tuple(_of_column(column) for column in table.complete_columns)


def _of_column(column: Column) -> Field:
    type_ = nested_type(column)
    return Field(column) if type_ is None else replace(_of_arrow(column.name, type_), column=column)


def _of_arrow(name: str, type_: pa.DataType) -> Field:
    column = Column(name, "json", nullable=True)
    if pa.types.is_struct(type_):
        return Field(column, StructOf(tuple(_of_arrow(part.name, part.type) for part in type_)))
    if pa.types.is_map(type_):
        key = _of_arrow("key", type_.key_type)
        key = replace(key, column=replace(key.column, nullable=False))
        return Field(column, MapOf(key, _of_arrow("value", type_.item_type)))
    if is_list(type_):
        return Field(column, ListOf(_of_arrow("element", type_.value_type)))
    known = column_type(type_)
    if known is None:
        return Field(column)
    is_naive = pa.types.is_timestamp(type_) and type_.tz is None
    leaf = replace(column, data_type=known.data_type, precision=known.precision, scale=known.scale)
    return Field(replace(leaf, timezone=False) if is_naive else leaf)


def tables_of(table: Table, fields: Iterable[Field]) -> Iterator[Table]:
    """The table with its fields, and the tables below it: those of lists. Members of structs are columns.

    Maps, whose keys are not known, stay JSON.
    """
    leaves = [*_flatten(fields)]
    lists = [(leaf, leaf.nested.element) for leaf in leaves if isinstance(leaf.nested, ListOf)]
    columns = {leaf.name: leaf.column for leaf in leaves if not isinstance(leaf.nested, ListOf)}
    yield replace(table, columns=columns)
    for leaf, element in lists:
        child = Table(f"{table.name}__{leaf.name}", parent=table.name, description=leaf.column.description)
        if isinstance(element.nested, StructOf):
            yield from tables_of(child, element.nested.fields)
        else:
            name = "list" if isinstance(element.nested, ListOf) else "value"
            yield from tables_of(child, (element.renamed(name),))


def _flatten(fields: Iterable[Field], path: str = "", required: bool = True) -> Iterator[Field]:
    for field in fields:
        name, is_required = f"{path}{field.name}", required and field.required
        if isinstance(field.nested, StructOf):
            yield from _flatten(field.nested.fields, f"{name}__", is_required)
        else:
            nullable = field.column.nullable if required else True
            yield Field(replace(field.column, name=name, nullable=nullable), field.nested)
