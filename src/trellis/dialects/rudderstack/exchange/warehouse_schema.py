"""Tables of any schema as RudderStack keeps those of a warehouse: a type for each column of each table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.providers import NEUTRAL, Neutral
from trellis.errors import SchemaError, nearest
from trellis.schema.documents.schema_format import Reading, SchemaFormat
from trellis.schema.model import Column, DataType, Schema, Table

_TYPES: Final[Mapping[DataType, Neutral]] = {
    "text": "string",
    "double": "float",
    "bool": "boolean",
    "timestamp": "datetime",
    "date": "datetime",
    "time": "string",
    "bigint": "int",
    "binary": "string",
    "json": "json",
    "decimal": "float",
    "wei": "float",
}
_COLUMNS: Final[Mapping[str, DataType]] = {
    "int": "bigint",
    "bigint": "bigint",
    "float": "double",
    "boolean": "bool",
    "datetime": "timestamp",
    "string": "text",
    "text": "text",
    "json": "json",
}


def _write(schema: Schema) -> str:
    document = {
        table.name: {column.name: _type(column) for column in table.complete_columns}
        for table in schema.tables.values()
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _type(column: Column) -> Neutral:
    assert column.data_type is not None
    return _TYPES[column.data_type]


def _read(document: Any, name: str) -> Reading:
    if not isinstance(document, dict) or not all(isinstance(types, dict) for types in document.values()):
        raise SchemaError(f'{name}: a warehouse schema is {{"TABLE": {{"COLUMN": "TYPE"}}}}')
    tables = {table: Table(table, _columns(name, table, types)) for table, types in document.items()}
    return Reading(Schema(name, {name: table.with_defaults() for name, table in tables.items()}))


def _columns(where: str, table: str, types: Mapping[str, Any]) -> dict[str, Column]:
    for name, type_ in types.items():
        if type_ not in NEUTRAL:
            raise SchemaError(
                f"{where}: {table}.{name} has no type {type_!r} in RudderStack{nearest(str(type_), NEUTRAL)}"
            )
    return {name: Column(name, _COLUMNS[type_], nullable=True) for name, type_ in types.items()}


RUDDERSTACK: Final = SchemaFormat(
    "rudderstack",
    "RudderStack",
    ".rudder.json",
    _write,
    other_types={
        "date": "datetime",
        **dict.fromkeys(("time", "binary"), "string"),
        **dict.fromkeys(("decimal", "wei"), "float"),
    },
    read=_read,
)
