"""Whether a schema that loads is also valid (`SchemaUtils.validate`): every fault at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import (
    DateTimeFormat,
    granularity_millis,
    is_sortable,
    parse_format,
)
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError
from trellis.dialects.pinot.document import types
from trellis.dialects.pinot.document.defaults import METRIC_DEFAULTS
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import PinotSchema, PlacedField, placed_fields
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.validation.expressions import check_expression
from trellis.dialects.pinot.validation.table_rules import table_faults


def instant_faults(field: PlacedField, has_to_sort: bool = True) -> Iterator[Fault]:
    """The faults of the format, the sample and the granularity of a dateTime field.

    `has_to_sort`: texts of its pattern are to sort by time, which Pinot asks of all but a legacy time field.
    """
    form = None
    try:
        form = parse_format(field.spec.format or "")
    except FormatError as error:
        key = "format" if field.spec.format is not None else None
        yield field.fault(f"Invalid format: {field.spec.format}: {error}", key)
    if has_to_sort and form is not None and form.pattern is not None and not is_sortable(form.pattern):
        message = f"pattern {form.pattern} has to be sorted by both lexicographical and datetime order"
        yield field.fault(f"SIMPLE_DATE_FORMAT {message}", "format")
    if form is not None and field.spec.sample is not None:
        yield from _sample_faults(field, form, field.spec.sample)
    try:
        granularity_millis(field.spec.granularity or "")
    except FormatError as error:
        key = "granularity" if field.spec.granularity is not None else None
        start = f"Invalid granularity: {field.spec.granularity}"
        yield field.fault(str(error) if str(error).startswith(start) else f"{start}: {error}", key)


def _sample_faults(field: PlacedField, form: DateTimeFormat, sample: str) -> Iterator[Fault]:
    try:
        millis = form.to_millis(sample)
    except FormatError as error:
        yield field.fault(
            f"Cannot format provided sample value: {sample} with provided date time spec:"
            f" {field.spec.format}: {error}",
            "sampleValue",
        )
        return
    if not VALID_MIN_MILLIS <= millis <= VALID_MAX_MILLIS:
        yield field.fault(
            f"Incorrect date time format. Converted sample value {millis} for date-time field spec is not in"
            f" valid time-range: {VALID_MIN_MILLIS} and {VALID_MAX_MILLIS}",
            "sampleValue",
        )


def transform_faults(fields: Iterable[PlacedField]) -> Iterator[Fault]:
    """The faults of the `transformFunction` of each field, and of one that reads another."""
    transforms = [
        (field, check_expression(field.spec.transform, "transform function", field.spec.data_type))
        for field in fields
        if field.spec.transform is not None
    ]
    names = {field.spec.name for field, _ in transforms}
    for field, transform in transforms:
        text, name = field.spec.transform, field.spec.name
        if transform.problem:
            yield replace(field.fault(transform.problem, "transformFunction"), unchecked=transform.unchecked)
        if name in transform.arguments:
            yield field.fault(
                f"The arguments of transform function {text} should not contain the destination column"
                f" {name}",
                "transformFunction",
            )
        used = sorted(transform.arguments & names - {name})
        if used:
            yield field.fault(
                f"Columns: [{', '.join(used)}] are a result of transformations, and cannot be used as"
                " arguments to other transform functions",
                "transformFunction",
            )


METRIC_TYPES: Final = METRIC_DEFAULTS.keys() - {PinotType.STRING}
_NOT_BLANK_IN_JAVA: Final = frozenset("\x85\xa0\u2007\u202f")


def faults_of(schema: PinotSchema, table_config: Mapping[str, Any] | None = None) -> tuple[Fault, ...]:
    """Every reason for the controller to refuse the schema, or the schema with the table config.

    >>> from trellis.dialects.pinot.document.fields import FieldSpec
    >>> metric = FieldSpec("c", PinotType.STRING, FieldType.METRIC)
    >>> [fault.message for fault in faults_of(PinotSchema("s", metrics=(metric,)))]
    ['Unsupported data type: STRING in METRIC field: c']
    """
    faults: list[Fault] = [*_name_faults(schema)]
    fields = tuple(placed_fields(schema))
    for field in fields:
        faults += _field_faults(field)
        if field.spec.field_type is FieldType.DATE_TIME:
            faults += instant_faults(field, has_to_sort=field.spec.name != schema.legacy_time)
    faults += _case_faults(fields)
    faults += transform_faults(fields)
    faults += _key_faults(schema, fields)
    if table_config is not None:
        faults += table_faults(schema, table_config)
    return tuple(faults)


def is_allowed(data_type: PinotType, role: FieldType) -> bool:
    """Whether a field of this role may have the type.

    >>> is_allowed(PinotType.JSON, FieldType.DIMENSION), is_allowed(PinotType.JSON, FieldType.METRIC)
    (True, False)
    """
    if role is FieldType.METRIC:
        return data_type in METRIC_TYPES
    return (data_type in types.COMPLEX) == (role is FieldType.COMPLEX)


def _name_faults(schema: PinotSchema) -> Iterator[Fault]:
    if not schema.name:
        place = "" if schema.name is None else "/schemaName"
        yield Fault(place, "schemaName is required: it is the name of the table, without its type")
    elif "__" in schema.name:
        yield Fault("/schemaName", f"schemaName {schema.name} must not contain two underscores, __")


def _field_faults(field: PlacedField) -> Iterator[Fault]:
    spec = field.spec
    if any(sign.isspace() and sign not in _NOT_BLANK_IN_JAVA for sign in spec.name):
        message = f'The column name "{spec.name}" should not contain blank space.'
        yield field.fault(message, "name")
    if not is_allowed(spec.data_type, spec.field_type):
        message = (
            f"Unsupported data type: {spec.data_type.value} in {spec.field_type.value} field: {spec.name}"
        )
        yield field.fault(message, "dataType")
    if not spec.single_value and spec.data_type is PinotType.JSON:
        yield field.fault("JSON columns cannot be of multi-value type", "singleValueField")
    if not spec.single_value and spec.data_type is PinotType.BIG_DECIMAL:
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


def _key_faults(schema: PinotSchema, fields: tuple[PlacedField, ...]) -> Iterator[Fault]:
    stored = {field.spec.name for field in fields if not field.spec.virtual}
    for index, name in enumerate(schema.primary_key):
        if name not in stored:
            yield Fault(
                pointer("primaryKeyColumns", index), f"The primary key column must exist: {name}", name
            )
