"""What Pinot changes without an error: done and counted, or refused in strict mode."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.conversion.settings import LossCounts, LossKind, LossyConversion, Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32

STRICT = Settings(strict=True)

HURT: list[tuple[Any, str, Any, LossKind, str]] = [
    (3000000000, "INT", -1294967296, LossKind.OVERFLOW, "3000000000 is beyond the range of INT"),
    (1e20, "INT", 2**31 - 1, LossKind.OVERFLOW, "1e+20 is beyond the range of INT"),
    (float("-inf"), "LONG", -(2**63), LossKind.OVERFLOW, "-inf is beyond the range of LONG"),
    (2.0**63, "LONG", 2**63 - 1, LossKind.OVERFLOW, "9.223372036854776e+18 is beyond the range of LONG"),
    (
        10**20,
        "LONG",
        7766279631452241920,
        LossKind.OVERFLOW,
        "100000000000000000000 is beyond the range of LONG",
    ),
    (Decimal("1E+70"), "LONG", 0, LossKind.OVERFLOW, "1E+70 is beyond the range of LONG"),
    (Decimal("-4294967295.5"), "INT", 1, LossKind.OVERFLOW, "-4294967295.5 is beyond the range of INT"),
    (1e39, "FLOAT", float("inf"), LossKind.OVERFLOW, "1e+39 is beyond the range of FLOAT"),
    ("1e40", "FLOAT", float("inf"), LossKind.OVERFLOW, "'1e40' is beyond the range of FLOAT"),
    ("-1e400", "DOUBLE", float("-inf"), LossKind.OVERFLOW, "'-1e400' is beyond the range of DOUBLE"),
    (1e300, "TIMESTAMP", 2**63 - 1, LossKind.OVERFLOW, "1e+300 is beyond the range of LONG"),
    (7.9, "INT", 7, LossKind.FRACTION_CUT, "INT would cut the fraction of 7.9"),
    (-0.5, "LONG", 0, LossKind.FRACTION_CUT, "LONG would cut the fraction of -0.5"),
    (Decimal("7.90"), "INT", 7, LossKind.FRACTION_CUT, "INT would cut the fraction of 7.90"),
    (Decimal("1E-1000000"), "LONG", 0, LossKind.FRACTION_CUT, "LONG would cut the fraction of 1E-1000000"),
    (7.9, "TIMESTAMP", 7, LossKind.FRACTION_CUT, "LONG would cut the fraction of 7.9"),
    (float("nan"), "INT", 0, LossKind.NAN_TO_ZERO, "INT has no NaN: expected a number"),
    (2**24 + 1, "FLOAT", 2.0**24, LossKind.PRECISION, "FLOAT cannot hold every digit of 16777217"),
    (2**53 + 1, "DOUBLE", 2.0**53, LossKind.PRECISION, "DOUBLE cannot hold every digit of 9007199254740993"),
    (
        Decimal(2**53 + 1),
        "DOUBLE",
        2.0**53,
        LossKind.PRECISION,
        "DOUBLE cannot hold every digit of 9007199254740993",
    ),
    (
        "yes",
        "BOOLEAN",
        0,
        LossKind.TEXT_TO_FALSE,
        "STRING 'yes' would become false: expected true, false, 1 or 0",
    ),
    ("", "BOOLEAN", 0, LossKind.TEXT_TO_FALSE, "STRING '' would become false: expected true, false, 1 or 0"),
    (
        "2023-11-14 25:00:00",
        "TIMESTAMP",
        1700010000000,
        LossKind.ROLLED_OVER,
        "STRING '2023-11-14 25:00:00' is not a valid time and would roll over to another",
    ),
    (
        "2023-02-31T00:00",
        "TIMESTAMP",
        1677542400000,
        LossKind.ROLLED_OVER,
        "STRING '2023-02-31T00:00' is not a valid time and would roll over to another",
    ),
    (
        '{"a":1} junk',
        "JSON",
        '{"a":1}',
        LossKind.JSON_TAIL,
        "the text after the JSON value would be cut: ' junk'",
    ),
    (
        "a\ud83d",
        "STRING",
        "a?",
        LossKind.SURROGATE,
        "STRING 'a\\ud83d' holds half of a character, which is stored as ?",
    ),
    (
        Decimal("1E+40000"),
        "BYTES",
        b"\x63\xc0\x01",
        LossKind.OVERFLOW,
        "BYTES would cut the scale of 1E+40000 to 16 bits",
    ),
]

UNHURT: list[tuple[Any, str]] = [
    (2**31 - 1, "INT"),
    (2.0, "INT"),
    (Decimal("2.00"), "INT"),
    (2**62, "DOUBLE"),
    (2**24 + 2, "FLOAT"),
    (7.9, "FLOAT"),
    (Decimal("7.9"), "FLOAT"),
    (Decimal("0.1"), "DOUBLE"),
    (float("inf"), "FLOAT"),
    (float("nan"), "FLOAT"),
    ("Infinity", "FLOAT"),
    ("NaN", "DOUBLE"),
    (Float32(7.9), "DOUBLE"),
    *((text, "BOOLEAN") for text in ("true", " TRUE ", "1", "false", "FALSE", "0", " 0")),
    (7, "BOOLEAN"),
    ("2023-11-14 22:13:20.123456789", "TIMESTAMP"),
    ("2024-02-29T00:00Z", "TIMESTAMP"),
    (datetime(2023, 11, 14, 22, 13, 20, 123456), "TIMESTAMP"),
    ('{"a":1} \n', "JSON"),
    ("no json", "JSON"),
    ("what? \U0001f600", "STRING"),
]


def names(rows: list[Any]) -> list[str]:
    return [f"{row[0]!r} to {row[1]}" for row in rows]


@pytest.mark.parametrize(("value", "target", "stored", "loss_kind", "sentence"), HURT, ids=names(HURT))
def test_done_and_counted_or_refused(
    value: Any, target: str, stored: Any, loss_kind: LossKind, sentence: str
) -> None:
    losses = LossCounts()
    assert convert(value, target, losses=losses) == stored
    assert dict(losses.take_counts()) == {("c", loss_kind): 1}
    with pytest.raises(LossyConversion) as caught:
        convert(value, target, STRICT)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("value", "target"), UNHURT, ids=names(UNHURT))
def test_nothing_is_damaged(value: Any, target: str) -> None:
    losses = LossCounts()
    stored = convert(value, target, losses=losses)
    assert not losses.take_counts()
    assert repr(convert(value, target, STRICT)) == repr(stored)


def test_every_element_counts() -> None:
    losses = LossCounts()
    assert convert([1.5, 2.0, 2.5, 1e10], "INT[]", losses=losses) == [1, 2, 2, 2147483647]
    assert dict(losses.take_counts()) == {("c", LossKind.FRACTION_CUT): 2, ("c", LossKind.OVERFLOW): 1}


def test_what_cannot_be_converted_is_no_damage() -> None:
    with pytest.raises(CannotConvert) as caught:
        convert("7.9", "INT", STRICT)
    assert not isinstance(caught.value, LossyConversion)
