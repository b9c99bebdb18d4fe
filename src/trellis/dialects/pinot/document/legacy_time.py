"""The legacy time field, read as the dateTime field that says the same (`convertToDateTimeFieldSpec`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.date_time.units import UNITS
from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.json_object import JsonObject, ReadReport, shown
from trellis.dialects.pinot.document.types import FieldType, PinotType

EPOCH: Final = "EPOCH"
_FUNCTIONS: Final = {"SECONDS": "Seconds", "MINUTES": "Minutes", "HOURS": "Hours", "DAYS": "Days"}


@dataclass(frozen=True)
class _Granule:
    """A granularity spec: a time column that counts `size` times `unit`."""

    name: str
    data_type: PinotType
    unit: str
    size: int
    format: str

    def __str__(self) -> str:
        return f"{self.name} {self.data_type.value} {self.size}:{self.unit}:{self.format}"


def read_time(node: JsonObject, report: ReadReport) -> FieldSpec | None:
    """The dateTime field of a `timeFieldSpec`, without its default; None where it has faults.

    Where the times come in another unit than they are stored in, the field has the transform between the two.
    """
    field_type = node.raw_value("fieldType")
    if field_type not in (None, "TIME"):
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
    column = outgoing or incoming
    node.column = column.name
    if column != incoming:
        if problem := _conversion_fault(incoming, column):
            node.fault(problem)
        else:
            transform = transform or _conversion(incoming, column)
    granularity = f"{column.size}:{column.unit}"
    is_timestamp = column.data_type is PinotType.TIMESTAMP
    return FieldSpec(
        column.name,
        column.data_type,
        FieldType.DATE_TIME,
        transform=transform,
        format="TIMESTAMP" if is_timestamp else f"{granularity}:{column.format}",
        granularity=granularity,
    )


def _conversion_fault(incoming: _Granule, outgoing: _Granule) -> str | None:
    """Why the incoming time cannot be converted to the outgoing one; None where it can."""
    if incoming.name == outgoing.name:
        return (
            f"Cannot convert from incoming field spec {incoming} to outgoing field spec {outgoing} if name is"
            " the same"
        )
    if incoming.format != EPOCH or outgoing.format != EPOCH:
        return "Conversion from incoming to outgoing is not supported for SIMPLE_DATE_FORMAT"
    for role, granule in (("incoming", incoming), ("outgoing", outgoing)):
        if granule.unit not in _FUNCTIONS and granule.unit != "MILLISECONDS":
            return f"Unsupported {role}TimeUnit - {granule.unit}"
    return None


def _granule(parent: JsonObject, key: str, report: ReadReport) -> _Granule | None:
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
    return _Granule(name, data_type, unit, size, form)


def _size(node: JsonObject, document: Mapping[str, object]) -> int | None:
    key = "timeUnitSize" if "timeUnitSize" in document else "timeunitSize"
    if key not in document:
        return 1
    size = node.integer(key)
    if size is not None and size <= 0:
        node.fault(f"{key} is at least 1, not {size}", key)
    return size


def _conversion(incoming: _Granule, outgoing: _Granule) -> str:
    argument = incoming.name
    for direction, granule in (("from", incoming), ("to", outgoing)):
        if granule.unit != "MILLISECONDS":
            function, size = f"{direction}Epoch{_FUNCTIONS[granule.unit]}", granule.size
            argument = f"{function}({argument})" if size == 1 else f"{function}Bucket({argument}, {size})"
    return argument
