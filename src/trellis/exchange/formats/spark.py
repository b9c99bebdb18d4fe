"""Schemas of Spark's DataFrames: StructType as JSON, and as DDL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trellis.errors import SchemaError
from trellis.exchange.fields import Field, ListOf, MapOf, Nested, StructOf, fields_of, only_table, tables_of
from trellis.schema.documents.schema_format import Aspect, Reading, SchemaFormat
from trellis.schema.model import Column, DataType, Schema, Table, is_single, number_size
from trellis.schema.personal_data import comment_of
from trellis.warehouses.identifiers import BACKTICKS

Node = Any
MAX_PRECISION: Final = 38

_TYPES: Final[Mapping[DataType, str]] = {
    "text": "string",
    "bool": "boolean",
    "date": "date",
    "time": "string",
    "binary": "binary",
    "json": "string",
}
_INTEGERS: Final = ((8, "byte"), (16, "short"), (32, "integer"), (64, "long"))
_DDL_NAMES: Final = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}


def _leaf_type(column: Column) -> str:
    match column.data_type:
        case "double":
            return "float" if is_single(column) else "double"
        case "timestamp":
            return "timestamp_ntz" if column.timezone is False else "timestamp"
        case "bigint":
            name = next((name for bits, name in _INTEGERS if (column.precision or 64) <= bits), None)
            return name or f"decimal({MAX_PRECISION},0)"
        case "decimal" | "wei":
            default = (MAX_PRECISION, 9 if column.data_type == "decimal" else 0)
            precision, scale = number_size(column, default)
            return f"decimal({precision},{scale})" if precision <= MAX_PRECISION else "string"
        case None:
            raise SchemaError(f"column {column.name} has no type yet")
    return _TYPES[column.data_type]


def write_json(schema: Schema) -> str:
    struct = _struct_node(fields_of(only_table(schema)))
    return json.dumps(struct, indent=2, ensure_ascii=False) + "\n"


def _struct_node(fields: tuple[Field, ...]) -> Node:
    return {
        "type": "struct",
        "fields": [
            {
                "name": field.name,
                "type": _type_node(field),
                "nullable": not field.required,
                "metadata": {"comment": comment} if (comment := comment_of(field.column)) else {},
            }
            for field in fields
        ],
    }


def _type_node(field: Field) -> Node:
    match field.nested:
        case ListOf(element):
            is_nullable = not element.required
            return {"type": "array", "elementType": _type_node(element), "containsNull": is_nullable}
        case MapOf(key, value):
            types = {"keyType": _type_node(key), "valueType": _type_node(value)}
            return {"type": "map", **types, "valueContainsNull": not value.required}
        case StructOf(fields):
            return _struct_node(fields)
    return _leaf_type(field.column)


def write_ddl(schema: Schema) -> str:
    columns = []
    for field in fields_of(only_table(schema)):
        text = f"{BACKTICKS.quote(field.name)} {_ddl_type(field)}{' NOT NULL' if field.required else ''}"
        comment = comment_of(field.column)
        columns.append(f"{text} COMMENT {_literal(comment)}" if comment else text)
    return ",\n".join(columns) + "\n"


def _ddl_type(field: Field) -> str:
    match field.nested:
        case ListOf(element):
            return f"ARRAY<{_ddl_type(element)}>"
        case MapOf(key, value):
            return f"MAP<{_ddl_type(key)}, {_ddl_type(value)}>"
        case StructOf(fields):
            members = (f"{BACKTICKS.quote(member.name)}: {_ddl_type(member)}" for member in fields)
            return f"STRUCT<{', '.join(members)}>"
    name = _leaf_type(field.column)
    return _DDL_NAMES.get(name, name.upper())


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


# ---- StructType -> tables


_DATA_TYPES: Final[Mapping[str, Column]] = {
    "string": Column("", "text"),
    "boolean": Column("", "bool"),
    "double": Column("", "double"),
    "float": Column("", "double", precision=24),
    "date": Column("", "date"),
    "binary": Column("", "binary"),
    "timestamp": Column("", "timestamp"),
    "timestamp_ltz": Column("", "timestamp"),
    "timestamp_ntz": Column("", "timestamp", timezone=False),
    "variant": Column("", "json"),
    "byte": Column("", "bigint", precision=8),
    "short": Column("", "bigint", precision=16),
    "integer": Column("", "bigint", precision=32),
    "long": Column("", "bigint"),
}


def read_json(document: Any, name: str) -> Reading:
    """The table of a StructType and those below it, under a contract that freezes columns and types."""
    if not isinstance(document, dict) or document.get("type") != "struct":
        raise SchemaError(f'{name}: a StructType is {{"type": "struct", "fields": [...]}}')
    contract = {"columns": "freeze", "data_type": "freeze"}
    table = Table(name).with_hints(schema_contract=contract)
    tables = tables_of(table, _struct(document).fields)
    return Reading(Schema(name, {table.name: table.with_defaults() for table in tables}))


def _struct(node: Node) -> StructOf:
    return StructOf(tuple(_read_field(member) for member in node.get("fields") or ()))


def _read_field(member: Node) -> Field:
    metadata = member.get("metadata") or {}
    return _field(
        str(member.get("name")),
        member.get("type"),
        bool(member.get("nullable", True)),
        metadata.get("comment"),
    )


def _field(name: str, node: Node, nullable: bool = True, description: str | None = None) -> Field:
    nested = _nested(node)
    leaf = Column("", "json") if nested else _read_leaf(name, str(node))
    column = Column(
        *(name, leaf.data_type, nullable, leaf.precision, leaf.scale, leaf.timezone),
        description=description,
    )
    return Field(column, nested)


def _nested(node: Node) -> Nested | None:
    if not isinstance(node, dict):
        return None
    match node.get("type"):
        case "struct":
            return _struct(node)
        case "array":
            return ListOf(_field("element", node["elementType"], bool(node.get("containsNull", True))))
        case "map":
            value = _field("value", node["valueType"], bool(node.get("valueContainsNull", True)))
            return MapOf(_field("key", node["keyType"], False), value)
    raise SchemaError(f"{node.get('type')!r} is not a type of Spark with parts: struct, array or map")


def _read_leaf(name: str, text: str) -> Column:
    if text in _DATA_TYPES:
        return _DATA_TYPES[text]
    word, _, size = text.partition("(")
    numbers = [int(number) for number in size.rstrip(")").split(",") if number.strip().isdigit()]
    if word == "decimal":
        precision, scale = (*numbers, 0)[:2] if numbers else (10, 0)
        return Column("", "decimal", precision=precision, scale=scale)
    if word in ("varchar", "char") and numbers:
        return Column("", "text", precision=numbers[0])
    if word == "time":
        return Column("", "time", precision=numbers[0] if numbers else None)
    raise SchemaError(f"field {name}: {text!r} is not a type of Spark that a column can have")


_KEEPS: Final = frozenset[Aspect]({"required", "description", "time zone", "nested types"})
_SIZES: Final = frozenset[DataType]({"double", "bigint", "decimal", "wei"})
_OTHER_TYPES: Final[Mapping[DataType, str]] = {
    **dict.fromkeys(("time", "json"), "string"),
    "wei": "decimal",
}

SPARK: Final = SchemaFormat(
    "spark",
    "Spark",
    ".struct.json",
    write_json,
    keeps=_KEEPS,
    sizes=_SIZES,
    other_types=_OTHER_TYPES,
    one_table=True,
    read=read_json,
    recognizes=lambda document: isinstance(document, dict) and document.get("type") == "struct",
)
SPARK_DDL: Final = SchemaFormat(
    "spark-ddl",
    "Spark",
    ".ddl",
    write_ddl,
    keeps=_KEEPS,
    sizes=_SIZES,
    other_types=_OTHER_TYPES,
    one_table=True,
)
