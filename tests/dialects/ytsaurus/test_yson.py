"""YSON, also beside the library of YTsaurus."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yt_yson_bindings
from hypothesis import given
from hypothesis import strategies as st
from yt import yson

from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, Uint64, YsonError, kind_of
from trellis.dialects.ytsaurus.yson.writer import dumps


def test_c01_scalars() -> None:
    values = loads(rb'[1;2u;1.;1e3;007;nan;%-inf;#;"\x41\n"]')
    assert values == [1, 2, 1.0, 1000.0, 7, "nan", -math.inf, None, "A\n"]
    assert [kind_of(value) for value in values] == [
        *("int64", "uint64", "double", "double", "int64", "string", "double", "null", "string")
    ]


@pytest.mark.parametrize(
    "text",
    [
        ".5",
        "-1u",
        "9223372036854775808",
        "[1,2]",
        "[;]",
        "{a=1;;}",
        "{1=2}",
        "<a=1>",
        "'a'",
        "%TRUE",
        "9a",
        "1e",
        "1 2",
        "",
        "0x5",
        "1u5",
        "1.5u",
        "<a=1><b=2>c",
        "18446744073709551616u",
        '"a',
        "//a",
    ],
)
def test_c02_not_yson(text: str) -> None:
    with pytest.raises(YsonError):
        loads(text)


def test_an_error_names_the_place() -> None:
    with pytest.raises(YsonError) as error:
        loads("[1,2]")
    assert str(error.value) == "not YSON at byte 2: ',2]'; expected ';' or ']' after an item of a list"


def test_c03_borders_of_the_grammar() -> None:
    assert [loads(text) for text in ("<>5", "{a=1;}", "18446744073709551615u", "a.b-c")] == [
        *(5, {"a": 1}, 2**64 - 1, "a.b-c")
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, b"1."),
        (1e22, b"1e+22"),
        (2**63, b"9223372036854775808u"),
        (100000.0, b"100000."),
        (-0.0, b"-0."),
        (b"\xd0", b'"\\xD0"'),
        (b"\x00", b'"\\0"'),
        (b"\xff1", b'"\\3771"'),
    ],
)
def test_c04_the_bytes_of_the_writer(value: Any, text: bytes) -> None:
    assert dumps(value) == text


def test_pretty_has_four_spaces_a_level() -> None:
    value = loads("<a=1;b={c=2}>[1;<x=1>5;{};[]]")
    assert dumps(value, yson_format="pretty").decode() == (
        '<\n    "a" = 1;\n    "b" = {\n        "c" = 2;\n    };\n> [\n    1;\n    <\n        "x" = '
        "1;\n    > 5;\n"
        "    {};\n    [];\n]"
    )


def test_fragments() -> None:
    assert loads("{};{a=1};", yson_type="list_fragment") == [{}, {"a": 1}]
    assert loads("a=1;b=2", yson_type="map_fragment") == {"a": 1, "b": 2}
    assert loads('"\xff"'.encode("latin-1")) == b"\xff"
    assert loads("a", raw=True) == b"a"


def test_values_are_nested_256_levels_deep_at_most() -> None:
    assert loads("[" * 255 + "5" + "]" * 255)
    with pytest.raises(YsonError, match="256 levels"):
        loads("[" * 256 + "5" + "]" * 256)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 2**64 - 1).map(Uint64)
    | st.floats()
    | st.floats(allow_subnormal=False, min_value=-1e25, max_value=1e25)
    | st.text()
    | st.binary()
)
KEYS = st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda items: (
        st.lists(items, max_size=4)
        | st.dictionaries(KEYS, items, max_size=4)
        | st.builds(Attributed, SCALARS, st.dictionaries(KEYS, items, min_size=1, max_size=2))
    ),
    max_leaves=8,
)
FORMATS = st.sampled_from(["text", "pretty", "binary"])


def original(value: Any) -> Any:
    """The value in the types of YTsaurus's library."""
    match value:
        case Attributed():
            attributes = {key: original(item) for key, item in value.attributes.items()}
            return yson.to_yson_type(original(value.value), attributes=attributes)
        case Uint64():
            return yson.YsonUint64(int(value))
        case list():
            return [original(item) for item in value]
        case dict():
            return {key: original(item) for key, item in value.items()}
    return value


@given(VALUES, FORMATS)
def test_the_writer_is_that_of_the_library(value: Any, form: Any) -> None:
    assert dumps(value, yson_format=form) == yt_yson_bindings.dumps(original(value), yson_format=form)


@given(st.lists(VALUES, max_size=3), FORMATS)
def test_fragments_are_those_of_the_library(values: list[Any], form: Any) -> None:
    assert dumps(values, yson_format=form, yson_type="list_fragment") == yt_yson_bindings.dumps(
        [original(value) for value in values], yson_format=form, yson_type="list_fragment"
    )


@given(VALUES, FORMATS)
def test_values_come_back(value: Any, form: Any) -> None:
    document = dumps(value, yson_format=form)
    assert dumps(loads(document), yson_format=form) == document


@given(st.text(alphabet='ab1.e+-u%"\\<>=[]{};# \t,xinf', max_size=12))
def test_the_parser_takes_what_the_library_takes(text: str) -> None:
    """Both refuse, or both read the same value."""
    try:
        expected = yt_yson_bindings.dumps(yt_yson_bindings.loads(text.encode()))
    except yson.YsonError:
        expected = None
    try:
        value = dumps(loads(text))
    except YsonError:
        value = None
    assert value == expected
