"""What Pinot damages in silence: done and counted, or refused in strict mode."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.value.losses import Damage, Damaged, Damages
from trellis.dialects.pinot.value.settings import Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32

STRICT = Settings(strict=True)

HURT: list[tuple[Any, str, Any, Damage, str]] = [
    (3000000000, "INT", -1294967296, Damage.OVERFLOW, "3000000000 is beyond the range of INT"),
    (1e20, "INT", 2**31 - 1, Damage.OVERFLOW, "1e+20 is beyond the range of INT"),
    (float("-inf"), "LONG", -(2**63), Damage.OVERFLOW, "-inf is beyond the range of LONG"),
    (2.0**63, "LONG", 2**63 - 1, Damage.OVERFLOW, "9.223372036854776e+18 is beyond the range of LONG"),
    (
        10**20,
        "LONG",
        7766279631452241920,
        Damage.OVERFLOW,
        "100000000000000000000 is beyond the range of LONG",
    ),
    (Decimal("1E+70"), "LONG", 0, Damage.OVERFLOW, "1E+70 is beyond the range of LONG"),
    (Decimal("-4294967295.5"), "INT", 1, Damage.OVERFLOW, "-4294967295.5 is beyond the range of INT"),
    (1e39, "FLOAT", float("inf"), Damage.OVERFLOW, "1e+39 is beyond the range of FLOAT"),
    ("1e40", "FLOAT", float("inf"), Damage.OVERFLOW, "'1e40' is beyond the range of FLOAT"),
    ("-1e400", "DOUBLE", float("-inf"), Damage.OVERFLOW, "'-1e400' is beyond the range of DOUBLE"),
    (1e300, "TIMESTAMP", 2**63 - 1, Damage.OVERFLOW, "1e+300 is beyond the range of LONG"),
    (7.9, "INT", 7, Damage.FRACTION_CUT, "INT would cut the fraction of 7.9"),
    (-0.5, "LONG", 0, Damage.FRACTION_CUT, "LONG would cut the fraction of -0.5"),
    (Decimal("7.90"), "INT", 7, Damage.FRACTION_CUT, "INT would cut the fraction of 7.90"),
    (Decimal("1E-1000000"), "LONG", 0, Damage.FRACTION_CUT, "LONG would cut the fraction of 1E-1000000"),
    (7.9, "TIMESTAMP", 7, Damage.FRACTION_CUT, "LONG would cut the fraction of 7.9"),
    (float("nan"), "INT", 0, Damage.NAN_TO_ZERO, "INT has no NaN: a number fits"),
    (2**24 + 1, "FLOAT", 2.0**24, Damage.PRECISION, "FLOAT cannot hold every digit of 16777217"),
    (2**53 + 1, "DOUBLE", 2.0**53, Damage.PRECISION, "DOUBLE cannot hold every digit of 9007199254740993"),
    (
        Decimal(2**53 + 1),
        "DOUBLE",
        2.0**53,
        Damage.PRECISION,
        "DOUBLE cannot hold every digit of 9007199254740993",
    ),
    ("yes", "BOOLEAN", 0, Damage.TEXT_TO_FALSE, "STRING 'yes' would become false: true, false, 1 or 0 fits"),
    ("", "BOOLEAN", 0, Damage.TEXT_TO_FALSE, "STRING '' would become false: true, false, 1 or 0 fits"),
    (
        "2023-11-14 25:00:00",
        "TIMESTAMP",
        1700010000000,
        Damage.ROLLED_OVER,
        "STRING '2023-11-14 25:00:00' is no time of the calendar and would be moved to one",
    ),
    (
        "2023-02-31T00:00",
        "TIMESTAMP",
        1677542400000,
        Damage.ROLLED_OVER,
        "STRING '2023-02-31T00:00' is no time of the calendar and would be moved to one",
    ),
    (
        '{"a":1} junk',
        "JSON",
        '{"a":1}',
        Damage.JSON_TAIL,
        "the text after the JSON value would be cut: ' junk'",
    ),
    (
        "a\ud83d",
        "STRING",
        "a?",
        Damage.SURROGATE,
        "STRING 'a\\ud83d' holds half of a character, which is stored as ?",
    ),
    (
        Decimal("1E+40000"),
        "BYTES",
        b"\x63\xc0\x01",
        Damage.OVERFLOW,
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


@pytest.mark.parametrize(("value", "target", "stored", "damage", "sentence"), HURT, ids=names(HURT))
def test_done_and_counted_or_refused(
    value: Any, target: str, stored: Any, damage: Damage, sentence: str
) -> None:
    damages = Damages()
    assert convert(value, target, damages=damages) == stored
    assert dict(damages.counts) == {("c", damage): 1}
    with pytest.raises(Damaged) as caught:
        convert(value, target, STRICT)
    assert caught.value.damage is damage
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("value", "target"), UNHURT, ids=names(UNHURT))
def test_nothing_is_damaged(value: Any, target: str) -> None:
    damages = Damages()
    stored = convert(value, target, damages=damages)
    assert not damages.counts
    assert repr(convert(value, target, STRICT)) == repr(stored)


def test_every_element_counts() -> None:
    damages = Damages()
    assert convert([1.5, 2.0, 2.5, 1e10], "INT[]", damages=damages) == [1, 2, 2, 2147483647]
    assert dict(damages.counts) == {("c", Damage.FRACTION_CUT): 2, ("c", Damage.OVERFLOW): 1}


def test_counts_of_several_tasks_add_up() -> None:
    one, other = Damages(), Damages()
    one.add("a", Damage.NUL)
    other.add("a", Damage.NUL, 2)
    other.add("b", Damage.TOO_LONG)
    one.merge(other)
    assert dict(one.counts) == {("a", Damage.NUL): 3, ("b", Damage.TOO_LONG): 1}


def test_what_cannot_be_converted_is_no_damage() -> None:
    with pytest.raises(CannotConvert) as caught:
        convert("7.9", "INT", STRICT)
    assert not isinstance(caught.value, Damaged)
