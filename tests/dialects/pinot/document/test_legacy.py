"""The legacy time field and the dateTime field that says the same."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.errors import SchemaError


def granule(name: str, kind: str, unit: str, size: int = 1, **keys: Any) -> dict[str, Any]:
    return {"name": name, "dataType": kind, "timeType": unit, "timeUnitSize": size, **keys}


def schema_of(incoming: dict[str, Any], outgoing: dict[str, Any] | None = None, **keys: Any) -> PinotSchema:
    time = {"incomingGranularitySpec": incoming, "outgoingGranularitySpec": outgoing, **keys}
    return read_schema({"schemaName": "s", "timeFieldSpec": time})


def time_of(incoming: dict[str, Any], outgoing: dict[str, Any] | None = None, **keys: Any) -> FieldSpec:
    (time,) = schema_of(incoming, outgoing, **keys).date_times
    return time


@pytest.mark.parametrize(
    ("incoming", "outgoing", "format_", "transform"),
    [
        pytest.param(
            granule("t", "LONG", "MILLISECONDS"),
            granule("d", "INT", "DAYS"),
            "1:DAYS:EPOCH",
            "toEpochDays(t)",
            id="Y01",
        ),
        pytest.param(
            granule("t", "LONG", "SECONDS", 5),
            granule("m", "INT", "MINUTES", 30),
            "30:MINUTES:EPOCH",
            "toEpochMinutesBucket(fromEpochSecondsBucket(t, 5), 30)",
            id="Y02",
        ),
        (
            granule("t", "INT", "DAYS"),
            granule("m", "LONG", "MILLISECONDS"),
            "1:MILLISECONDS:EPOCH",
            "fromEpochDays(t)",
        ),
        (granule("t", "INT", "DAYS"), granule("t", "INT", "DAYS"), "1:DAYS:EPOCH", None),
        (granule("t", "LONG", "MICROSECONDS"), None, "1:MICROSECONDS:EPOCH", None),
        (
            granule("t", "STRING", "DAYS", timeFormat="SIMPLE_DATE_FORMAT:yyyyMMdd"),
            None,
            "1:DAYS:SIMPLE_DATE_FORMAT:yyyyMMdd",
            None,
        ),
    ],
)
def test_the_date_time_that_says_the_same(
    incoming: dict[str, Any], outgoing: dict[str, Any] | None, format_: str, transform: str | None
) -> None:
    column = outgoing or incoming
    assert time_of(incoming, outgoing) == FieldSpec(
        column["name"],
        PinotType(column["dataType"]),
        FieldType.DATE_TIME,
        transform=transform,
        format=format_,
        granularity=":".join(format_.split(":")[:2]),
    )


@pytest.mark.parametrize(
    ("incoming", "outgoing", "message"),
    [
        pytest.param(
            granule("n", "LONG", "MICROSECONDS"),
            granule("d", "INT", "DAYS"),
            "Unsupported incomingTimeUnit - MICROSECONDS",
            id="Y03",
        ),
        (
            granule("n", "LONG", "MILLISECONDS"),
            granule("d", "LONG", "NANOSECONDS"),
            "Unsupported outgoingTimeUnit - NANOSECONDS",
        ),
        (
            granule("n", "LONG", "MILLISECONDS"),
            granule("d", "INT", "DAYS", timeFormat="SIMPLE_DATE_FORMAT:yyyy"),
            "Conversion from incoming to outgoing is not supported for SIMPLE_DATE_FORMAT",
        ),
        (
            granule("n", "LONG", "MILLISECONDS"),
            granule("n", "INT", "DAYS"),
            (
                "Cannot convert from incoming field spec n LONG 1:MILLISECONDS:EPOCH to"
                " outgoing field spec n INT 1:DAYS:EPOCH if name is the same"
            ),
        ),
    ],
)
def test_what_has_no_conversion_says_why(
    incoming: dict[str, Any], outgoing: dict[str, Any], message: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        schema_of(incoming, outgoing)
    assert str(raised.value) == f"schema: /timeFieldSpec: column {(outgoing or incoming)['name']}: {message}"


def test_the_default_and_an_explicit_transform_are_kept() -> None:
    time = time_of(
        granule("t", "LONG", "SECONDS"),
        granule("d", "INT", "DAYS"),
        defaultNullValue="7",
        transformFunction="f(x)",
    )
    assert (time.default, time.transform) == (7, "f(x)")


def test_the_time_stands_behind_the_date_times() -> None:
    day = {"name": "day", "dataType": "LONG", "format": "EPOCH|DAYS", "granularity": "1:DAYS"}
    time = {"incomingGranularitySpec": granule("t", "LONG", "MILLISECONDS")}
    schema = read_schema({"schemaName": "s", "timeFieldSpec": time, "dateTimeFieldSpecs": [day]})
    assert ([spec.name for spec in schema.date_times], schema.legacy_time) == (["day", "t"], "t")
    again = read_schema(write_schema(schema))
    assert (again, again.legacy_time) == (schema, None)


def test_the_size_may_be_spelled_in_the_old_way() -> None:
    time = time_of({"name": "t", "dataType": "INT", "timeType": "DAYS", "timeunitSize": "3"})
    assert time.format == "3:DAYS:EPOCH"


def test_what_is_missing_is_told_at_once() -> None:
    with pytest.raises(SchemaFaults) as raised:
        schema_of({"timeType": "WEEKS", "timeUnitSize": 0, "timeFormat": None}, fieldType="DATE_TIME")
    assert [(fault.pointer, fault.message.split(":")[0]) for fault in raised.value.faults] == [
        ("/timeFieldSpec/fieldType", "timeFieldSpec has fieldType TIME, not 'DATE_TIME'"),
        ("/timeFieldSpec/incomingGranularitySpec/timeType", "unknown timeType 'WEEKS'"),
        ("/timeFieldSpec/incomingGranularitySpec", "incomingGranularitySpec needs a name"),
        ("/timeFieldSpec/incomingGranularitySpec", "incomingGranularitySpec needs a dataType"),
        ("/timeFieldSpec/incomingGranularitySpec/timeUnitSize", "timeUnitSize is at least 1, not 0"),
        ("/timeFieldSpec/incomingGranularitySpec/timeFormat", "timeFormat is EPOCH or SIMPLE_DATE_FORMAT"),
    ]


def test_several_values_are_refused() -> None:
    with pytest.raises(SchemaFaults, match=r"Unsupported multi-value for time field\."):
        schema_of(granule("t", "INT", "DAYS"), singleValueField=False)


def test_texts_of_a_legacy_time_need_not_sort_by_time() -> None:
    """Pinot asks it of dateTime fields alone."""
    schema = schema_of(granule("t", "STRING", "DAYS", timeFormat="SIMPLE_DATE_FORMAT:MM/dd/yyyy"))
    assert faults_of(schema) == ()
    (fault,) = faults_of(read_schema(write_schema(schema)))
    assert fault.message.startswith("SIMPLE_DATE_FORMAT pattern MM/dd/yyyy has to be sorted by both")
