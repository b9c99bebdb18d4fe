"""The legacy time field, and the equivalent dateTime field (`Schema.convertToDateTimeFieldSpec`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from trellis.dialects.pinot.date_time.units import UNITS
from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, TimeField, TimeGranularitySpec
from trellis.dialects.pinot.document.json_object import JsonObject, ReadReport, shown
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.errors import SchemaError

EPOCH: Final = "EPOCH"


_FUNCTIONS: Final = {"SECONDS": "Seconds", "MINUTES": "Minutes", "HOURS": "Hours", "DAYS": "Days"}


def convert_time_field(time: TimeField) -> FieldSpec:
    """The equivalent dateTime field. Raises SchemaError where Pinot has no transform for it.

    >>> from trellis.dialects.pinot.document.types import PinotType
    >>> incoming = TimeGranularitySpec("t", PinotType.LONG, "SECONDS", 5)
    >>> spec = convert_time_field(TimeField(incoming, TimeGranularitySpec("m", PinotType.INT, "MINUTES", 30)))
    >>> spec.name, spec.format, spec.granularity
    ('m', '30:MINUTES:EPOCH', '30:MINUTES')
    >>> spec.transform
    'toEpochMinutesBucket(fromEpochSecondsBucket(t, 5), 30)'
    """
    column = time.column
    size = f"{column.size}:{column.unit}"
    return FieldSpec(
        column.name,
        column.data_type,
        FieldType.DATE_TIME,
        default=time.default,
        transform=time.transform or conversion_transform(time),
        format="TIMESTAMP" if column.data_type is PinotType.TIMESTAMP else f"{size}:{column.format}",
        granularity=size,
    )


def conversion_transform(time: TimeField) -> str | None:
    """The transform from the incoming to the outgoing time, None if they are the same. Raises SchemaError."""
    incoming, outgoing = time.incoming, time.outgoing
    if outgoing is None:
        return None
    if error := conversion_fault(time):
        raise SchemaError(f"timeFieldSpec: {error}")
    return _to_epoch(outgoing, _from_epoch(incoming))


def conversion_fault(time: TimeField) -> str | None:
    """Why the incoming time cannot be converted to the outgoing one; None where it can."""
    incoming, outgoing = time.incoming, time.outgoing
    if outgoing is None:
        return None
    if incoming.name == outgoing.name:
        return (
            f"Cannot convert from incoming field spec {_describe(incoming)} to outgoing field spec"
            f" {_describe(outgoing)} if name is the same"
        )
    if incoming.format != EPOCH or outgoing.format != EPOCH:
        return "Conversion from incoming to outgoing is not supported for SIMPLE_DATE_FORMAT"
    for role, granule in (("incoming", incoming), ("outgoing", outgoing)):
        if granule.unit not in _FUNCTIONS and granule.unit != "MILLISECONDS":
            return f"Unsupported {role}TimeUnit - {granule.unit}"
    return None


def migrate_time_field(schema: PinotSchema) -> PinotSchema:
    """The schema with its legacy time field as its last dateTime field. Raises SchemaError."""
    if schema.time is None:
        return schema
    return replace(schema, time=None, date_times=(*schema.date_times, convert_time_field(schema.time)))


def read_time(node: JsonObject, report: ReadReport) -> TimeField | None:
    """A legacy time field without its default; None where it has faults."""
    field_type = node.raw_value("fieldType")
    if field_type is not None and field_type != FieldType.TIME.value:
        node.fault(f"timeFieldSpec has fieldType TIME, not {shown(field_type)}", "fieldType")
    if not node.flag("singleValueField", default=True):
        node.fault("Unsupported multi-value for time field.", "singleValueField")
    if node.raw_value("incomingGranularitySpec") is None:
        node.fault("timeFieldSpec needs an incomingGranularitySpec")
    incoming = _granule(node, "incomingGranularitySpec", report)
    outgoing = _granule(node, "outgoingGranularitySpec", report)
    transform = node.text("transformFunction")
    if incoming is None:
        return None
    node.column = (outgoing or incoming).name
    return TimeField(incoming, None if outgoing == incoming else outgoing, None, transform)


def _granule(parent: JsonObject, key: str, report: ReadReport) -> TimeGranularitySpec | None:
    document = parent.json_object(key)
    if document is None:
        return None
    node = JsonObject(document, parent.pointer_to(key), report, known_keys.GRANULE)
    name, data_type, unit = (
        node.text("name"),
        node.enum_member("dataType", PinotType),
        node.choice("timeType", UNITS),
    )
    for needed in ("name", "dataType", "timeType"):
        if node.raw_value(needed) is None:
            node.fault(f"{key} needs a {needed}")
    size = _size(node, document)
    form = node.text("timeFormat") if "timeFormat" in document else EPOCH
    if form is None:
        node.fault("timeFormat is EPOCH or SIMPLE_DATE_FORMAT:<pattern>, not null", "timeFormat")
    if name is None or data_type is None or unit is None or form is None or size is None:
        return None
    return TimeGranularitySpec(name, data_type, unit, size, form)


def _size(node: JsonObject, document: Mapping[str, object]) -> int | None:
    key = "timeUnitSize" if "timeUnitSize" in document else "timeunitSize"
    if key not in document:
        return 1
    size = node.integer(key)
    if size is not None and size <= 0:
        node.fault(f"{key} is at least 1, not {size}", key)
    return size


def _from_epoch(incoming: TimeGranularitySpec) -> str:
    if incoming.unit == "MILLISECONDS":
        return incoming.name
    return _call(f"fromEpoch{_FUNCTIONS[incoming.unit]}", incoming.name, incoming.size)


def _to_epoch(outgoing: TimeGranularitySpec, argument: str) -> str:
    if outgoing.unit == "MILLISECONDS":
        return argument
    return _call(f"toEpoch{_FUNCTIONS[outgoing.unit]}", argument, outgoing.size)


def _call(function: str, argument: str, size: int) -> str:
    return f"{function}({argument})" if size == 1 else f"{function}Bucket({argument}, {size})"


def _describe(granule: TimeGranularitySpec) -> str:
    return f"{granule.name} {granule.data_type.value} {granule.size}:{granule.unit}:{granule.format}"
