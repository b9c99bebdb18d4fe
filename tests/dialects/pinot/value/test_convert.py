"""The rows of conversion: what a value becomes in its column."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.conversion.settings import Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, Int64

ROWS: list[tuple[str, Any, str, Any]] = [
    ("K01", 7.9, "INT", 7),
    ("K03", 1e20, "INT", 2147483647),
    ("K04", 3000000000, "INT", -1294967296),
    ("K05", float("nan"), "INT", 0),
    ("K07", " 7 ", "LONG", 7),
    ("K09", Float32(7.9), "DOUBLE", 7.900000095367432),
    ("K10", Float32(7.9), "BIG_DECIMAL", Decimal("7.9")),
    ("K11", Decimal("1E+3"), "STRING", "1000"),
    ("K12", 12345678.0, "STRING", "1.2345678E7"),
    ("K13", "TRUE ", "BOOLEAN", 1),
    ("K14", "7", "BOOLEAN", 0),
    ("K15", 7, "BOOLEAN", 1),
    ("K16", Decimal("0.0"), "BOOLEAN", 1),
    ("K18", 7.9, "TIMESTAMP", 7),
    ("K19", "cafe", "BYTES", b"\xca\xfe"),
    ("K21", b"\xca\xfe", "STRING", "cafe"),
    ("K22", b"\xca\xfe", "JSON", '"yv4="'),
    ("K23", Decimal("7.90"), "BYTES", bytes.fromhex("00020316")),
]
REFUSED: list[tuple[str, Any, str, str]] = [
    (
        "K06",
        "7.9",
        "INT",
        "STRING '7.9' cannot become INT: expected a whole number of 32 bits, true or false, or its text",
    ),
    (
        "K17",
        7,
        "TIMESTAMP",
        (
            "INT 7 cannot become TIMESTAMP: expected a timestamp, a 64-bit count of milliseconds, or text "
            "such as 2023-11-14 22:13:20.123"
        ),
    ),
    ("K25", 5, "MAP", "INT 5 cannot become MAP: expected a map, or text of a JSON object"),
    (
        "K26",
        "",
        "INT",
        "STRING '' cannot become INT: expected a whole number of 32 bits, true or false, or its text",
    ),
]

MORE: dict[str, tuple[Any, str, Any]] = {
    "low 32 bits of a decimal": (Decimal("1E+20"), "INT", 1661992960),
    "low 64 bits of a large number": (10**20, "LONG", 7766279631452241920),
    "a decimal of a billion zeros": (Decimal("1E+1000000000"), "INT", 0),
    "a small decimal": (Decimal("1E-1000000000"), "LONG", 0),
    "minus infinity saturates": (float("-inf"), "LONG", -(2**63)),
    "float beyond its range": (1e39, "FLOAT", float("inf")),
    "double from a decimal beyond its range": (Decimal("-1E+400"), "DOUBLE", float("-inf")),
    "decimal of the text of a double": (1e-5, "BIG_DECIMAL", Decimal("0.000010")),
    "decimal of a large double": (1e22, "BIG_DECIMAL", Decimal("1.0E+22")),
    "decimal of bytes": (bytes.fromhex("fffd01"), "BIG_DECIMAL", Decimal("1E+3")),
    "decimal below zero of bytes": (bytes.fromhex("0002ff"), "BIG_DECIMAL", Decimal("-0.01")),
    "bytes of a decimal above 127": (Decimal(128), "BYTES", bytes.fromhex("00000080")),
    "bytes of a decimal below zero": (Decimal(-129), "BYTES", bytes.fromhex("0000ff7f")),
    "bytes of zero": (Decimal("0.0"), "BYTES", bytes.fromhex("000100")),
    "bytes of a large number": (2**64, "BYTES", bytes.fromhex("0000010000000000000000")),
    "scale of 16 bits": (Decimal("1E+40000"), "BYTES", bytes.fromhex("63c001")),
    "hex with blanks around": (" CAfe\n", "BYTES", b"\xca\xfe"),
    "empty hex": ("", "BYTES", b""),
    "NaN is true": (float("nan"), "BOOLEAN", 1),
    "minus zero is false": (-0.0, "BOOLEAN", 0),
    "zero decimal is false": (Decimal("-0"), "BOOLEAN", 0),
    "zero of scale -3 is true": (Decimal("0E+3"), "BOOLEAN", 1),
    "empty text is false": ("", "BOOLEAN", 0),
    "1.0 is false": ("1.0", "BOOLEAN", 0),
    "text keeps its blanks": (" 7 ", "STRING", " 7 "),
    "half of a pair": ("a\ud83d", "STRING", "a?"),
    "pair in two halves": ("\ud83d\ude00", "STRING", "\U0001f600"),
    "text of a Float32": (Float32(1e10), "STRING", "1.0E10"),
    "large number": (10**30, "STRING", "1" + "0" * 30),
}


def ids(rows: list[Any]) -> list[str]:
    return [row[0] for row in rows]


@pytest.mark.parametrize(("value", "target", "stored"), [row[1:] for row in ROWS], ids=ids(ROWS))
def test_row(value: Any, target: str, stored: Any) -> None:
    proposal = convert(value, target)
    assert (repr(proposal), type(proposal)) == (repr(stored), type(stored)) or proposal == stored == 7
    assert convert([value], f"{target}[]") == [stored] or target == "JSON"


@pytest.mark.parametrize(("value", "target", "sentence"), [row[1:] for row in REFUSED], ids=ids(REFUSED))
def test_refused(value: Any, target: str, sentence: str) -> None:
    with pytest.raises(CannotConvert) as caught:
        convert(value, target)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("value", "target", "stored"), MORE.values(), ids=MORE)
def test_more(value: Any, target: str, stored: Any) -> None:
    assert repr(convert(value, target)) == repr(stored)


AT = datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=timezone.utc)
KOLKATA = Settings(session_zone="Asia/Kolkata")


def test_seed_p18_p22_p43_a_timestamp_is_a_long_of_milliseconds() -> None:
    assert convert(AT, "TIMESTAMP") == 1700000000123
    assert convert(1700000000123, "TIMESTAMP") == 1700000000123
    assert convert("2023-11-14 22:13:20.123456789", "TIMESTAMP") == 1700000000123
    assert convert(AT.replace(year=1969), "TIMESTAMP") == -4067199877
    assert [convert(AT, target) for target in ("LONG", "DOUBLE", "BIG_DECIMAL", "JSON")] == [
        1700000000123,
        1700000000123.0,
        Decimal(1700000000123),
        "1700000000123",
    ]


def test_the_text_of_a_timestamp_is_in_the_session_zone() -> None:
    assert convert(AT, "STRING") == "2023-11-14 22:13:20.123456"
    assert convert(AT.replace(microsecond=0), "STRING") == "2023-11-14 22:13:20.0"
    assert convert(AT.replace(microsecond=500000), "STRING") == "2023-11-14 22:13:20.5"
    assert convert(AT, "STRING", KOLKATA) == "2023-11-15 03:43:20.123456"
    assert convert(AT.astimezone(timezone(timedelta(hours=-8))), "STRING") == "2023-11-14 22:13:20.123456"


def test_a_datetime_without_a_zone_is_in_the_session_zone() -> None:
    naive = AT.replace(tzinfo=None)
    assert convert(naive, "TIMESTAMP") == 1700000000123
    assert convert(naive, "TIMESTAMP", KOLKATA) == 1700000000123 - 19_800_000
    assert convert(naive, "STRING", KOLKATA) == "2023-11-14 22:13:20.123456"
    assert convert("2023-11-14 22:13:20.123", "TIMESTAMP", KOLKATA) == convert(naive, "TIMESTAMP", KOLKATA)


def test_a_small_long_is_not_an_int() -> None:
    assert convert(Int64(7), "TIMESTAMP") == 7
    with pytest.raises(CannotConvert, match=r"^INT 7 cannot become TIMESTAMP"):
        convert(7, "TIMESTAMP")


DAY = date(2023, 11, 14)


@pytest.mark.parametrize("target", ["INT", "LONG", "DOUBLE", "TIMESTAMP", "JSON", "BOOLEAN", "BYTES", "MAP"])
def test_a_date_becomes_text_only(target: str) -> None:
    assert convert(DAY, "STRING") == "2023-11-14"
    with pytest.raises(CannotConvert, match=f"^DATE 2023-11-14 cannot become {target}: "):
        convert(DAY, target)


def test_the_text_of_a_uuid_is_lower_case() -> None:
    assert convert(UUID(int=10), "STRING") == "00000000-0000-0000-0000-00000000000a"


def test_a_class_that_no_source_has() -> None:
    with pytest.raises(CannotConvert, match="a value of class complex is of no type that Pinot supports"):
        convert(1j, "STRING")
