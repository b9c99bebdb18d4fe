"""Whether a schema that loads is also valid (`SchemaUtils.validate`): every fault at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import FormatError, parse_format
from trellis.dialects.pinot.document import types
from trellis.dialects.pinot.document.columns import PlacedField, placed_fields
from trellis.dialects.pinot.document.defaults import METRIC_DEFAULTS
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import conversion_fault
from trellis.dialects.pinot.document.types import BASE, FieldType, PinotType, Profile
from trellis.dialects.pinot.document.virtual_columns import reserved_names
from trellis.dialects.pinot.validation.date_time_rules import instant_faults
from trellis.dialects.pinot.validation.table_rules import table_faults
from trellis.dialects.pinot.validation.transform_rules import transform_faults

METRIC_TYPES: Final = METRIC_DEFAULTS.keys() - {PinotType.STRING}
_NOT_BLANK_IN_JAVA: Final = frozenset("\x85\xa0\u2007\u202f")


def faults_of(
    schema: PinotSchema,
    profile: Profile = BASE,
    table_config: Mapping[str, Any] | None = None,
) -> tuple[Fault, ...]:
    """Every reason for the controller to refuse the schema, or the schema with the table config.

    >>> from trellis.dialects.pinot.document.fields import FieldSpec
    >>> metric = FieldSpec("c", PinotType.STRING, FieldType.METRIC)
    >>> [fault.message for fault in faults_of(PinotSchema("s", metrics=(metric,)))]
    ['Unsupported data type: STRING in METRIC field: c']
    """
    faults: list[Fault] = [*_name_faults(schema)]
    fields = tuple(placed_fields(schema))
    for field in fields:
        faults += _field_faults(field, profile)
        if field.spec.field_type is FieldType.DATE_TIME:
            faults += instant_faults(field)
    faults += _case_faults(fields)
    faults += transform_faults(fields)
    faults += _time_faults(schema, profile)
    faults += _key_faults(schema, fields)
    if table_config is not None:
        faults += table_faults(schema, profile, table_config)
    return tuple(faults)


def is_allowed(data_type: PinotType, role: FieldType, profile: Profile = BASE) -> bool:
    """Whether a field of this role may have the type.

    >>> is_allowed(PinotType.JSON, FieldType.DIMENSION), is_allowed(PinotType.JSON, FieldType.METRIC)
    (True, False)
    """
    if data_type in types.EXTENDED and not profile.extended:
        return False
    if role is FieldType.METRIC:
        return data_type in METRIC_TYPES
    return (data_type in types.COMPLEX) == (role is FieldType.COMPLEX)


def _name_faults(schema: PinotSchema) -> Iterator[Fault]:
    if not schema.name:
        place = "" if schema.name is None else "/schemaName"
        yield Fault(place, None, "schemaName is required: it is the name of the table, without its type")
    elif "__" in schema.name:
        yield Fault("/schemaName", None, f"schemaName {schema.name} must not contain two underscores, __")


def _field_faults(field: PlacedField, profile: Profile) -> Iterator[Fault]:
    spec = field.spec
    if any(sign.isspace() and sign not in _NOT_BLANK_IN_JAVA for sign in spec.name):
        message = f'The column name "{spec.name}" should not contain blank space.'
        yield field.fault(message, "name")
    if spec.name in reserved_names(profile):
        message = f'The column name "{spec.name}" is reserved for a built-in virtual column.'
        yield field.fault(message, "name")
    if not is_allowed(spec.data_type, spec.field_type, profile):
        message = (
            f"Unsupported data type: {spec.data_type.value} in {spec.field_type.value} field: {spec.name}"
        )
        yield field.fault(message, "dataType")
    if not spec.single_value and spec.data_type is PinotType.JSON:
        yield field.fault("JSON columns cannot be of multi-value type", "singleValueField")
    if not spec.single_value and spec.data_type is PinotType.BIG_DECIMAL and not profile.extended:
        yield field.fault("BIG_DECIMAL columns cannot be of multi-value type", "singleValueField")
    if isinstance(spec.default, float) and spec.default != spec.default:
        yield field.fault(f"NaN as null default value is not managed yet for {spec.name}", "defaultNullValue")


def _case_faults(fields: tuple[PlacedField, ...]) -> Iterator[Fault]:
    seen: set[str] = set()
    for field in fields:
        folded = field.spec.name.lower()
        if folded in seen:
            yield field.fault(
                f"When enable case insensitive, you can't use the same lowercase column name: {folded}",
                "name",
            )
        seen.add(folded)


def _time_faults(schema: PinotSchema, profile: Profile) -> Iterator[Fault]:
    if schema.time is None:
        return
    place, name = "/timeFieldSpec", schema.time.column.name
    if profile.extended:
        message = "TimeFieldSpec (fieldType=TIME) is deprecated; use DateTimeFieldSpec instead"
        yield Fault(place, name, message)
    if error := conversion_fault(schema.time):
        yield Fault(place, name, error)
    sides = {"incomingGranularitySpec": schema.time.incoming, "outgoingGranularitySpec": schema.time.outgoing}
    for key, granule in sides.items():
        if granule is None:
            continue
        try:
            parse_format(f"{granule.size}:{granule.unit}:{granule.format}")
        except FormatError as wrong_format:
            yield Fault(
                place + pointer(key, "timeFormat"), name, f"Invalid format: {granule.format}: {wrong_format}"
            )


def _key_faults(schema: PinotSchema, fields: tuple[PlacedField, ...]) -> Iterator[Fault]:
    stored = {field.spec.name for field in fields if not field.spec.virtual}
    for index, name in enumerate(schema.primary_key):
        if name not in stored:
            yield Fault(
                pointer("primaryKeyColumns", index), name, f"The primary key column must exist: {name}"
            )
