"""The rules of a dateTime field: format, order, sample, granularity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.date_time.format import DateTimeFormat, FormatError, parse_format
from trellis.dialects.pinot.date_time.granularity import granularity_millis
from trellis.dialects.pinot.date_time.lexicographic_order import is_sortable
from trellis.dialects.pinot.document.columns import Placed
from trellis.dialects.pinot.document.faults import Fault

EARLIEST: Final = 31_536_000_000
LATEST: Final = 3_187_296_000_000


def instant_faults(each: Placed) -> Iterator[Fault]:
    """What is wrong with the format, the sample and the granularity of a dateTime field."""
    form = None
    try:
        form = _format(each.spec.format)
    except FormatError as wrong:
        key = "format" if each.spec.format is not None else None
        yield each.fault(f"Invalid format: {each.spec.format}: {wrong}", key)
    if form is not None:
        yield from _pattern_faults(each, form)
        yield from _sample_faults(each, form)
    try:
        _granularity(each.spec.granularity)
    except FormatError as wrong:
        key = "granularity" if each.spec.granularity is not None else None
        start = f"Invalid granularity: {each.spec.granularity}"
        yield each.fault(str(wrong) if str(wrong).startswith(start) else f"{start}: {wrong}", key)


def _format(text: str | None) -> DateTimeFormat:
    if text is None:
        raise FormatError("Must provide format")
    return parse_format(text)


def _granularity(text: str | None) -> int:
    if text is None:
        raise FormatError("Must provide granularity")
    return granularity_millis(text)


def _pattern_faults(each: Placed, form: DateTimeFormat) -> Iterator[Fault]:
    if form.pattern is not None and not is_sortable(form.pattern):
        yield each.fault(
            f"SIMPLE_DATE_FORMAT pattern {form.pattern} has to be sorted by both lexicographical and"
            " datetime order",
            "format",
        )


def _sample_faults(each: Placed, form: DateTimeFormat) -> Iterator[Fault]:
    sample = each.spec.sample
    if sample is None:
        return
    try:
        millis = form.to_millis(sample)
    except FormatError as wrong:
        yield each.fault(
            f"Cannot format provided sample value: {sample} with provided date time spec:"
            f" {each.spec.format}: {wrong}",
            "sampleValue",
        )
        return
    if not EARLIEST <= millis <= LATEST:
        yield each.fault(
            f"Incorrect date time format. Converted sample value {millis} for date-time field spec is not in"
            f" valid time-range: {EARLIEST} and {LATEST}",
            "sampleValue",
        )
