"""Formats of rows."""

from __future__ import annotations

from typing import Any

import pytest
import yt.wrapper
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.yson.values import Uint64


def read(form: str, data: bytes) -> list[dict[str, Any]]:
    return list(Format.parse(form).read_rows(data))


def write(form: str, *rows: dict[str, Any]) -> bytes:
    return b"".join(Format.parse(form).write_rows(rows))


def error_of(form: str, data: bytes) -> str:
    with pytest.raises(YtError) as error:
        read(form, data)
    return error.value.message


def test_yson() -> None:
    assert read("yson", b"{};{a=x;b=5u};") == [{}, {"a": b"x", "b": 5}]
    assert (
        write("<format=text>yson", {"a": b"\xff", "b": Uint64(1), "c": None})
        == b'{"a"="\\xFF";"b"=1u;"c"=#;};\n'
    )
    assert write("<format=text;skip_null_values=%true>yson", {"c": None}) == b"{};\n"
    assert (
        error_of("yson", b"{a=1;a=2}")
        == "row 0, column \"a\": not YSON at byte 6: '=2}'; expected each key once; a is there twice"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[1]", "row 0: not YSON at byte 0: '[1]'; expected a row, which is a map such as {k=1}"),
        (b"{a=1", "row 0, column \"a\": not YSON at byte 4: the end; expected ';' between items"),
        (b'{a="x', 'row 0, column "a": not YSON at byte 3: \'"x\'; expected a closing quote'),
        (b"{a=1}{a=2}", "row 1: not YSON at byte 5: '{a=2}'; expected ';' between rows"),
        (
            b"{a=\x01\x10abc}",
            "row 0, column \"a\": not YSON at byte 5: 'abc}'; expected a string of 8 bytes",
        ),
    ],
)
def test_b08_yson_that_is_broken(data: bytes, message: str) -> None:
    assert error_of("yson", data) == message


def test_json() -> None:
    assert read("json", '{"a": "Ã©", "n": 9223372036854775808}\n\n{}'.encode()) == [
        {"a": "é".encode(), "n": Uint64(2**63)},
        {},
    ]
    assert write("json", {"a": "é".encode(), "b": None}) == '{"a":"Ã©","b":null}\n'.encode()
    assert write("<encode_utf8=%false>json", {"a": "é".encode()}) == '{"a":"é"}\n'.encode()
    assert error_of("json", '{"a": "€"}'.encode()) == (
        "line 1, column \"a\": '€' has a character beyond U+00FF, where each stands for a byte; write "
        "UTF-8 texts with --format '<encode_utf8=%false>json'"
    )
    assert error_of("json", b'{"a": 1, "a": 2}') == "line 1 is not a JSON object: the key 'a' is there twice"
    assert error_of("json", b'{"a": 1}\n{"b": "x') == (
        "line 2 is not a JSON object: unterminated string starting, character 7"
    )
    assert error_of("json", b"\x1f\x8b") == "line 1 is not a JSON object: byte 1 is not UTF-8"
    assert error_of("json", b"{}\n[1]") == 'line 2 is not a JSON object; expected a row such as {"k": 1}'


@pytest.mark.parametrize("depth", [257, 600, 100_000])
def test_json_that_is_nested_too_deep(depth: int) -> None:
    message = error_of("json", b'{"a": ' + b"[" * depth + b"]" * depth + b"}")
    assert message.startswith("line 1")
    assert read("json", b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}")


def test_dsv() -> None:
    assert read("dsv", b"a=1\tb=x\\ty\n\n") == [{"a": b"1", "b": b"x\ty"}, {}]
    assert write("dsv", {"a": 1, "b": None, "c": True, "e=f": 1.5}) == b"a=1\tc=true\te\\=f=1.5\n"
    assert error_of("dsv", b"a=1\ta=2") == "line 1: the column a is there twice"
    with pytest.raises(YtError, match="holds a list, which dsv does not have"):
        write("dsv", {"a": []})


def test_schemaful_dsv() -> None:
    assert read("<columns=[a;b]>schemaful_dsv", b"1\t2\n") == [{"a": b"1", "b": b"2"}]
    assert error_of("<columns=[a;b]>schemaful_dsv", b"1\n") == (
        "line 1 has 1 values; expected 2, between tabs"
    )
    row = {"a": b"x"}
    assert write(
        "<columns=[a;b];missing_value_mode=print_sentinel;missing_value_sentinel=NA>schemaful_dsv", row
    ) == (b"x\tNA\n")
    assert write("<columns=[a;b];missing_value_mode=skip_row>schemaful_dsv", row) == b""
    with pytest.raises(YtError, match="a row has no value for b"):
        write("<columns=[a;b]>schemaful_dsv", row)
    with pytest.raises(YtError, match="schemaful_dsv needs its columns"):
        write("schemaful_dsv", row)


def test_formats_that_are_none() -> None:
    with pytest.raises(YtError, match="there is no format 'jsn': did you mean 'json'"):
        Format.parse("jsn")


TEXTS = st.dictionaries(st.text("ab=\t\n\\", min_size=1), st.binary(max_size=5), max_size=3)


@given(TEXTS)
def test_rows_come_back(row: dict[str, Any]) -> None:
    for form in ("yson", "<format=text>yson", "json", "dsv"):
        assert read(form, write(form, row)) == [row]


@given(
    st.dictionaries(
        st.text("ab=\t\n\\", min_size=1), st.text("xy=\t\n\\", max_size=5), min_size=1, max_size=1
    )
)
def test_dsv_is_that_of_the_client(row: dict[str, str]) -> None:
    expected = yt.wrapper.DsvFormat().dumps_row(row)
    assert write("dsv", {name: value.encode() for name, value in row.items()}).rstrip(
        b"\n"
    ) == expected.rstrip(b"\n")
