"""Whether a schema that loads is also valid (`SchemaUtils.validate`): every fault at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import FormatError, parse_format
from trellis.dialects.pinot.document import types
from trellis.dialects.pinot.document.columns import Placed, placed
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import conversion_fault
from trellis.dialects.pinot.document.types import BASE, FieldType, PinotType, Profile
from trellis.dialects.pinot.document.validation.date_time_rules import instant_faults
from trellis.dialects.pinot.document.validation.table_rules import table_faults
from trellis.dialects.pinot.document.validation.transform_rules import transform_faults
from trellis.dialects.pinot.document.virtual_columns import reserved

METRIC_TYPES: Final = frozenset(
    {
        PinotType.INT,
        PinotType.LONG,
        PinotType.FLOAT,
        PinotType.DOUBLE,
        PinotType.BIG_DECIMAL,
        PinotType.BYTES,
    }
)
_NOT_BLANK_IN_JAVA: Final = frozenset("\x85\xa0\u2007\u202f")


def faults_of(
    schema: PinotSchema,
    profile: Profile = BASE,
    table_config: Mapping[str, Any] | None = None,
    ignore_case: bool = True,
) -> tuple[Fault, ...]:
    """All that makes the controller refuse the schema; with a table config also what makes the two not fit.

    `ignore_case` is Pinot's `enable.case.insensitive`: names may not be equal but for case.

    >>> from trellis.dialects.pinot.document.fields import FieldSpec
    >>> metric = FieldSpec("c", PinotType.STRING, FieldType.METRIC)
    >>> [fault.message for fault in faults_of(PinotSchema("s", metrics=(metric,)))]
    ['Unsupported data type: STRING in METRIC field: c']
    """
    found: list[Fault] = [*_name_faults(schema)]
    fields = tuple(placed(schema))
    for each in fields:
        found += _field_faults(each, profile)
        if each.spec.field_type is FieldType.DATE_TIME:
            found += instant_faults(each)
    if ignore_case:
        found += _case_faults(fields)
    found += transform_faults(fields)
    found += _time_faults(schema, profile)
    found += _key_faults(schema, fields)
    if table_config is not None:
        found += table_faults(schema, profile, table_config)
    return tuple(found)


def allowed(data_type: PinotType, role: FieldType, profile: Profile = BASE) -> bool:
    """Whether a field of this role may have the type.

    >>> allowed(PinotType.JSON, FieldType.DIMENSION), allowed(PinotType.JSON, FieldType.METRIC)
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


def _field_faults(each: Placed, profile: Profile) -> Iterator[Fault]:
    spec = each.spec
    if any(sign.isspace() and sign not in _NOT_BLANK_IN_JAVA for sign in spec.name):
        message = f'The column name "{spec.name}" should not contain blank space.'
        yield each.fault(message, "name")
    if spec.name in reserved(profile):
        message = f'The column name "{spec.name}" is reserved for a built-in virtual column.'
        yield each.fault(message, "name")
    if not allowed(spec.data_type, spec.field_type, profile):
        message = (
            f"Unsupported data type: {spec.data_type.value} in {spec.field_type.value} field: {spec.name}"
        )
        yield each.fault(message, "dataType")
    if not spec.single_value and spec.data_type is PinotType.JSON:
        yield each.fault("JSON columns cannot be of multi-value type", "singleValueField")
    if not spec.single_value and spec.data_type is PinotType.BIG_DECIMAL and not profile.extended:
        yield each.fault("BIG_DECIMAL columns cannot be of multi-value type", "singleValueField")
    if isinstance(spec.default, float) and spec.default != spec.default:
        yield each.fault(f"NaN as null default value is not managed yet for {spec.name}", "defaultNullValue")


def _case_faults(fields: tuple[Placed, ...]) -> Iterator[Fault]:
    seen: set[str] = set()
    for each in fields:
        folded = each.spec.name.lower()
        if folded in seen:
            yield each.fault(
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
    if wrong := conversion_fault(schema.time):
        yield Fault(place, name, wrong)
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


def _key_faults(schema: PinotSchema, fields: tuple[Placed, ...]) -> Iterator[Fault]:
    stored = {each.spec.name for each in fields if not each.spec.virtual}
    for at, name in enumerate(schema.primary_key):
        if name not in stored:
            yield Fault(pointer("primaryKeyColumns", at), name, f"The primary key column must exist: {name}")
