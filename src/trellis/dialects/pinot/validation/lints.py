"""Warnings about valid schemas that are likely to surprise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema, PlacedField, placed_fields
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.table.config import SUFFIXES
from trellis.dialects.pinot.table.known_keys import values_at

INSTANT_TYPES: Final = (PinotType.STRING, PinotType.INT, PinotType.LONG, PinotType.TIMESTAMP)
VALUE_TYPES: Final = (PinotType.STRING, PinotType.INT, PinotType.LONG, PinotType.FLOAT, PinotType.DOUBLE)
LENGTH_TYPES: Final = (PinotType.STRING, PinotType.JSON, PinotType.BYTES)


def lints_of(schema: PinotSchema, table_config: Mapping[str, Any] | None = None) -> tuple[Fault, ...]:
    """What Pinot accepts and a person should review, with the JSON pointer of each.

    >>> from trellis.dialects.pinot.document.fields import FieldSpec
    >>> price = FieldSpec("price", PinotType.BIG_DECIMAL)
    >>> [lint.message for lint in lints_of(PinotSchema("s", (price,)))]
    ['a BIG_DECIMAL dimension is not documented: Pinot takes it']
    """
    lints: list[Fault] = [*_schema_lints(schema)]
    for field in placed_fields(schema):
        lints += _field_lints(field, schema)
        if field.spec.field_type is FieldType.DATE_TIME:
            lints += _instant_lints(field)
        if field.spec.field_type is FieldType.COMPLEX:
            lints += _complex_lints(field)
    lints += _null_lints(schema, table_config or {})
    return tuple(lints)


def _schema_lints(schema: PinotSchema) -> Iterator[Fault]:
    name = schema.name or ""
    if suffix := next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None):
        bare_name = name.removesuffix(suffix)
        yield Fault("/schemaName", f"schemaName {name} ends in the type of a table: name it {bare_name}")
    if schema.legacy_time is not None:
        message = "timeFieldSpec is deprecated: migrate it to a field of dateTimeFieldSpecs"
        yield Fault("/timeFieldSpec", message, schema.legacy_time)


def _field_lints(field: PlacedField, schema: PinotSchema) -> Iterator[Fault]:
    spec, column_nulls = field.spec, schema.column_nulls
    if spec.field_type is FieldType.DIMENSION and spec.data_type is PinotType.BIG_DECIMAL:
        yield field.fault("a BIG_DECIMAL dimension is not documented: Pinot takes it", "dataType")
    if spec.transform and spec.name != schema.legacy_time:
        message = (
            "transformFunction in a schema is deprecated: move it to transformConfigs of the table config"
        )
        yield field.fault(message, "transformFunction")
    if spec.not_null and not column_nulls:
        message = "notNull has no effect unless enableColumnBasedNullHandling is true"
        yield field.fault(message, "notNull")
    if spec.not_null and column_nulls:
        message = "notNull does not refuse nulls: the default is stored and counts as a value"
        yield field.fault(message, "notNull")
    if spec.max_length is not None and spec.data_type not in LENGTH_TYPES:
        yield field.fault(f"maxLength has no effect on {spec.data_type.value}", "maxLength")
    if spec.max_length is not None and spec.max_length <= 0:
        yield field.fault(f"maxLength {spec.max_length} leaves nothing of a value", "maxLength")


def _instant_lints(field: PlacedField) -> Iterator[Fault]:
    spec = field.spec
    if spec.data_type not in INSTANT_TYPES:
        known = ", ".join(kind.value for kind in INSTANT_TYPES)
        yield field.fault(
            f"{spec.data_type.value} is not documented for dateTime fields: use {known}", "dataType"
        )
    try:
        form = parse_format(spec.format or "")
    except FormatError:
        return
    if not form.zone_known:
        message = (
            f"Pinot does not know the time zone {form.zone_name} and takes UTC: use an id like Asia/Kolkata"
        )
        yield field.fault(message, "format")
    if form.kind == "EPOCH" and spec.data_type is PinotType.INT and _overflows(form.unit, form.size):
        message = f"an INT cannot hold today's count of {form.size} {form.unit}: use LONG"
        yield field.fault(message, "dataType")


def _overflows(unit: str, size: int) -> bool:
    per_second = {"NANOSECONDS": 10**9, "MICROSECONDS": 10**6, "MILLISECONDS": 1000}.get(unit, 0)
    return 1_700_000_000 * per_second // size > 2**31


def _complex_lints(field: PlacedField) -> Iterator[Fault]:
    spec = field.spec
    if spec.data_type is not PinotType.MAP:
        yield field.fault(f"{spec.data_type.value} is not for users: use MAP or JSON", "dataType")
        return
    for missing in (name for name in ("key", "value") if name not in spec.children):
        yield field.fault(f"a MAP needs the child {missing!r} in childFieldSpecs before it can be used")
    if (key := spec.children.get("key")) is not None and key.data_type is not PinotType.STRING:
        yield field.fault(f"the key of a MAP is STRING, not {key.data_type.value}", "childFieldSpecs")
    if (value := spec.children.get("value")) is not None and value.data_type not in VALUE_TYPES:
        known = ", ".join(kind.value for kind in VALUE_TYPES)
        yield field.fault(
            f"the value of a MAP is one of {known}, not {value.data_type.value}", "childFieldSpecs"
        )


def _null_lints(schema: PinotSchema, config: Mapping[str, Any]) -> Iterator[Fault]:
    flags = [str(flag).lower() for _, flag in values_at(config, "/tableIndexConfig/nullHandlingEnabled")]
    if schema.column_nulls and "true" in flags:
        message = "enableColumnBasedNullHandling is true, so nullHandlingEnabled of the table is ignored"
        yield Fault("/enableColumnBasedNullHandling", message)
