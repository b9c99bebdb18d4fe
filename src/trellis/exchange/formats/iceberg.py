"""Iceberg: the schema of a table as JSON, as its metadata has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from trellis.errors import SchemaError
from trellis.exchange.fields import Field, ListOf, MapOf, StructOf, fields_of, only_table
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.model import Column, DataType, Schema, is_single, number_size
from trellis.schema.personal_data import comment_of

Node = Any
_MAX_PRECISION: Final = 38
_TYPES: Final[Mapping[DataType, str]] = {
    "text": "string",
    "bool": "boolean",
    "date": "date",
    "time": "time",
    "binary": "binary",
    "json": "string",
}


def write_iceberg(schema: Schema) -> str:
    table = only_table(schema)
    fields = fields_of(table)
    struct = _Numbering().struct(fields)
    keys = [
        member["id"]
        for member, field in zip(struct["fields"], fields, strict=True)
        if field.column.hint("primary_key") and field.required
    ]
    document = {"schema-id": 0, **struct, "identifier-field-ids": keys}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


class _Numbering:
    """Numbers the fields, those of a struct before what is nested in them."""

    def __init__(self) -> None:
        self._ids = count(1)

    def struct(self, fields: tuple[Field, ...]) -> dict[str, Node]:
        ids = [next(self._ids) for _ in fields]
        members = [self._member(id_, field) for id_, field in zip(ids, fields, strict=True)]
        return {"type": "struct", "fields": members}

    def _member(self, id_: int, field: Field) -> Node:
        member = {"id": id_, "name": field.name, "required": field.required, "type": self._type(field)}
        return {**member, "doc": comment} if (comment := comment_of(field.column)) else member

    def _type(self, field: Field) -> Node:
        match field.nested:
            case ListOf(element):
                part = {"element-id": next(self._ids), "element-required": element.required}
                return {"type": "list", **part, "element": self._type(element)}
            case MapOf(key, value):
                ids = {"key-id": next(self._ids), "value-id": next(self._ids)}
                types = {"key": self._type(key), "value": self._type(value)}
                return {"type": "map", **ids, "value-required": value.required, **types}
            case StructOf(fields):
                return self.struct(fields)
        return _leaf_type(field.column)


def _leaf_type(column: Column) -> str:
    match column.data_type:
        case "double":
            return "float" if is_single(column) else "double"
        case "bigint":
            bits = column.precision or 64
            return "int" if bits <= 32 else "long" if bits <= 64 else f"decimal({_MAX_PRECISION}, 0)"
        case "timestamp":
            nanos = "_ns" if (column.precision or 0) > 6 else ""
            return f"timestamp{nanos}" if column.timezone is False else f"timestamptz{nanos}"
        case "decimal" | "wei":
            default = (_MAX_PRECISION, 9 if column.data_type == "decimal" else 0)
            precision, scale = number_size(column, default)
            return f"decimal({precision}, {scale})" if precision <= _MAX_PRECISION else "string"
        case None:
            raise SchemaError(f"column {column.name} has no type yet")
    return _TYPES[column.data_type]


ICEBERG: Final = SchemaFormat(
    "iceberg",
    "Iceberg",
    ".iceberg.json",
    write_iceberg,
    keeps=frozenset({"required", "primary key", "description", "time zone", "nested types"}),
    sizes=frozenset({"double", "timestamp", "decimal", "wei"}),
    other_types={"json": "string", "wei": "decimal"},
    one_table=True,
)
