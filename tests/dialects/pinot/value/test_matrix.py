"""A value of each kind into each type, alone and in a list: the whole table of outcomes.

`E` is an error. The outcomes are those of Pinot 1.5.1, but for maps, whose keys are sorted in JSON.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pytest

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, Int64

TYPES: Final = (
    *("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES"),
    "MAP",
)
E: Final = object()
AT: Final = datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=timezone.utc)
MILLIS: Final = 1700000000123
NAN: Final = float("nan")
INF: Final = float("inf")
D: Final = Decimal
NIL: Final = UUID(int=5)

# kind and value: the outcomes in the order of TYPES
TABLE: Final[list[tuple[str, Any, list[Any]]]] = [
    ("BOOLEAN true", True, [1, 1, 1.0, 1.0, D(1), 1, E, "true", "true", E, E]),
    ("BOOLEAN false", False, [0, 0, 0.0, 0.0, D(0), 0, E, "false", "false", E, E]),
    ("INT", 7, [7, 7, 7.0, 7.0, D(7), 1, E, "7", "7", E, E]),
    ("INT zero", 0, [0, 0, 0.0, 0.0, D(0), 0, E, "0", "0", E, E]),
    ("LONG", Int64(7), [7, 7, 7.0, 7.0, D(7), 1, Int64(7), "7", "7", E, E]),
    (
        "LONG large",
        -3000000000,
        [
            1294967296,
            -3000000000,
            -3e9,
            -3e9,
            D(-3000000000),
            1,
            -3000000000,
            "-3000000000",
            "-3000000000",
            E,
            E,
        ],
    ),
    (
        "FLOAT",
        Float32(7.9),
        [7, 7, 7.900000095367432, 7.900000095367432, D("7.9"), 1, E, "7.9", "7.9", E, E],
    ),
    ("DOUBLE", 7.9, [7, 7, 7.900000095367432, 7.9, D("7.9"), 1, Int64(7), "7.9", "7.9", E, E]),
    ("DOUBLE NaN", NAN, [0, 0, NAN, NAN, E, 1, Int64(0), "NaN", '"NaN"', E, E]),
    (
        "DOUBLE infinite",
        INF,
        [2147483647, 2**63 - 1, INF, INF, E, 1, 2**63 - 1, "Infinity", '"Infinity"', E, E],
    ),
    (
        "BIG_DECIMAL",
        D("7.90"),
        [7, 7, 7.900000095367432, 7.9, D("7.90"), 1, Int64(7), "7.90", "7.90", b"\0\2\3\x16", E],
    ),
    (
        "BIG_DECIMAL large",
        10**20,
        [
            *(
                1661992960,
                7766279631452241920,
                1.0000000200408773e20,
                1e20,
                D(10**20),
                1,
                7766279631452241920,
            ),
            *("1" + "0" * 20, "1" + "0" * 20, bytes.fromhex("0000056bc75e2d63100000"), E),
        ],
    ),
    ("BIG_DECIMAL zero", D("0.0"), [0, 0, 0.0, 0.0, D("0.0"), 1, Int64(0), "0.0", "0.0", b"\0\1\0", E]),
    (
        "TIMESTAMP",
        AT,
        [E, MILLIS, E, float(MILLIS), D(MILLIS), E, MILLIS, "2023-11-14 22:13:20.123", "1700000000123", E, E],
    ),
    ("DATE", date(2023, 11, 14), [E, E, E, E, E, E, E, "2023-11-14", E, E, E]),
    ("STRING number", " 7 ", [7, 7, 7.0, 7.0, D(7), 0, Int64(7), " 7 ", "7", E, E]),
    ("STRING fraction", "7.9", [E, E, 7.900000095367432, 7.9, D("7.9"), 0, E, "7.9", "7.9", E, E]),
    ("STRING word", "cafe", [E, E, E, E, E, 0, E, "cafe", '"cafe"', b"\xca\xfe", E]),
    ("STRING empty", "", [E, E, E, E, E, 0, E, "", "", b"", E]),
    ("STRING true", "true", [E, E, E, E, E, 1, E, "true", "true", E, E]),
    ("STRING object", '{"a": 1}', [E, E, E, E, E, 0, E, '{"a": 1}', '{"a":1}', E, {"a": 1}]),
    ("STRING time", "2023-11-14", [E, E, E, E, E, 0, 1699920000000, "2023-11-14", '"2023-11-14"', E, E]),
    ("STRING NaN", "NaN", [E, E, NAN, NAN, E, 0, E, "NaN", '"NaN"', E, E]),
    ("STRING NUL", "a\0b", [E, E, E, E, E, 0, E, "a\0b", '"a\\u0000b"', E, E]),
    ("BYTES", b"\xca\xfe", [E, E, E, E, E, E, E, "cafe", '"yv4="', b"\xca\xfe", E]),
    (
        "BYTES decimal",
        b"\0\2\3\x16",
        [E, E, E, E, D("7.90"), E, E, "00020316", '"AAIDFg=="', b"\0\2\3\x16", E],
    ),
    ("UUID", NIL, [E, E, E, E, E, E, E, str(NIL), f'"{NIL}"', E, E]),
    ("MAP of one", {"k": 5}, [5, 5, 5.0, 5.0, D(5), 1, E, "5", '{"k":5}', E, {"k": 5}]),
    ("MAP of two", {"y": 1, "x": 2}, [*[E] * 8, '{"x":2,"y":1}', E, {"y": 1, "x": 2}]),
    ("MAP of none", {}, [*[None] * 8, "{}", None, {}]),
    ("LIST of one", [5], [5, 5, 5.0, 5.0, D(5), 1, E, "5", "[5]", E, E]),
    ("LIST of two", [5, 6], [*[E] * 8, "[5,6]", E, E]),
    ("LIST of none", [], [*[None] * 8, "[]", None, E]),
    ("null", None, [None] * 11),
]
LISTS: Final = {
    "MAP of two": [[1, 2], [1, 2], [1.0, 2.0], [1.0, 2.0], [D(1), D(2)], [1, 1], E, ["1", "2"], E],
    "LIST of two": [[5, 6], [5, 6], [5.0, 6.0], [5.0, 6.0], [D(5), D(6)], [1, 1], E, ["5", "6"], E],
}
SEVERAL: Final = tuple(data_type for data_type in TYPES if data_type not in ("JSON", "MAP"))


def outcome(value: Any, target: str) -> Any:
    try:
        return convert(value, target)
    except CannotConvert as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert len(sentence) < 400
        return E


def alone(name: str, outcomes: list[Any]) -> dict[str, Any]:
    return dict(zip(TYPES, outcomes, strict=True))


def several(name: str, outcomes: list[Any]) -> dict[str, Any]:
    """In a column of several values: what is one value alone is a list of it."""
    if name in LISTS:
        return dict(zip(SEVERAL, LISTS[name], strict=True))
    single = alone(name, outcomes)
    return {
        data_type: single[data_type] if single[data_type] in (E, None) else [single[data_type]]
        for data_type in SEVERAL
    }


@pytest.mark.parametrize(("name", "value", "outcomes"), TABLE, ids=[row[0] for row in TABLE])
def test_alone(name: str, value: Any, outcomes: list[Any]) -> None:
    assert repr({data_type: outcome(value, data_type) for data_type in TYPES}) == repr(alone(name, outcomes))


@pytest.mark.parametrize(("name", "value", "outcomes"), TABLE, ids=[row[0] for row in TABLE])
def test_several(name: str, value: Any, outcomes: list[Any]) -> None:
    assert repr({data_type: outcome(value, f"{data_type}[]") for data_type in SEVERAL}) == repr(
        several(name, outcomes)
    )


@pytest.mark.parametrize(("name", "value", "outcomes"), TABLE, ids=[row[0] for row in TABLE])
def test_a_list_of_two(name: str, value: Any, outcomes: list[Any]) -> None:
    """Twice the value is two values; a list or map of several cannot stand in a list."""
    if value is None or isinstance(value, dict | list):
        return
    single = alone(name, outcomes)
    expected = {data_type: E if single[data_type] is E else [single[data_type]] * 2 for data_type in SEVERAL}
    assert repr({data_type: outcome([value, value], f"{data_type}[]") for data_type in SEVERAL}) == repr(
        expected
    )
    assert [outcome([value, value], data_type) for data_type in SEVERAL] == [E] * len(SEVERAL)


def test_all_thirteen_kinds_are_in_the_table() -> None:
    assert {row[0].split()[0] for row in TABLE} == {
        *("BOOLEAN", "INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "TIMESTAMP", "DATE", "STRING", "BYTES"),
        *("UUID", "MAP", "LIST", "null"),
    }
