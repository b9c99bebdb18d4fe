"""Lines of Pinot's own page on schemas that no other test shows by itself."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

import pytest

from dialects.pinot.row.rows import NOW, config, document, pipeline, rows, time
from trellis.dialects.pinot.date_time.format import is_sortable, parse_format
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError
from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of

SDF: Final = "SIMPLE_DATE_FORMAT"
DAY: Final = {"format": f"{SDF}|yyyy-MM-dd", "granularity": "1:DAYS"}
KEY: Final = {"name": "key", "dataType": "STRING", "fieldType": "DIMENSION"}


def schema_of(**lists: Any) -> PinotSchema:
    return read_schema({"schemaName": "s", **lists})


def columns(data_types: list[str]) -> list[dict[str, str]]:
    return [{"name": name.lower(), "dataType": name} for name in data_types]


@pytest.mark.parametrize(
    ("key", "held"),
    [
        pytest.param("dimensionFieldSpecs", "dimensions", id="seed_p03"),
        pytest.param("metricFieldSpecs", "metrics", id="seed_p04"),
        pytest.param("dateTimeFieldSpecs", "date_times", id="seed_p05"),
        pytest.param("complexFieldSpecs", "complexes", id="seed_p06"),
    ],
)
def test_a_list_of_specs_is_empty_unless_given_and_has_one_for_each_column(key: str, held: str) -> None:
    extra: dict[str, dict[str, Any]] = {
        "dimensionFieldSpecs": {"dataType": "STRING"},
        "metricFieldSpecs": {"dataType": "DOUBLE"},
        "dateTimeFieldSpecs": {"dataType": "STRING", **DAY},
        "complexFieldSpecs": {
            "dataType": "MAP",
            "fieldType": "COMPLEX",
            "childFieldSpecs": {"key": KEY, "value": {**KEY, "name": "value"}},
        },
    }
    assert getattr(schema_of(), held) == ()
    schema = schema_of(**{key: [{"name": "b", **extra[key]}, {"name": "a", **extra[key]}]})
    assert [value.name for value in getattr(schema, held)] == ["b", "a"]
    assert [spec.name for spec in schema.specs()] == ["b", "a"]
    assert faults_of(schema) == ()


def test_seed_p22_a_timestamp_has_no_more_than_milliseconds() -> None:
    form = parse_format("TIMESTAMP")
    assert form.to_millis("2023-11-14 22:13:20.123999999") == 1700000000123
    assert form.from_millis(1700000000123) == "2023-11-14 22:13:20.123"


def test_seed_p24_a_number_that_would_not_equal_itself_is_null() -> None:
    pipe = pipeline(document(dimensions=[{"name": "x", "dataType": "DOUBLE"}]))
    (row,) = rows(pipe, {"x": math.nan})
    assert (row.values, row.nulls) == ({"x": -math.inf}, {"x"})


def test_seed_p29_types_of_dimensions() -> None:
    named = ["INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES", "JSON"]
    assert faults_of(schema_of(dimensionFieldSpecs=columns(named))) == ()
    with pytest.raises(SchemaFaults, match="Unsupported dimension/time data type: MAP"):
        schema_of(dimensionFieldSpecs=columns(["MAP"]))


def test_seed_p34_a_metric_has_a_name() -> None:
    assert [data_type.name for data_type in schema_of(metricFieldSpecs=columns(["INT"])).metrics] == ["int"]
    with pytest.raises(SchemaFaults, match=r"/metricFieldSpecs/0.*name"):
        schema_of(metricFieldSpecs=[{"dataType": "INT"}])


def test_seed_p35_types_of_metrics() -> None:
    named = ["INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BYTES"]
    assert faults_of(schema_of(metricFieldSpecs=columns(named))) == ()
    for kind in ("BOOLEAN", "TIMESTAMP", "JSON", "MAP"):
        with pytest.raises(SchemaFaults, match=f"Unsupported metric data type: {kind}"):
            schema_of(metricFieldSpecs=columns([kind]))
    (fault,) = faults_of(schema_of(metricFieldSpecs=columns(["STRING"])))
    assert fault.message == "Unsupported data type: STRING in METRIC field: string"


def test_seed_p36_a_metric_may_say_what_stands_for_null() -> None:
    metric = {"name": "m", "dataType": "DOUBLE", "defaultNullValue": -1}
    pipe = pipeline(document(metrics=[metric, {"name": "n", "dataType": "DOUBLE"}]))
    (row,) = rows(pipe, {"m": None})
    assert (row.values, row.nulls) == ({"m": -1.0, "n": 0.0}, {"m", "n"})


def test_seed_p37_what_stands_for_null_in_a_metric() -> None:
    table = {"INT": 0, "LONG": 0, "FLOAT": 0.0, "DOUBLE": 0.0, "BIG_DECIMAL": Decimal(0), "BYTES": b""}
    for kind, value in table.items():
        assert default_of(FieldSpec("m", PinotType(kind), FieldType.METRIC)) == value


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("1971-01-01", "1971-01-01"),
        ("2071-01-01", "2071-01-01"),
        ("1970-12-31", NOW.strftime("%Y-%m-%d")),
        ("2071-01-02", NOW.strftime("%Y-%m-%d")),
    ],
)
def test_seed_p49_a_default_out_of_range_becomes_the_time_of_the_load(text: str, stored: str) -> None:
    form = parse_format(DAY["format"])
    assert (form.to_millis("1971-01-01"), form.to_millis("2071-01-01")) == (
        VALID_MIN_MILLIS,
        VALID_MAX_MILLIS,
    )
    spec = time("day", "STRING", DAY["format"], defaultNullValue=text)
    (row,) = rows(pipeline(document(times=[spec]), config("day")), {})
    assert (row.values, row.nulls) == ({"day": stored}, {"day"})


@pytest.mark.parametrize(
    ("first", "second"), [("yyyy", "MM"), ("MM", "dd"), ("dd", "HH"), ("HH", "mm"), ("mm", "ss")]
)
def test_seed_p60_a_greater_unit_comes_first(first: str, second: str) -> None:
    assert is_sortable(f"{first}-{second}")
    assert not is_sortable(f"{second}-{first}")


@pytest.mark.parametrize("text", ["1:MILLISECONDS", "7:HOURS", "0:DAYS", "9:BOGUS"])
def test_seed_p63_size_and_unit_are_not_used_unless_epoch(text: str) -> None:
    """P-62 says the same of the size: it is shown with EPOCH."""
    form = parse_format(f"{text}:{SDF}:yyyy-MM-dd")
    assert (form.kind, form.pattern, form.size, form.unit) == (SDF, "yyyy-MM-dd", 1, "MILLISECONDS")
    assert form.to_millis("2020-08-21") == 1597968000000


@pytest.mark.parametrize(
    ("text", "value", "millis"),
    [
        ("5:MINUTES:EPOCH", "4996308", 1498892400000),
        (f"1:DAYS:{SDF}:yyyy-MM-dd", "2020-08-21", 1597968000000),
    ],
)
def test_seed_p64_old_formats_are_epoch_or_a_pattern(text: str, value: str, millis: int) -> None:
    assert parse_format(text).to_millis(value) == millis


def test_seed_p64_any_other_old_format_is_refused() -> None:
    with pytest.raises(FormatError, match="Invalid time format: ISO"):
        parse_format("1:DAYS:ISO:yyyy-MM-dd")


def test_seed_p65_the_pattern_of_an_old_format_may_be_left_out_and_is_of_joda() -> None:
    assert parse_format(f"1:DAYS:{SDF}").to_millis("2020-08-21T12:30:00Z") == 1598013000000
    assert parse_format(f"1:DAYS:{SDF}:yyyy-MM-dd'T'HH:mm").to_millis("2020-08-21T12:30") == 1598013000000
    assert parse_format(f"1:DAYS:{SDF}:xxxx-'W'ww-e").to_millis("2020-W34-5") == 1597968000000


def test_seed_p78_a_column_with_a_provider_is_made_by_the_server() -> None:
    virtual = {"name": "host", "dataType": "STRING", "virtualColumnProvider": "org.example.HostProvider"}
    schema_document = document(dimensions=[{"name": "a", "dataType": "INT"}, virtual])
    schema = read_schema(schema_document)
    assert write_schema(schema).count('"virtualColumnProvider" : "org.example.HostProvider"') == 1
    assert "host" in [value.name for value in schema.dimensions if value.virtual]
    (row,) = rows(pipeline(schema_document), {"a": 1, "host": "given"})
    assert row.values == {"a": 1}
