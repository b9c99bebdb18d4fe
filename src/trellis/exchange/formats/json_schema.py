"""JSON Schema: the rows of a table as objects (draft 2020-12), and objects of any draft as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from trellis.exchange.fields import Field, ListOf, MapOf, Nested, StructOf, fields_of, only_table, tables_of
from trellis.schema.documents.schema_format import Loss, Reading, SchemaFormat
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.personal_data import comment_of
from trellis.schema.value_rules import ValueRules, rules_of, with_rules

META_SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"
Node = dict[str, Any]

_TYPES: Final[Mapping[DataType, Node]] = {
    "text": {"type": "string"},
    "double": {"type": "number"},
    "bool": {"type": "boolean"},
    "timestamp": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string"},
    "bigint": {"type": "integer"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "json": {},
    "decimal": {"type": "number"},
    "wei": {"type": "number"},
}


def write_json_schema(schema: Schema) -> str:
    table = only_table(schema)
    closed = _is_closed(schema, table)
    document = {"$schema": META_SCHEMA, **object_node(fields_of(table), table.description, closed=closed)}
    return json.dumps({**document, "title": table.name}, indent=2, ensure_ascii=False) + "\n"


def object_node(fields: Sequence[Field], description: str | None = None, *, closed: bool = False) -> Node:
    """The schema of an object; `closed`: it has no other members."""
    node: Node = {"type": "object"}
    if description:
        node["description"] = description
    node["properties"] = {field.name: _node(field) for field in fields}
    if required := [field.name for field in fields if _is_required(field)]:
        node["required"] = required
    return node | ({"additionalProperties": False} if closed else {})


def _is_closed(schema: Schema, table: Table) -> bool:
    contract = schema.inherited(table.name, "schema_contract") or schema.settings.schema_contract
    return (contract if isinstance(contract, str) else dict(contract or {}).get("columns")) == "freeze"


def _node(field: Field) -> Node:
    column = field.column
    node = _nested_node(field.nested) if field.nested else _leaf_node(column)
    if not _is_required(field) and "type" in node:
        node["type"] = [node["type"], "null"]
        if "enum" in node:
            node["enum"] = [*node["enum"], None]
    return {**node, "description": comment} if (comment := comment_of(column)) else node


def _is_required(field: Field) -> bool:
    return field.required or rules_of(field.column).not_null


def _nested_node(nested: Nested) -> Node:
    match nested:
        case ListOf(element):
            return {"type": "array", "items": _node(element)}
        case MapOf(_, value):
            return {"type": "object", "additionalProperties": _node(value)}
        case StructOf(fields):
            return object_node(fields)


def _leaf_node(column: Column) -> Node:
    assert column.data_type is not None
    node = dict(_TYPES[column.data_type])
    if column.data_type == "timestamp" and column.timezone is False:
        del node["format"]  # a date-time has an offset
    if column.data_type == "bigint":
        node |= dict(zip(("minimum", "maximum"), _type_bounds(column), strict=True))
    if column.data_type == "text" and column.precision:
        node["maxLength"] = column.precision
    return node | _rule_keywords(column)


def _type_bounds(column: Column) -> tuple[int, int]:
    """The least and the greatest integer of a column."""
    bits = column.precision or 64
    return -(1 << bits - 1), (1 << bits - 1) - 1


def _rule_keywords(column: Column) -> Node:
    """The value rules of a column; JSON Schema has no bounds of times."""
    rules = rules_of(column)
    keywords: Node = {"enum": [*rules.accepted_values]} if rules.accepted_values else {}
    if column.data_type in ("bigint", "double", "decimal", "wei"):
        bounds = {"minimum": rules.minimum, "maximum": rules.maximum}
        keywords |= {name: bound for name, bound in bounds.items() if bound is not None}
    return keywords | ({"pattern": rules.pattern} if rules.pattern is not None else {})


# ---- an object -> tables


_LOST_RULES: Final = (
    *("multipleOf", "minLength", "minItems", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum"),
)
"""Keywords about values that no rule of a column says."""
_CLASSES: Final[Mapping[DataType | None, tuple[type, ...]]] = {
    "text": (str,),
    "bigint": (int,),
    "double": (int, float),
    "bool": (bool,),
}
"""The classes of values that columns list."""


def read_json_schema(document: Any, name: str) -> Reading:
    """The table of an object and those below it, whose types and value rules are frozen."""
    reader = _Reader(document)
    root = reader.resolve(document)
    title = document.get("title")
    table_name = title if isinstance(title, str) and title.isidentifier() else name
    contract = {"data_type": "freeze"}
    if root.get("additionalProperties") is False:
        contract["columns"] = "freeze"
    fields = (*reader.members(root, ""),)
    if reader.has_rules:
        contract["values"] = "freeze"
    table = Table(table_name, description=document.get("description")).with_hints(schema_contract=contract)
    tables = tables_of(table, fields)
    schema = Schema(name, {table.name: table.with_defaults() for table in tables})
    losses = (Loss(table_name, path, what, reason) for path, what, reason in reader.losses)
    return Reading(schema, tuple(losses))


class _Reader:
    def __init__(self, document: Node) -> None:
        self.losses: list[tuple[str, str, str]] = []
        self.has_rules = False
        self._document = document
        self._open: list[str] = []

    def resolve(self, node: Any) -> Node:
        """The schema that a reference leads to; `true` and what leads nowhere allow any value."""
        seen = set[str]()
        while isinstance(node, dict) and isinstance(node.get("$ref"), str) and node["$ref"] not in seen:
            seen.add(node["$ref"])
            target: Any = self._document
            for part in node["$ref"].lstrip("#").strip("/").split("/"):
                part = part.replace("~1", "/").replace("~0", "~")
                target = target.get(part) if isinstance(target, dict) and part else target
            node = target
        return node if isinstance(node, dict) and "$ref" not in node else {}

    def members(self, node: Node, path: str) -> Iterator[Field]:
        required = node.get("required") or []
        for name, member in (node.get("properties") or {}).items():
            yield self.field(name, member, name in required, f"{path}{name}")

    def field(self, name: str, node: Any, required: bool, path: str) -> Field:
        reference = node.get("$ref", "") if isinstance(node, dict) else ""
        if reference and reference in self._open:
            self._lose(path, "what is below it", "the schema contains itself")
            return Field(Column(name, "json", nullable=not required))
        self._open.append(reference)
        try:
            return self._field(name, self.resolve(node), required, path)
        finally:
            self._open.pop()

    def _field(self, name: str, node: Node, required: bool, path: str) -> Field:
        node, takes_null = self._without_null(node, path)
        types = [type_ for type_ in _listed(node.get("type")) if type_ != "null"]
        nullable = not required or takes_null or "null" in _listed(node.get("type"))
        if not types:
            types = ["object"] if "properties" in node else [*dict.fromkeys(map(_type_of, _values(node)))]
        for rule in _LOST_RULES:
            if rule in node:
                self._lose(path, rule, "a column has no such rule")
        field = self._typed(types[0], node, path) if len(types) == 1 else self._mixed(types, path)
        description = node.get("description") if isinstance(node.get("description"), str) else None
        column = field.column
        named = Column(
            name, column.data_type, nullable, column.precision, column.scale, description=description
        )
        rules = self._rules(node, named, path)
        self.has_rules = self.has_rules or rules != ValueRules()
        return Field(with_rules(named, rules), field.nested)

    def _rules(self, node: Node, column: Column, path: str) -> ValueRules:
        """The keywords about values that are rules of such a column; the others are lost."""
        values = [value for value in _values(node) if value is not None]
        classes = _CLASSES.get(column.data_type, ())
        if not all(isinstance(value, classes) for value in values):
            self._lose(
                path, "const" if "const" in node else "enum", f"a {column.data_type} lists no such values"
            )
            values = []
        low, high, pattern = node.get("minimum"), node.get("maximum"), node.get("pattern")
        if column.data_type not in ("bigint", "double", "decimal"):
            low = high = None
        if column.data_type == "bigint" and (low, high) == _type_bounds(column):
            low = high = None
        if pattern is not None and column.data_type != "text":
            self._lose(path, "pattern", f"a {column.data_type} has no pattern")
            pattern = None
        return ValueRules(tuple(values), low, high, pattern)

    def _without_null(self, node: Node, path: str) -> tuple[Node, bool]:
        """The only alternative beside null; any other choice of schemas allows every value."""
        for keyword in ("anyOf", "oneOf", "allOf"):
            choices = [self.resolve(choice) for choice in node.get(keyword) or ()]
            if not choices:
                continue
            others = [choice for choice in choices if choice.get("type") != "null"]
            if len(others) == 1:
                outer = {key: value for key, value in node.items() if key != keyword}
                return {**outer, **others[0]}, len(choices) > 1
            self._lose(path, keyword, "a column has one type")
            return {"type": "any", "description": node.get("description")}, False
        return node, False

    def _mixed(self, types: Sequence[str], path: str) -> Field:
        if types:
            self._lose(path, f"the types {', '.join(types)}", "a column has one type")
        is_scalar = types and not {"object", "array", "any"} & {*types}
        return Field(Column("", "text" if is_scalar else "json"))

    def _typed(self, type_: str, node: Node, path: str) -> Field:
        if type_ == "object":
            return Field(Column("", "json"), self._object(node, path))
        if type_ == "array":
            items = node.get("items")
            if not isinstance(items, dict):
                return Field(Column("", "json"))
            return Field(Column("", "json"), ListOf(self.field("element", items, False, path)))
        read = _LEAVES.get(type_)
        return Field(read(node) if read else Column("", "json"))

    def _object(self, node: Node, path: str) -> Nested | None:
        if node.get("properties"):
            return StructOf(tuple(self.members(node, f"{path}__")))
        others = node.get("additionalProperties")
        if not isinstance(others, dict) or not others:
            return None
        value = self.field("value", others, False, path)
        return MapOf(Field(Column("key", "text", nullable=False)), value)

    def _lose(self, path: str, what: str, reason: str) -> None:
        self.losses.append((path, what, reason))


def _listed(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else [*types] if isinstance(types, list) else []


def _values(node: Node) -> list[Any]:
    return [node["const"]] if "const" in node else [*(node.get("enum") or ())]


def _type_of(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _string(node: Node) -> Column:
    formats: Mapping[str, DataType] = {"date-time": "timestamp", "date": "date"}
    if data_type := formats.get(str(node.get("format"))):
        return Column("", data_type)
    if node.get("contentEncoding") == "base64":
        return Column("", "binary")
    return Column("", "text", precision=node.get("maxLength"))


def _integer(node: Node) -> Column:
    low, high = node.get("minimum"), node.get("maximum")
    if low is None or high is None:
        return Column("", "bigint")
    bits = next((b for b in (8, 16, 32, 64) if -(1 << b - 1) <= low and high < 1 << b - 1), None)
    if bits is None:
        return Column("", "decimal", precision=38, scale=0)
    return Column("", "bigint", precision=None if bits == 64 else bits)


_LEAVES: Final[Mapping[str, Callable[[Node], Column]]] = {
    "string": _string,
    "integer": _integer,
    "number": lambda _: Column("", "double"),
    "boolean": lambda _: Column("", "bool"),
}


def is_json_schema(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    if "$schema" in document:
        return "json-schema.org" in str(document["$schema"])
    return document.get("type") == "object" and isinstance(document.get("properties"), dict)


JSON_SCHEMA: Final = SchemaFormat(
    "json-schema",
    "JSON Schema",
    ".schema.json",
    write_json_schema,
    keeps=frozenset({"required", "description", "nested types", "value rules"}),
    sizes=frozenset({"text", "bigint"}),
    other_types={
        **dict.fromkeys(("time", "binary"), "string"),
        **dict.fromkeys(("decimal", "wei"), "number"),
    },
    one_table=True,
    read=read_json_schema,
    recognizes=is_json_schema,
)
