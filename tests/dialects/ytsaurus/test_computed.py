"""Expressions of computed columns, and `farm_hash`."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.ytsaurus.computed.expression import compile_expression
from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.values import Uint64, kind_of

KINDS: dict[str, Any] = {"k": "string", "i": "int64", "u": "uint64", "d": "double", "b": "boolean"}
ROW = {"k": "k1", "i": 7, "u": Uint64(9), "d": 1.5, "b": True, "odd name": 1}


def value_of(text: str) -> Any:
    return compile_expression(text, {**KINDS, "odd name": "int64"}).evaluate(ROW)


def error_of(text: str) -> str:
    with pytest.raises(YtError) as error:
        value_of(text)
    return str(error.value)


@pytest.mark.parametrize("one", [1, Uint64(1), True])
def test_c36_one_hashes_alike(one: Any) -> None:
    assert farm_hash(one) == 933529381690826619


@pytest.mark.parametrize("zero", [None, 0, False])
def test_c37_null_hashes_as_zero(zero: Any) -> None:
    assert farm_hash(zero) == 3315701238936582721


def test_c38_the_hash_of_a_string() -> None:
    assert farm_hash("user-7") == 2120526665538904752
    assert value_of('farm_hash("user-7") % 10') == 2


def test_c39_of_two_values() -> None:
    assert farm_hash("user-7", 3) == 15763002242617853772


def test_c40_of_the_empty_string() -> None:
    assert (farm_hash(""), farm_hash(b"", 1)) == (18213160808259878197, 1689693841827987259)


def test_c41_of_integers() -> None:
    assert (farm_hash(2024, "eu"), farm_hash(-1)) == (10053933431872132663, 7129902556246829656)


@pytest.mark.parametrize(
    ("unit", "start"),
    [
        ("hour", 1699999200),
        ("day", 1699920000),
        ("week", 1699833600),
        ("month", 1698796800),
        ("quarter", 1696118400),
        ("year", 1672531200),
    ],
)
def test_c42_starts_of_times(unit: str, start: int) -> None:
    assert value_of(f"timestamp_floor_{unit}(1700000000)") == start


def test_c43_division() -> None:
    assert (value_of("-7/2"), value_of("-7%2")) == (-3, -1)
    assert error_of("1/0") == "the expression '1/0' fails: 1 / 0: division by zero"


def test_c44_texts_of_numbers_and_mixed_columns() -> None:
    assert (value_of("numeric_to_string(5u)"), value_of("numeric_to_string(1.0)")) == (b"5u", b"1.")
    assert error_of("i + u") == (
        "the expression 'i + u' is not valid: + has operands of the kinds int64 and uint64; cast one of them"
    )
    assert value_of("uint64(i) + u") == 16


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("u + 1", Uint64(10)),
        ("u % (2 + 3)", Uint64(4)),
        ("d * 2", 3.0),
        ("9223372036854775807 + 1", -(2**63)),
        ("0u - 1u", Uint64(2**64 - 1)),
        ("-9223372036854775808", -(2**63)),
        ("1 + 2 * 3 - -4", 11),
        ("[odd name] + `odd name`", 2),
        ("i between 5 and 7 and not i in (1, 2)", True),
        ("i not in (7)", False),
        ("case when i > 5 then 'big' else 'small' end", b"big"),
        ("case i when 7 then 1 end", 1),
        ("if(b, i, null)", 7),
        ("null < 1", True),
        ("null = null", True),
        ("is_null(if_null(null, i))", False),
        ("coalesce(null, null, 5)", 5),
        ("lower(k) || concat('A', \"b\")", b"k1Ab"),
        ("length(k)", 2),
        ("is_substr('1', k)", True),
        ("is_prefix('x', k)", False),
        ("greatest(1, i, 3)", 7),
        ("floor(-1.5)", -2),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(0.49999999999999994)", 0),
        ("0.0 / 0.0 = 0.0 / 0.0", True),
        ("0.0 / 0.0 > 1.0 / 0.0", True),
        ("is_null(greatest(0.0 / 0.0, d))", False),
        ("greatest(d, 0.0 / 0.0) > 1.0 / 0.0", True),
        ("int64(-1.9)", -1),
        ("uint64(-1)", Uint64(2**64 - 1)),
        ("1 << 3 | 1", 9),
        ("~0", -1),
        ("abs(-3)", 3),
        ("parse_uint64('12')", Uint64(12)),
        ("parse_double('1e3')", 1000.0),
        ("numeric_to_string(i)", b"7"),
        ("format_timestamp(1700000000, '%Y-%m-%dT%H:%M:%S')", b"2023-11-14T22:13:20"),
        ("1 + null", None),
        ("FARM_HASH(k)", Uint64(2692134488169246299)),
    ],
)
def test_values(text: str, value: Any) -> None:
    result = value_of(text)
    assert (result, kind_of(result)) == (value, kind_of(value))


def test_long_and_deep_expressions() -> None:
    assert value_of("+".join(["1"] * 150)) == 150
    assert value_of("(" * 39 + "1" + ")" * 39) == 1
    assert error_of("+".join(["1"] * 151)).endswith("at most 300 names, literals and signs are allowed")
    assert error_of("(" * 50 + "1" + ")" * 50).endswith("at most 40 nested expressions are allowed")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "k +",
            (
                "the expression 'k +' is not valid at its end: expected a column, a literal, a function or a "
                "parenthesis"
            ),
        ),
        ("1 2", "the expression '1 2' is not valid at '2': expected an operator or the end"),
        (
            "farm_hsh(k)",
            (
                "the expression 'farm_hsh(k)' is not valid: there is no function 'farm_hsh': did you mean "
                "'farm_hash'?"
            ),
        ),
        (
            "zz",
            (
                "the expression 'zz' is not valid: there is no column 'zz': it may be one of k, i, u, d, "
                "b, odd name"
            ),
        ),
        ("length(i)", "the expression 'length(i)' is not valid: length takes string, not int64"),
        ("if(b, 1)", "the expression 'if(b, 1)' is not valid: if has 2 arguments; expected 3"),
        (
            "parse_int64('x')",
            "the expression \"parse_int64('x')\" fails: parse_int64: 'x' cannot be read as int64",
        ),
        (
            "parse_int64(' 1_0')",
            "the expression \"parse_int64(' 1_0')\" fails: parse_int64: ' 1_0' cannot be read as int64",
        ),
        ("floor(0.0 / 0.0)", "the expression 'floor(0.0 / 0.0)' fails: int64(nan) is beyond 64 bits"),
        ("ceil(1e300)", "the expression 'ceil(1e300)' fails: int64(1e+300) is beyond 64 bits"),
        ("@", "the expression '@' is not valid in it: expected an expression"),
    ],
)
def test_errors(text: str, message: str) -> None:
    assert error_of(text) == message
