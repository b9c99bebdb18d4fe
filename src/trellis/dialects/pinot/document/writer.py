"""Schema values as documents, in the key order of `Schema.toJsonObject` and without what it omits."""

from __future__ import annotations

from typing import Any

from trellis.dialects.pinot.document.defaults import default_json, same_value, type_default
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, PinotType, Value
from trellis.dialects.pinot.value.json_text import compact, pretty
from trellis.dialects.pinot.value.source_kinds import CannotConvert


def write_schema(schema: PinotSchema, pretty: bool = True) -> str:
    """The document of a schema as JSON text, as the controller answers it.

    >>> write_schema(PinotSchema("s"), pretty=False)
    '{"schemaName":"s","enableColumnBasedNullHandling":false}'
    """
    return _pretty(document_of(schema)) if pretty else compact(document_of(schema))


_pretty = pretty


def document_of(schema: PinotSchema) -> dict[str, Any]:
    """The document of a schema as a JSON object. Its numbers may be Decimal or Float32."""
    parts: dict[str, Any] = {
        "description": schema.description if (schema.description or "").strip() else None,
        "tags": list(schema.tags),
        "enableColumnBasedNullHandling": schema.column_nulls,
        **{key: [*map(field_document, specs)] for key, specs in schema.lists.items()},
        "primaryKeyColumns": list(schema.primary_key),
    }
    return {"schemaName": schema.name} | {key: part for key, part in parts.items() if part or part is False}


def field_document(spec: FieldSpec) -> dict[str, Any]:
    """The document of one field."""
    values = {
        "name": spec.name,
        "dataType": spec.data_type.value,
        "fieldType": spec.field_type.value,
        "singleValueField": None if spec.single_value else False,
        "notNull": spec.not_null or None,
        "maxLength": spec.max_length,
        "maxLengthExceedStrategy": spec.exceed_strategy.value if spec.exceed_strategy else None,
        "allowTrailingZeros": spec.trailing_zeros or None,
        "defaultNullValue": _default(spec.field_type, spec.data_type, spec.default),
        "transformFunction": spec.transform,
        "virtualColumnProvider": spec.virtual_provider,
        "description": spec.description,
        "tags": list(spec.tags) or None,
    }
    document = {key: value for key, value in values.items() if value is not None}
    if spec.field_type is FieldType.DATE_TIME:
        document |= {"format": spec.format, "granularity": spec.granularity}
    if spec.field_type is FieldType.COMPLEX:
        document["childFieldSpecs"] = {name: field_document(child) for name, child in spec.children.items()}
    return document


def _default(kind: FieldType, data_type: PinotType, value: Value) -> Any:
    """The default as JSON; None for that of the type, except that Pinot writes an empty BYTES."""
    if value is None:
        return None
    if data_type is not PinotType.BYTES and _is_usual(kind, data_type, value):
        return None
    return default_json(data_type, value)


def _is_usual(kind: FieldType, data_type: PinotType, value: Value) -> bool:
    try:
        return same_value(data_type, value, type_default(kind, data_type))
    except CannotConvert:
        return False
