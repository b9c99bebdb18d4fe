"""The table of a load inside the schema of a dataset: its path, schema and mode, and its staged columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import read_columns, schema_document
from trellis.dialects.ytsaurus.schema.model import Column, SchemaMode, TableSchema
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.primitives import RANGES
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import to_bytes
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.schema import model as trellis_model

TARGET: Final = "x-yt"
"""The hint of a table of a dataset that says which table of YTsaurus it is."""
CURRENT: Final = "x-yt-table"
"""The key of the schema of a dataset that names the table of the newest load."""
UNDECLARED: Final = "$undeclared"
"""The staged column of what the schema does not declare: a map, in YSON."""
_POPULATED: Final = {"x-normalizer": {"seen-data": True}}
"""A table stays in the schema of its dataset, also if a load brings no rows."""
OnError = Literal["refuse", "reject"]

_INTEGERS: Final = {
    "int8": 8,
    "int16": 16,
    "int32": 32,
    "uint8": 16,
    "uint16": 32,
    "date": 32,
    "date32": 32,
}
"""Bits of a signed integer that holds the values, where it needs no 64."""


@dataclass(frozen=True)
class TargetTable:
    """A table that loads write."""

    name: str
    """What the user calls it: its path, or a name in `//home`."""
    schema: TableSchema
    mode: SchemaMode
    on_error: OnError = "refuse"
    """Whether a row that does not fit refuses the load, or is rejected."""

    @property
    def path(self) -> str:
        return path_of(self.name)

    def to_table(self, table: trellis_model.Table) -> trellis_model.Table:
        """The table of the dataset with the columns that are staged."""
        document = {
            "schema": dumps(schema_document(self.schema)).decode(),
            "mode": self.mode,
            "on_error": self.on_error,
        }
        columns = [staged_column(column) for column in self.schema.columns]
        if not self.schema.strict:
            columns.append(trellis_model.Column(UNDECLARED, "binary", nullable=True))
        named = replace(table, columns={column.name: column for column in columns})
        return named.with_hints(**{TARGET: document, **_POPULATED})


def path_of(name: str) -> str:
    """
    >>> path_of("events"), path_of("//tmp/events")
    ('//home/events', '//tmp/events')
    """
    return name if name.startswith("//") else f"//home/{name}"


def find_target(schema: trellis_model.Schema, name: str) -> TargetTable | None:
    """The table of a dataset with this name, if it is one of YTsaurus."""
    table = schema.tables.get(name)
    document = table.hints.get(TARGET) if table is not None else None
    if document is None:
        return None
    return TargetTable(
        name, read_columns(loads(document["schema"])).schema, document["mode"], document["on_error"]
    )


def current_target(schema: trellis_model.Schema) -> TargetTable | None:
    """The table that the newest load wrote, or that the load at hand writes."""
    return find_target(schema, str(schema.extra.get(CURRENT, "")))


def with_target(schema: trellis_model.Schema, target: TargetTable) -> trellis_model.Schema:
    """The schema of a dataset whose load writes this table."""
    name = target.name
    table = schema.tables.get(name) or trellis_model.Table(name).with_hints(
        write_disposition="append", resource=name
    )
    extra = MappingProxyType({**schema.extra, CURRENT: name})
    return replace(schema, extra=extra).with_tables(target.to_table(table))


def staged_column(column: Column) -> trellis_model.Column:
    """The column as files wait in until they are committed. Every value comes back from it as it was."""
    name = plain_name(column.type)
    match name:
        case "uint64":
            return trellis_model.Column(column.name, "decimal", nullable=True, precision=20, scale=0)
        case "utf8" | "json":
            return trellis_model.Column(column.name, "text", nullable=True)
        case "bool" | "null" | "void":
            return trellis_model.Column(column.name, "bool", nullable=True)
        case "float" | "double":
            return trellis_model.Column(column.name, "double", nullable=True)
    if name is None or name not in RANGES:
        return trellis_model.Column(column.name, "binary", nullable=True)
    return trellis_model.Column(column.name, "bigint", nullable=True, precision=_INTEGERS.get(name))


def value_stager(column: Column) -> Callable[[Any], Any]:
    """What makes valid values those of the staged column."""
    name = plain_name(column.type)
    match name:
        case None:
            return lambda value: dumps(value, yson_format="binary")
        case "uint64":
            return lambda value: Decimal(int(value))
        case "utf8" | "json":
            return lambda value: to_bytes(value).decode()
    return int if name in RANGES else lambda value: value


def row_stager(schema: TableSchema) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What makes valid rows the values of the staged columns. Raises YtError for what YSON does not have."""
    stagers = {column.name: value_stager(column) for column in schema.columns}

    def stage(row: Mapping[str, Any]) -> dict[str, Any]:
        staged, undeclared = dict[str, Any](), dict[str, Any]()
        for name, value in row.items():
            if name not in stagers:
                undeclared[name] = value
                continue
            try:
                staged[name] = stagers[name](value)
            except YtError as error:
                raise error.in_column(name) from None
        if undeclared:
            staged[UNDECLARED] = dumps(undeclared, yson_format="binary")
        return staged

    return stage
