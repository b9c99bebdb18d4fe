"""Defaults of the types, and the literals that name another."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from trellis.dialects.pinot.document.defaults import default_json, default_of, literal_text, parse_default
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.value.source_kinds import CannotConvert

LOW = float("-inf")


@pytest.mark.parametrize(
    ("kind", "dimension", "metric"),
    [
        pytest.param("INT", -2147483648, 0, id="seed_p12"),
        pytest.param("LONG", -9223372036854775808, 0, id="seed_p13"),
        pytest.param("FLOAT", LOW, 0.0, id="seed_p14"),
        pytest.param("DOUBLE", LOW, 0.0, id="seed_p15"),
        pytest.param("BIG_DECIMAL", Decimal(0), Decimal(0), id="seed_p16"),
        pytest.param("BOOLEAN", 0, None, id="seed_p17"),
        pytest.param("TIMESTAMP", 0, None, id="seed_p18"),
        pytest.param("STRING", "null", "null", id="seed_p19"),
        pytest.param("JSON", "null", None, id="seed_p20"),
        pytest.param("BYTES", b"", b"", id="seed_p21"),
    ],
)
def test_seed_p33_p37_the_default_of_each_type(kind: str, dimension: Any, metric: Any) -> None:
    data_type = PinotType(kind)
    for role in (FieldType.DIMENSION, FieldType.DATE_TIME):
        assert default_of(FieldSpec("c", data_type, role)) == dimension
    if metric is not None:
        assert default_of(FieldSpec("c", data_type, FieldType.METRIC)) == metric
    else:
        with pytest.raises(CannotConvert, match=f"Unsupported metric data type: {kind}"):
            default_of(FieldSpec("c", data_type, FieldType.METRIC))


def test_seed_p47_a_date_time_stands_for_null_as_the_text_null_or_as_1970() -> None:
    assert default_of(FieldSpec("t", PinotType.STRING, FieldType.DATE_TIME)) == "null"
    stamp = default_of(FieldSpec("t", PinotType.TIMESTAMP, FieldType.DATE_TIME))
    assert default_json(PinotType.TIMESTAMP, stamp) == "1970-01-01 00:00:00.0"


def test_seed_p30_p36_a_declared_default_wins() -> None:
    assert default_of(FieldSpec("c", PinotType.INT, default=5)) == 5
    assert default_of(FieldSpec("c", PinotType.INT, FieldType.METRIC, default=5)) == 5


def test_seed_p32_several_values_stand_for_null_as_one() -> None:
    assert default_of(FieldSpec("c", PinotType.INT, single_value=False)) == [-2147483648]
    assert default_of(FieldSpec("c", PinotType.INT, single_value=False, default=5)) == [5]


def test_the_default_of_a_map_is_not_shared() -> None:
    spec = FieldSpec("m", PinotType.MAP, FieldType.COMPLEX)
    default_of(spec)["a"] = 1
    assert default_of(spec) == {}


@pytest.mark.parametrize(
    ("kind", "literal", "value"),
    [
        pytest.param("BOOLEAN", "yes", 0, id="D02"),
        pytest.param("BOOLEAN", "1", 1, id="D03"),
        pytest.param("STRING", {"a": 1}, '{"a":1}', id="D06"),
        pytest.param("TIMESTAMP", "2023-11-14", 1699920000000, id="D07"),
        ("BOOLEAN", "TRUE", 1),
        ("BOOLEAN", " true", 0),
        ("BOOLEAN", 2, 0),
        ("INT", "+5", 5),
        ("INT", "１２", 12),
        ("FLOAT", " 1.5f ", 1.5),
        ("FLOAT", 16777217, 16777216.0),
        ("FLOAT", "0x1p3", 8.0),
        ("DOUBLE", "1e400", float("inf")),
        ("DOUBLE", "-Infinity", LOW),
        ("BIG_DECIMAL", "1.10", Decimal("1.10")),
        ("BIG_DECIMAL", 1.10, Decimal("1.1")),
        ("BIG_DECIMAL", 1e30, Decimal("1.0E+30")),
        ("BIG_DECIMAL", "0.12345678901234567890", Decimal("0.12345678901234567890")),
        ("STRING", 1e20, "1.0E20"),
        ("STRING", 5, "5"),
        ("STRING", "", ""),
        ("JSON", "{bad", "{bad"),
        ("BYTES", "CAFE", b"\xca\xfe"),
        ("BYTES", 12, b"\x12"),
        ("TIMESTAMP", "1700000000123", 1700000000123),
        ("MAP", {"b": 1, "a": [2.5]}, {"b": 1, "a": [2.5]}),
        ("LIST", [1], [1]),
    ],
)
def test_a_literal_is_read_by_its_type(kind: str, literal: Any, value: Any) -> None:
    read = parse_default(PinotType(kind), literal)
    assert (read, str(read)) == (value, str(value))


@pytest.mark.parametrize(
    ("kind", "literal", "shown"),
    [
        pytest.param("INT", 1.5, "1.5", id="D01"),
        pytest.param("BYTES", "caf", "caf", id="D04"),
        ("INT", " 5", " 5"),
        ("INT", "", ""),
        ("INT", 2147483648, "2147483648"),
        ("LONG", "5L", "5L"),
        ("FLOAT", "inf", "inf"),
        ("FLOAT", True, "true"),
        ("BIG_DECIMAL", " 1", " 1"),
        ("BIG_DECIMAL", "NaN", "NaN"),
        ("TIMESTAMP", " 0", " 0"),
        ("MAP", "[]", "[]"),
        ("MAP", "{bad", "{bad"),
        ("INT", [5], "[5]"),
    ],
)
def test_a_literal_of_another_type_is_refused(kind: str, literal: Any, shown: str) -> None:
    with pytest.raises(CannotConvert) as raised:
        parse_default(PinotType(kind), literal)
    assert str(raised.value) == f"Cannot convert value: '{shown}' to type: {kind}"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("FLOAT", 0.10000000149011612, "0.1"),
        ("DOUBLE", 1e7, "1.0E7"),
        ("BOOLEAN", 1, "true"),
        ("BYTES", b"\xca", "ca"),
        ("TIMESTAMP", 1700000000123, "2023-11-14 22:13:20.123"),
        ("BIG_DECIMAL", Decimal("1E+3"), "1E+3"),
        ("MAP", {"a": 1}, '{"a":1}'),
    ],
)
def test_the_text_of_a_default_reads_back(kind: str, value: Any, text: str) -> None:
    assert literal_text(default_json(PinotType(kind), value)) == text
    assert parse_default(PinotType(kind), text) == value
