"""The rules of a dateTime field: format, order, sample, granularity."""

from __future__ import annotations

from collections.abc import Iterator

from trellis.dialects.pinot.date_time.format import DateTimeFormat, FormatError, parse_format
from trellis.dialects.pinot.date_time.granularity import granularity_millis
from trellis.dialects.pinot.date_time.lexicographic_order import is_sortable
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS
from trellis.dialects.pinot.document.columns import PlacedField
from trellis.dialects.pinot.document.faults import Fault


def instant_faults(field: PlacedField) -> Iterator[Fault]:
    """The faults of the format, the sample and the granularity of a dateTime field."""
    form = None
    try:
        form = _format(field.spec.format)
    except FormatError as error:
        key = "format" if field.spec.format is not None else None
        yield field.fault(f"Invalid format: {field.spec.format}: {error}", key)
    if form is not None:
        yield from _pattern_faults(field, form)
        yield from _sample_faults(field, form)
    try:
        _granularity(field.spec.granularity)
    except FormatError as error:
        key = "granularity" if field.spec.granularity is not None else None
        start = f"Invalid granularity: {field.spec.granularity}"
        yield field.fault(str(error) if str(error).startswith(start) else f"{start}: {error}", key)


def _format(text: str | None) -> DateTimeFormat:
    if text is None:
        raise FormatError("Must provide format")
    return parse_format(text)


def _granularity(text: str | None) -> int:
    if text is None:
        raise FormatError("Must provide granularity")
    return granularity_millis(text)


def _pattern_faults(field: PlacedField, form: DateTimeFormat) -> Iterator[Fault]:
    if form.pattern is not None and not is_sortable(form.pattern):
        yield field.fault(
            f"SIMPLE_DATE_FORMAT pattern {form.pattern} has to be sorted by both lexicographical and"
            " datetime order",
            "format",
        )


def _sample_faults(field: PlacedField, form: DateTimeFormat) -> Iterator[Fault]:
    sample = field.spec.sample
    if sample is None:
        return
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
