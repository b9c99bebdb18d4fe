"""ODCS: the Open Data Contract Standard, version 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.errors import SchemaError
from trellis.exchange.fields import Field, ListOf, Nested, StructOf, tables_of
from trellis.exchange.type_names import column_of_name, sized_name
from trellis.schema.documents.schema_format import Loss, Reading, SchemaFormat
from trellis.schema.documents.yaml_text import write
from trellis.schema.model import DATA_TYPES, Column, DataType, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.value_rules import ValueRules, rules_of, with_rules

Node = Mapping[str, Any]

API_VERSION: Final = "v3.0.2"
_LOGICAL: Final[Mapping[DataType, str]] = {
    "text": "string",
    "double": "number",
    "bool": "boolean",
    "timestamp": "date",
    "date": "date",
    "time": "string",
    "bigint": "integer",
    "binary": "string",
    "json": "object",
    "decimal": "number",
    "wei": "number",
}
_DATE_FORMATS: Final[Mapping[DataType, str]] = {
    "timestamp": "yyyy-MM-ddTHH:mm:ssZ",
    "date": "yyyy-MM-dd",
}


_OPTION_RULES: Final = ("minimum", "maximum", "pattern")
"""Value rules that are options of a type; the others are rules of quality."""


def write_odcs(schema: Schema) -> str:
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": schema.name,
        "name": schema.name,
        "version": str(schema.stored_version or 1),
        "status": "active",
    }
    if schema.description:
        document["description"] = {"purpose": schema.description}
    document["schema"] = [_object(table) for table in schema.tables.values()]
    return write(document)


def _object(table: Table) -> Node:
    node: dict[str, Any] = {"name": table.name, "logicalType": "object", "physicalType": "table"}
    if table.description:
        node["description"] = table.description
    keys = table.columns_with("primary_key")
    partitions = table.columns_with("partition")
    node["properties"] = [_property(column, keys, partitions) for column in table.complete_columns]
    return node


def _property(column: Column, keys: tuple[str, ...], partitions: tuple[str, ...]) -> Node:
    assert column.data_type is not None
    node: dict[str, Any] = {
        "name": column.name,
        "logicalType": _LOGICAL[column.data_type],
        "physicalType": sized_name(column),
    }
    if column.description:
        node["description"] = column.description
    if column.hint(PII):
        node["classification"] = "pii"
    if column.required:
        node["required"] = True
    if column.hint("unique"):
        node["unique"] = True
    if column.name in keys:
        node |= {"primaryKey": True, "primaryKeyPosition": keys.index(column.name) + 1}
    if column.name in partitions:
        node |= {"partitioned": True, "partitionKeyPosition": partitions.index(column.name) + 1}
    if options := _type_options(column):
        node["logicalTypeOptions"] = options
    if quality := _quality(column):
        node["quality"] = quality
    return node


def _type_options(column: Column) -> dict[str, Any]:
    rules, options = rules_of(column), dict[str, Any]()
    if column.data_type == "text" and column.precision:
        options["maxLength"] = column.precision
    elif column.data_type is not None and (date_format := _DATE_FORMATS.get(column.data_type)):
        is_naive = column.timezone is False
        options["format"] = date_format.rstrip("Z") if is_naive else date_format
    limits = {name: getattr(rules, name) for name in _OPTION_RULES}
    return options | {name: limit for name, limit in limits.items() if limit is not None}


def _quality(column: Column) -> list[Node]:
    rules, quality = rules_of(column), list[Node]()
    if rules.not_null:
        quality.append({"type": "library", "rule": "nullCheck", "mustBe": 0})
    if rules.accepted_values:
        accepted = [*rules.accepted_values]
        quality.append({"type": "library", "rule": "validValues", "validValues": accepted})
    return quality


# ---- a contract -> tables


_COLUMNS: Final[Mapping[str, Column]] = {
    "string": Column("", "text"),
    "date": Column("", "timestamp"),
    "timestamp": Column("", "timestamp"),
    "time": Column("", "time"),
    "number": Column("", "double"),
    "integer": Column("", "bigint"),
    "boolean": Column("", "bool"),
}


def read_odcs(document: Any, name: str) -> Reading:
    """The tables of a contract and those below them, whose columns, types and value rules are frozen."""
    if not is_odcs(document) or not isinstance(document.get("schema"), list):
        raise SchemaError(f"{name}: a contract of ODCS 3 has kind: DataContract, and its tables under schema")
    reader = _Reader()
    tables = [table for node in document["schema"] for table in reader.tables(node)]
    description = document.get("description")
    purpose = description.get("purpose") if isinstance(description, dict) else None
    schema = Schema(name, {table.name: table for table in tables}, description=purpose)
    return Reading(schema, tuple(reader.losses))


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._table = ""
        self._has_rules = False

    def tables(self, node: Node) -> list[Table]:
        self._table = str(node.get("name"))
        if node.get("quality"):
            self._lose(None, "quality")
        self._has_rules = False
        fields = self._fields(node, "")
        contract = {"columns": "freeze", "data_type": "freeze"}
        if self._has_rules:
            contract["values"] = "freeze"
        table = Table(self._table, description=node.get("description"))
        table = table.with_hints(schema_contract=contract)
        return [table.with_defaults() for table in tables_of(table, fields)]

    def _fields(self, node: Node, path: str) -> tuple[Field, ...]:
        return tuple(self._field(member, path) for member in node.get("properties") or ())

    def _field(self, node: Node, path: str) -> Field:
        name = str(node.get("name") or "element")
        path = f"{path}{name}"
        nested = self._nested(node, path)
        column = Column("", "json") if nested else self._leaf(node, path)
        hints = {
            hint: True
            for key, hint in (
                ("unique", "unique"),
                ("primaryKey", "primary_key"),
                ("partitioned", "partition"),
            )
            if node.get(key)
        }
        if node.get("classification") == "pii":
            hints[PII] = True
        is_required = bool(node.get("required") or node.get("primaryKey"))
        column = replace(column, name=name, nullable=not is_required, description=node.get("description"))
        rules = self._rules(node, path)
        self._has_rules = self._has_rules or rules != ValueRules()
        column = with_rules(column, rules)
        return Field(column.with_hints(**hints) if hints else column, nested)

    def _rules(self, node: Node, path: str) -> ValueRules:
        accepted, not_null = [*(node.get("enum") or ())], False
        for check in node.get("quality") or ():
            match check:
                case {"rule": "validValues", "validValues": [*values]}:
                    accepted += values
                case {"rule": "nullCheck", "mustBe": 0}:
                    not_null = True
                case _:
                    self._lose(path, "quality")
        options = node.get("logicalTypeOptions") or {}
        limits = {name: options.get(name) for name in _OPTION_RULES}
        return ValueRules(tuple(accepted), not_null=not_null, **limits)

    def _nested(self, node: Node, path: str) -> Nested | None:
        if node.get("logicalType") == "object" and node.get("properties"):
            return StructOf(self._fields(node, f"{path}__"))
        if node.get("logicalType") == "array" and isinstance(node.get("items"), dict):
            return ListOf(self._field(node["items"], f"{path}__"))
        return None

    def _leaf(self, node: Node, path: str) -> Column:
        """Our own name of a type says more than the logical one."""
        options = node.get("logicalTypeOptions") or {}
        date_format = str(options.get("format") or "")
        column = column_of_name(str(node.get("physicalType") or ""))
        if column is None:
            column = _COLUMNS.get(str(node.get("logicalType")), Column("", "json"))
            if column.data_type == "timestamp" and date_format == _DATE_FORMATS["date"]:
                column = Column("", "date")
            if column.data_type == "text":
                column = replace(column, precision=options.get("maxLength"))
        if rules := sorted({*options} - {"format", "maxLength", *_OPTION_RULES}):
            self._lose(path, ", ".join(rules))
        is_naive = column.data_type == "timestamp" and date_format and date_format[-1] not in "ZzXx"
        return replace(column, timezone=False) if is_naive else column

    def _lose(self, column: str | None, what: str) -> None:
        self.losses.append(Loss(self._table, column, what, "a column has no such rule"))


def is_odcs(document: Any) -> bool:
    return isinstance(document, dict) and document.get("kind") == "DataContract"


ODCS: Final = SchemaFormat(
    "odcs",
    "ODCS",
    ".odcs.yaml",
    write_odcs,
    keeps=frozenset(
        {"required", "primary key", "unique", "description", "time zone", "partition", "value rules"}
    ),
    sizes=frozenset(DATA_TYPES),
    read=read_odcs,
    recognizes=is_odcs,
)
