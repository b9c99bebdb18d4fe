"""The JSON target: text that is JSON, text that is not, and values that become JSON."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.value.json_text import json_from_text, json_of
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, Int64

ROWS = [
    ("J01", '{"b":1, "a":1.10}', '{"b":1,"a":1.1}'),
    ("J02", "100.0", "1E+2"),
    ("J03", "abc", '"abc"'),
    ("J04", "", ""),
    ("J05", '{"a":1} junk', '{"a":1}'),
    ("J06", [], "[]"),
    ("J08", {"z": 1, "a": {"y": 1}, "m": None}, '{"a":{"y":1},"m":null,"z":1}'),
]

TEXTS = {
    "blank": (" \t\n ", ""),
    "no blank of JSON": ("\u00a01", '"\u00a01"'),
    "byte order mark": ("\ufeff1", '"\ufeff1"'),
    "junk at once": ('{"a":1}x', '{"a":1}'),
    "two": ("1 2", "1"),
    "number and letter": ("1x", '"1x"'),
    "number and comma": ("1,2", '"1,2"'),
    "number and NUL": ("1\x002", '"1\\u00002"'),
    "word and digit": ("true1", '"true1"'),
    "word and comma": ("true,", "true"),
    "word and word": ("true false", "true"),
    "string and word": ('"a"b', '"a"'),
    "list and NUL": ("[1]\x00", "[1]"),
    "minus zero": ("-0", "0"),
    "minus zero with fraction": ("-0.0", "0"),
    "zero with exponent": ("0e5", "0"),
    "exponent": ("1e5", "1E+5"),
    "small": ("0.00000012", "1.2E-7"),
    "fraction that is whole": ("100e-2", "1"),
    "beyond a double": ("1e400", "1E+400"),
    "every digit": ("1.234567890123456789012345678901", "1.234567890123456789012345678901"),
    "large": ("123456789012345678901234567890", "123456789012345678901234567890"),
    "large with zeros": ("999999999999999999999999999999.50", "999999999999999999999999999999.5"),
    "equal keys": ('{"a":1,"b":2,"\\u0061":3}', '{"a":3,"b":2}'),
    "nested": (
        ' { "a" : { "z" : 1.0 , "b" : [ 1.50 , null , true ] } }',
        '{"a":{"z":1,"b":[1.5,null,true]}}',
    ),
    "empty": ("[ { } , [ ] ]", "[{},[]]"),
    "null": (" null ", "null"),
    "comma at the end": ("[1,]", '"[1,]"'),
    "no comma": ("[1 2]", '"[1 2]"'),
    "open": ('{"a":1', '"{\\"a\\":1"'),
    "open string": ('"abc', '"\\"abc"'),
    "zero before": ("01", '"01"'),
    "plus": ("+1", '"+1"'),
    "point first": (".5", '".5"'),
    "point last": ("5.", '"5."'),
    "point last in a list": ("[5.]", '"[5.]"'),
    "NaN": ("NaN", '"NaN"'),
    "NaN in a list": ("[NaN]", '"[NaN]"'),
    "minus Infinity": ("-Infinity", '"-Infinity"'),
    "single quotes": ("{'a':1}", "\"{'a':1}\""),
    "comment": ("//x\n1", '"//x\\n1"'),
    "control character": ('"a\x01b"', '"\\"a\\u0001b\\""'),
    "wrong escape": ('"\\x"', '"\\"\\\\x\\""'),
    "escapes": ('"\\u0041\\/\\u001f\\u007f\\u2028\\n"', '"A/\\u001f\x7f\u2028\\n"'),
    "escaped backslash": ('"\\\\u001f"', '"\\\\u001f"'),
    "pair": ('"\\ud83d\\ude00"', '"\U0001f600"'),
    "half of a pair": ('"\\ud83d"', '"?"'),
    "NUL in JSON": ('"x\\u0000y"', '"x\\u0000y"'),
}

LIMITS = {
    "digits": ("1" * 1000, "1" * 5000, "a number that is too long or too large"),
    "depth": ("[" * 500 + "]" * 500, "[" * 20_000 + "]" * 20_000, "nested hundreds of levels deep"),
    "exponent": ("1E+2147483647", "1e2147483648", "a number that is too long or too large"),
}

VALUES: dict[str, tuple[Any, str]] = {
    "double": (1e8, "1.0E8"),
    "minus zero": (-0.0, "-0.0"),
    "NaN": (float("nan"), '"NaN"'),
    "infinite": (float("-inf"), '"-Infinity"'),
    "float": (Float32(7.9), "7.9"),
    "long": (Int64(5), "5"),
    "large": (10**30, "1" + "0" * 30),
    "decimal": (Decimal("1.10"), "1.10"),
    "decimal with exponent": (Decimal("1E+3"), "1E+3"),
    "minus zero decimal": (Decimal("-0.0"), "0.0"),
    "boolean": (True, "true"),
    "bytes": (b"\xca\xfe", '"yv4="'),
    "timestamp": (datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=timezone.utc), "1700000000123"),
    "uuid": (UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
    "list": ([1.0, None, [None], [], "a"], '[1.0,null,[null],[],"a"]'),
    "maps in a list": ([{"z": 1, "a": {}}], '[{"a":{},"z":1}]'),
    "keys by UTF-16": ({"\uffff": 1, "\U0001f600": 2, "é": 3}, '{"é":3,"\U0001f600":2,"\uffff":1}'),
    "keys that are no text": ({2: "b", 10: "a", True: None}, '{"10":"a","2":"b","true":null}'),
    "text in a map": ({"a": '{"b":1}'}, '{"a":"{\\"b\\":1}"}'),
}


@pytest.mark.parametrize(("value", "stored"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(value: Any, stored: str) -> None:
    assert convert(value, "JSON") == stored


@pytest.mark.parametrize(("text", "stored"), TEXTS.values(), ids=TEXTS)
def test_text(text: str, stored: str) -> None:
    assert convert(text, "JSON") == stored


@pytest.mark.parametrize(("fits", "beyond", "reason"), LIMITS.values(), ids=LIMITS)
def test_the_limits_of_the_reader(fits: str, beyond: str, reason: str) -> None:
    assert json_from_text(fits) == fits
    with pytest.raises(CannotConvert, match=f"the text is JSON .*{reason}"):
        json_from_text(beyond)


@pytest.mark.parametrize(("value", "stored"), VALUES.values(), ids=VALUES)
def test_value(value: Any, stored: str) -> None:
    assert convert(value, "JSON") == stored


def test_null_is_no_key() -> None:
    with pytest.raises(CannotConvert, match="null cannot be the key of a map"):
        convert({None: 1}, "JSON")


def test_a_decimal_that_is_no_number() -> None:
    with pytest.raises(CannotConvert, match="a finite number"):
        convert([Decimal("NaN")], "JSON")


def test_a_list_nested_very_deep_is_refused_in_one_sentence() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(CannotConvert, match="nested hundreds of levels deep"):
        convert(deep, "JSON")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)
PIECES = st.sampled_from(
    [
        *'0123456789.eE+-{}[],: \n"\\',
        "true",
        "false",
        "null",
        "NaN",
        '"a"',
        '"b":',
        "1.10",
        "\\u001f",
        "\x1f",
        "é",
    ]
)
TEXT = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.text(max_size=10),
    st.builds(json.dumps, JSON),
    st.builds(
        lambda value, ascii: json.dumps(value, ensure_ascii=ascii, indent=1) + " x", JSON, st.booleans()
    ),
)


@given(TEXT)
def test_json_from_text_is_json_and_stays_as_it_is(text: str) -> None:
    stored = json_from_text(text)
    assert json_from_text(stored) == stored
    if stored:
        json.loads(stored)


@given(JSON)
def test_a_value_written_reads_back(value: Any) -> None:
    assert json.loads(json_of(value)) == value


@given(JSON)
def test_a_value_written_from_text_keeps_what_it_says(value: Any) -> None:
    assert json.loads(json_from_text(json.dumps(value))) == value
