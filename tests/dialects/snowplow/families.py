"""Schemas that several tests need. F is the family of docs/conformance/snowplow.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from trellis.dialects.snowplow.columns.column_types import ColumnType
from trellis.dialects.snowplow.columns.flatten import Column, flatten
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaKey, SchemaVer

Node = dict[str, Any]
REDSHIFT: Final = PROFILES["redshift"]
SPARK: Final = PROFILES["spark"]


def object_schema(properties: Node, required: Sequence[str] = (), **keywords: Any) -> Node:
    """The body of a closed object."""
    return {
        "type": "object",
        "properties": properties,
        **({"required": [*required]} if required else {}),
        "additionalProperties": False,
        **keywords,
    }


def document(version: str, properties: Node, required: Sequence[str] = (), **keywords: Any) -> SchemaDocument:
    key = SchemaKey("org.harbor", "vessel_call", "jsonschema", SchemaVer.parse(version))
    return SchemaDocument(key, object_schema(properties, required, **keywords))


def text(length: int) -> Node:
    return {"type": "string", "maxLength": length}


def versions(listed: str) -> list[SchemaVer]:
    return [SchemaVer.parse(version) for version in listed.split()]


def columns(properties: Node, required: Sequence[str] = (), *, compat: bool = False) -> list[Column]:
    return flatten(object_schema(properties, required), compat=compat)


def sql(column_type: ColumnType) -> str:
    return REDSHIFT.type_text(column_type)


def types(family_columns: Sequence[Column]) -> list[str]:
    return [sql(column.type) + ("" if column.nullable else " NOT NULL") for column in family_columns]


_FIRST: Final = {"berth": text(12), "arrivedAt": {"type": "string", "format": "date-time"}}
_SECOND: Final = {**_FIRST, "draughtM": {"type": "number"}}
_THIRD: Final = {**_SECOND, "pilot": {"type": "boolean"}, "agent": text(40)}
_BODIES: Final[dict[str, Node]] = {
    "1-0-0": _FIRST,
    "1-1-0": _SECOND,
    "1-2-0": _THIRD,
    "1-0-1": {**_FIRST, "cargo": text(20)},
    "1-2-1": {**_THIRD, "tugCount": {"type": "integer", "maximum": 10}},
}


def family(order: str = "1-0-0 1-1-0 1-2-0 1-0-1 1-2-1") -> list[SchemaDocument]:
    """The versions of F in this order of creation."""
    return [document(version, _BODIES[version], ["berth"]) for version in order.split()]
