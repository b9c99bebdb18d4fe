"""The legacy time field, and the equivalent dateTime field (`Schema.convertToDateTimeFieldSpec`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Final

from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.fields import FieldSpec, Granule, PinotSchema, TimeField
from trellis.dialects.pinot.document.json_object import Ledger, Node, shown
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.errors import SchemaError

EPOCH: Final = "EPOCH"


class TimeUnit(Enum):
    """The units of a time count; the value is the name that documents use."""

    NANOSECONDS = "NANOSECONDS"
    MICROSECONDS = "MICROSECONDS"
    MILLISECONDS = "MILLISECONDS"
    SECONDS = "SECONDS"
    MINUTES = "MINUTES"
    HOURS = "HOURS"
    DAYS = "DAYS"


_FUNCTIONS: Final = {"SECONDS": "Seconds", "MINUTES": "Minutes", "HOURS": "Hours", "DAYS": "Days"}


def converted(time: TimeField) -> FieldSpec:
    """The dateTime field that means the same. Raises SchemaError where Pinot has no transform for it.

    >>> from trellis.dialects.pinot.document.types import PinotType
    >>> incoming = Granule("t", PinotType.LONG, "SECONDS", 5)
    >>> spec = converted(TimeField(incoming, Granule("m", PinotType.INT, "MINUTES", 30)))
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
        transform=time.transform or conversion(time),
        format="TIMESTAMP" if column.data_type is PinotType.TIMESTAMP else f"{size}:{column.format}",
        granularity=size,
    )


def conversion(time: TimeField) -> str | None:
    """The transform from the incoming to the outgoing time; None where they are one. Raises SchemaError."""
    incoming, outgoing = time.incoming, time.outgoing
    if outgoing is None:
        return None
    if wrong := conversion_fault(time):
        raise SchemaError(f"timeFieldSpec: {wrong}")
    return _outer(outgoing, _inner(incoming))


def conversion_fault(time: TimeField) -> str | None:
    """Why the incoming time cannot become the outgoing one; None where it can."""
    incoming, outgoing = time.incoming, time.outgoing
    if outgoing is None:
        return None
    if incoming.name == outgoing.name:
        return (
            f"Cannot convert from incoming field spec {_said(incoming)} to outgoing field spec"
            f" {_said(outgoing)} if name is the same"
        )
    if incoming.format != EPOCH or outgoing.format != EPOCH:
        return "Conversion from incoming to outgoing is not supported for SIMPLE_DATE_FORMAT"
    for role, each in (("incoming", incoming), ("outgoing", outgoing)):
        if each.unit not in _FUNCTIONS and each.unit != "MILLISECONDS":
            return f"Unsupported {role}TimeUnit - {each.unit}"
    return None


def migrated(schema: PinotSchema) -> PinotSchema:
    """The schema with its legacy time field as its last dateTime field. Raises SchemaError as `converted`."""
    if schema.time is None:
        return schema
    return replace(schema, time=None, date_times=(*schema.date_times, converted(schema.time)))


def read_time(node: Node, ledger: Ledger) -> TimeField | None:
    """A legacy time field without its default; None where faults went into the ledger."""
    said = node.said("fieldType")
    if said is not None and said != FieldType.TIME.value:
        node.fault(f"timeFieldSpec has fieldType TIME, not {shown(said)}", "fieldType")
    if not node.flag("singleValueField", default=True):
        node.fault("Unsupported multi-value for time field.", "singleValueField")
    if node.said("incomingGranularitySpec") is None:
        node.fault("timeFieldSpec needs an incomingGranularitySpec")
    incoming = _granule(node, "incomingGranularitySpec", ledger)
    outgoing = _granule(node, "outgoingGranularitySpec", ledger)
    transform = node.text("transformFunction")
    if incoming is None:
        return None
    node.column = (outgoing or incoming).name
    return TimeField(incoming, None if outgoing == incoming else outgoing, None, transform)


def _granule(parent: Node, key: str, ledger: Ledger) -> Granule | None:
    document = parent.objects(key)
    if document is None:
        return None
    node = Node(document, parent.at(key), ledger, known_keys.GRANULE)
    name, data_type, unit = (
        node.text("name"),
        node.word("dataType", PinotType),
        node.word("timeType", TimeUnit),
    )
    for needed in ("name", "dataType", "timeType"):
        if node.said(needed) is None:
            node.fault(f"{key} needs a {needed}")
    size = _size(node, document)
    form = node.text("timeFormat") if "timeFormat" in document else EPOCH
    if form is None:
        node.fault("timeFormat is EPOCH or SIMPLE_DATE_FORMAT:<pattern>, not null", "timeFormat")
    if name is None or data_type is None or unit is None or form is None or size is None:
        return None
    return Granule(name, data_type, unit.value, size, form)


def _size(node: Node, document: Mapping[str, object]) -> int | None:
    key = "timeUnitSize" if "timeUnitSize" in document else "timeunitSize"
    if key not in document:
        return 1
    size = node.integer(key)
    if size is not None and size <= 0:
        node.fault(f"{key} is at least 1, not {size}", key)
    return size


def _inner(incoming: Granule) -> str:
    if incoming.unit == "MILLISECONDS":
        return incoming.name
    return _call(f"fromEpoch{_FUNCTIONS[incoming.unit]}", incoming.name, incoming.size)


def _outer(outgoing: Granule, argument: str) -> str:
    if outgoing.unit == "MILLISECONDS":
        return argument
    return _call(f"toEpoch{_FUNCTIONS[outgoing.unit]}", argument, outgoing.size)


def _call(function: str, argument: str, size: int) -> str:
    return f"{function}({argument})" if size == 1 else f"{function}Bucket({argument}, {size})"


def _said(granule: Granule) -> str:
    return f"{granule.name} {granule.data_type.value} {granule.size}:{granule.unit}:{granule.format}"
