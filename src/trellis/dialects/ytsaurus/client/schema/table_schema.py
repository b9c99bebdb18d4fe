"""Schemas of tables as scripts build them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trellis.dialects.ytsaurus.client.schema.row_types import field_types, type_of
from trellis.dialects.ytsaurus.client.values import YsonList, from_python, to_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import read_columns
from trellis.dialects.ytsaurus.types.document import parse_type, type_document
from trellis.dialects.ytsaurus.types.model import ANY, PRIMITIVES, Type
from trellis.dialects.ytsaurus.types.simple import type_of_simple
from trellis.dialects.ytsaurus.yson.values import split_attributes, to_key


@dataclass(frozen=True)
class SortColumn:
    """A column to sort by."""

    name: str
    sort_order: str = "ascending"

    def to_yson_type(self) -> Any:
        return {"name": self.name, "sort_order": self.sort_order}


@dataclass(frozen=True)
class ColumnSchema:
    name: str
    type: Type
    sort_order: str | None = None
    lock: str | None = None
    group: str | None = None
    aggregate: str | None = None
    expression: str | None = None

    def to_yson_type(self) -> dict[str, Any]:
        """Its type as type_v3 alone."""
        column: dict[str, Any] = {"name": self.name, "type_v3": type_document(self.type)}
        for name in ("sort_order", "lock", "group", "aggregate", "expression"):
            if getattr(self, name) is not None:
                column[name] = getattr(self, name)
        return column


class TableSchema:
    """
    >>> schema = TableSchema().add_column("k", "string", sort_order="ascending").add_column("v", int)
    >>> [column.name for column in schema.columns]
    ['k', 'v']
    """

    def __init__(
        self, columns: Iterable[ColumnSchema] | None = None, strict: bool = True, unique_keys: bool = False
    ) -> None:
        self.columns = list(columns or ())
        self.strict = strict
        self.unique_keys = unique_keys

    def add_column(
        self,
        name: Any,
        type: Any = None,
        sort_order: str | None = None,
        lock: str | None = None,
        group: str | None = None,
        aggregate: str | None = None,
        expression: str | None = None,
    ) -> TableSchema:
        """Add a column; its type is a name or document of type_v3, or the annotation of a field."""
        if isinstance(name, ColumnSchema):
            self.columns.append(name)
            return self
        column = ColumnSchema(name, _type(type), sort_order, lock, group, aggregate, expression)
        self.columns.append(column)
        return self

    @classmethod
    def from_row_type(cls, row_type: type, strict: bool = True, unique_keys: bool = False) -> TableSchema:
        """The columns of the fields of a dataclass."""
        columns = [
            ColumnSchema(name, type_of(annotation)) for name, annotation in field_types(row_type).items()
        ]
        return cls(columns, strict, unique_keys)

    @classmethod
    def from_yson_type(cls, document: Any) -> TableSchema:
        """Raises YtError."""
        reading = read_columns(from_python(document))
        if reading.faults:
            raise YtError(f"the schema is not valid: {reading.faults[0]}")
        columns = [
            ColumnSchema(
                *(column.name, column.type, column.sort_order, column.lock, column.group),
                *(column.aggregate, column.expression),
            )
            for column in reading.schema.columns
        ]
        return cls(columns, reading.schema.strict, reading.schema.unique_keys)

    def to_yson_type(self) -> YsonList:
        document = YsonList(column.to_yson_type() for column in self.columns)
        document.attributes = {"strict": self.strict, "unique_keys": self.unique_keys}
        return document

    def build_schema_sorted_by(self, sort_columns: Any) -> TableSchema:
        """The same columns, with those that are sorted by first; the others keep their order."""
        names = [sort_columns] if isinstance(sort_columns, str | SortColumn) else list(sort_columns)
        keys = [item if isinstance(item, SortColumn) else SortColumn(item) for item in names]
        by_name = {column.name: column for column in self.columns}
        missing = [key.name for key in keys if key.name not in by_name]
        if missing:
            raise YtError(f"the schema has no column {missing[0]} to sort by")
        key_names = {key.name for key in keys}
        columns = [replace(by_name[key.name], sort_order=key.sort_order) for key in keys]
        columns += [
            replace(column, sort_order=None) for column in self.columns if column.name not in key_names
        ]
        old_keys = {column.name for column in self.columns if column.sort_order}
        return TableSchema(columns, self.strict, self.unique_keys and old_keys <= key_names)

    def is_empty_nonstrict(self) -> bool:
        return not self.columns and not self.strict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSchema) and from_python(self) == from_python(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TableSchema({to_python(from_python(self))})"


def _type(type: Any) -> Type:
    """Raises YtError."""
    plain, _ = split_attributes(type)
    if isinstance(plain, Type):
        return plain
    if isinstance(plain, str | bytes):
        name = to_key(plain)
        if name == "any":
            return ANY
        return parse_type(name) if name in PRIMITIVES else type_of_simple(name, True)
    if isinstance(plain, Mapping):
        return parse_type(plain)
    return type_of(plain)
