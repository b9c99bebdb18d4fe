"""Avro: the rows of a table as a record."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from trellis.errors import SchemaError
from trellis.exchange.fields import Field, ListOf, MapOf, Nested, StructOf, fields_of, only_table, tables_of
from trellis.schema.documents.schema_format import Loss, Reading, SchemaFormat
from trellis.schema.model import Column, DataType, Schema, Table, is_single, number_size
from trellis.schema.personal_data import comment_of

Node = Any

_TYPES: Final[Mapping[DataType, Node]] = {
    "text": "string",
    "bool": "boolean",
    "date": {"type": "int", "logicalType": "date"},
    "binary": "bytes",
    "json": "string",
}


def avro_name(name: str) -> str:
    """A name as Avro allows it.

    >>> avro_name("unit price"), avro_name("2024"), avro_name("sku")
    ('unit_price', '_2024', 'sku')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if not plain or plain[0].isdigit() else plain


def write_avro(schema: Schema) -> str:
    table = only_table(schema)
    record = _record(avro_name(table.name), fields_of(table))
    document = {**record, "namespace": avro_name(schema.name)}
    if table.description:
        document["doc"] = table.description
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _record(name: str, fields: tuple[Field, ...]) -> Node:
    return {"type": "record", "name": name, "fields": [_member(name, field) for field in fields]}


def _member(record: str, field: Field) -> Node:
    member: dict[str, Node] = {"name": avro_name(field.name), "type": _type(record, field)}
    if not field.required:
        member["default"] = None
    if comment := comment_of(field.column):
        member["doc"] = comment
    return member


def _type(record: str, field: Field) -> Node:
    type_ = _nested_type(record, field, field.nested) if field.nested else _leaf_type(field.column)
    return type_ if field.required else ["null", type_]


def _nested_type(record: str, field: Field, nested: Nested) -> Node:
    path = f"{record}_{avro_name(field.name)}"
    match nested:
        case ListOf(element):
            return {"type": "array", "items": _type(path, element)}
        case MapOf(_, value):
            return {"type": "map", "values": _type(path, value)}
        case StructOf(fields):
            return _record(path, fields)


def _leaf_type(column: Column) -> Node:
    match column.data_type:
        case "double":
            return "float" if is_single(column) else "double"
        case "bigint":
            bits = column.precision or 64
            return "int" if bits <= 32 else "long" if bits <= 64 else _decimal(39, 0)
        case "timestamp":
            zone = "local-timestamp" if column.timezone is False else "timestamp"
            return {"type": "long", "logicalType": f"{zone}-{_unit(column)}"}
        case "time":
            return {"type": "long", "logicalType": "time-micros"}
        case "decimal":
            return _decimal(*number_size(column))
        case "wei":
            return _decimal(*number_size(column, (78, 0)))
        case None:
            raise SchemaError(f"column {column.name} has no type yet")
    return _TYPES[column.data_type]


def _unit(column: Column) -> str:
    digits = 6 if column.precision is None else column.precision
    return "millis" if digits <= 3 else "micros" if digits <= 6 else "nanos"


def _decimal(precision: int, scale: int) -> Node:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


# ---- a record -> tables


_LEAVES: Final[Mapping[str, Column]] = {
    "string": Column("", "text"),
    "enum": Column("", "text"),
    "boolean": Column("", "bool"),
    "int": Column("", "bigint", precision=32),
    "long": Column("", "bigint"),
    "float": Column("", "double", precision=24),
    "double": Column("", "double"),
    "bytes": Column("", "binary"),
    "null": Column("", "json"),
}
_LOGICAL: Final[Mapping[str, Column]] = {
    "date": Column("", "date"),
    "time-millis": Column("", "time", precision=3),
    "time-micros": Column("", "time"),
    "timestamp-millis": Column("", "timestamp", precision=3),
    "timestamp-micros": Column("", "timestamp"),
    "timestamp-nanos": Column("", "timestamp", precision=9),
    "local-timestamp-millis": Column("", "timestamp", precision=3, timezone=False),
    "local-timestamp-micros": Column("", "timestamp", timezone=False),
    "local-timestamp-nanos": Column("", "timestamp", precision=9, timezone=False),
    "uuid": Column("", "text"),
}


def read_avro(document: Any, name: str) -> Reading:
    """The table of a record and those below it, under a contract that freezes columns and types."""
    if not is_avro(document):
        raise SchemaError(f'{name}: a schema of Avro is {{"type": "record", "name": ..., "fields": [...]}}')
    reader = _Reader()
    table_name = str(document.get("name") or name).rpartition(".")[2]
    contract = {"columns": "freeze", "data_type": "freeze"}
    table = Table(table_name, description=document.get("doc")).with_hints(schema_contract=contract)
    tables = tables_of(table, reader.record(document).fields)
    schema = Schema(name, {table.name: table.with_defaults() for table in tables})
    return Reading(schema, tuple(Loss(table_name, column, *loss) for column, *loss in reader.losses))


class _Reader:
    def __init__(self) -> None:
        self.losses: list[tuple[str, str, str]] = []
        self._named: dict[str, Node] = {}
        self._open: list[str] = []

    def record(self, node: Node, path: str = "") -> StructOf:
        self._open.append(str(node.get("name")))
        members = (self._member(member, path) for member in node.get("fields") or ())
        fields = tuple(members)
        self._open.pop()
        return StructOf(fields)

    def _member(self, member: Node, path: str) -> Field:
        name = str(member["name"])
        field = self._field(name, member.get("type"), f"{path}{name}")
        column = field.column
        described = Column(
            *(name, column.data_type, column.nullable, column.precision, column.scale, column.timezone),
            description=member.get("doc"),
        )
        return Field(described, field.nested)

    def _field(self, name: str, node: Node, path: str) -> Field:
        node, nullable = self._without_null(node, path)
        if isinstance(node, dict) and node.get("type") in ("record", "enum", "fixed"):
            self._named[str(node.get("name")).rpartition(".")[2]] = node
        if isinstance(node, str):
            node = self._named.get(node.rpartition(".")[2], node)
        kind = node.get("type") if isinstance(node, dict) else node
        nested = self._nested(kind, node, path) if isinstance(node, dict) else None
        leaf = Column("", "json") if nested else self._leaf(kind, node, path)
        column = Column(name, leaf.data_type, nullable, leaf.precision, leaf.scale, leaf.timezone)
        return Field(column, nested)

    def _without_null(self, node: Node, path: str) -> tuple[Node, bool]:
        if not isinstance(node, list):
            return node, False
        others = [choice for choice in node if choice != "null"]
        if len(others) == 1:
            return others[0], "null" in node
        self._lose(path, "a union", "a column has one type")
        return "null", True

    def _nested(self, kind: Any, node: Node, path: str) -> Nested | None:
        if kind == "record":
            if node.get("name") in self._open:
                self._lose(path, "what is below it", "the record contains itself")
                return None
            return self.record(node, f"{path}__")
        if kind == "array":
            return ListOf(self._field("element", node.get("items"), path))
        if kind == "map":
            key = Field(Column("key", "text", nullable=False))
            return MapOf(key, self._field("value", node.get("values"), path))
        return None

    def _leaf(self, kind: Any, node: Node, path: str) -> Column:
        details = node if isinstance(node, dict) else {}
        logical = str(details.get("logicalType"))
        if logical == "decimal":
            return Column("", "decimal", precision=details["precision"], scale=details.get("scale", 0))
        if logical in _LOGICAL:
            return _LOGICAL[logical]
        if kind == "fixed":
            return Column("", "binary", precision=details.get("size"))
        if kind == "enum":
            self._lose(path, "its symbols", "a column has no rules for its values")
        return _LEAVES.get(kind, Column("", "json")) if isinstance(kind, str) else Column("", "json")

    def _lose(self, path: str, what: str, reason: str) -> None:
        self.losses.append((path, what, reason))


def is_avro(document: Any) -> bool:
    return isinstance(document, dict) and document.get("type") == "record" and "fields" in document


AVRO: Final = SchemaFormat(
    "avro",
    "Avro",
    ".avsc",
    write_avro,
    keeps=frozenset({"required", "description", "time zone", "nested types"}),
    sizes=frozenset({"double", "timestamp", "decimal", "wei"}),
    other_types={"json": "string", "wei": "decimal"},
    one_table=True,
    rename_table=avro_name,
    rename_column=avro_name,
    read=read_avro,
    recognizes=is_avro,
)
