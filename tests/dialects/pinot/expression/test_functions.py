"""Every function: what it makes of its arguments, as Pinot does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialects.pinot.expression.rows import ROW, shown
from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.expression.transforms import RowFault, evaluate
from trellis.dialects.pinot.functions import catalog
from trellis.dialects.pinot.functions.catalog import FUNCTIONS, UnsupportedFunction
from trellis.dialects.pinot.functions.date_time import now_millis
from trellis.dialects.pinot.functions.not_implemented import PRIMITIVE_ARRAYS, UNSUPPORTED
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Column, canonical, nodes

TABLE = Path(__file__).with_name("functions.txt").read_text(encoding="utf-8")
CASES = [line.split(" => ") for line in TABLE.splitlines() if not line.startswith("# ")]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_value_of(text: str, expected: str) -> None:
    try:
        value = shown(evaluate(compile_expression(parse(text)), ROW))
    except RowFault:
        value = "ERR"
    except ExpressionError:
        value = "REFUSED"
    assert value == expected


def test_every_function_is_in_the_table() -> None:
    called = {
        node.name
        for text, expected in CASES
        if expected != "REFUSED"
        for node, _ in nodes(parse(text))
        if isinstance(node, Call)
    }
    primary = {canonical(function.names[0]) for functions in FUNCTIONS.values() for function in functions}
    assert primary - called == set()


@pytest.mark.parametrize(
    ("name", "length"),
    [("seconds", 1000), ("minutes", 60_000), ("hours", 3_600_000), ("days", 86_400_000)],
)
def test_counts_of_times_before_1970_are_cut_toward_zero(name: str, length: int) -> None:
    assert _of(f"to_epoch_{name}({-length - 1})") == -1
    assert _of(f"to_epoch_{name}({-length + 1})") == 0
    assert _of(f"to_epoch_{name}_bucket({-7 * length}, 2)") == -3
    assert _of(f"to_epoch_{name}_rounded({-7 * length}, 2)") == -6
    assert _of(f"from_epoch_{name}_bucket(-7, 2)") == -14 * length


def test_a_time_that_a_clock_skips_moves_on() -> None:
    skipped = "fromDateTime('2023-03-12 02:30', 'yyyy-MM-dd HH:mm', 'America/New_York')"
    assert _of(f"toDateTime({skipped}, 'HH:mm', 'America/New_York')") == "03:30"


def test_now_is_now() -> None:
    before = now_millis()
    assert before <= _of("now()") <= now_millis()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lowr(a)", "unknown function lowr: did you mean 'lower'?"),
        ("to_dat_time(a, 'x')", "unknown function todattime: did you mean 'toDateTime'?"),
        ("zzzzzzz(a)", "unknown function zzzzzzz"),
        ("substrin(a)", "unknown function substrin: did you mean 'substring'?"),
        ("concat(stDistance(a, b), lowr(a))", "unknown function lowr: did you mean 'lower'?"),
        ("lower(a, b)", "lower takes 1 argument, not 2"),
        ("substr(a)", "substr takes 2 or 3 arguments, not 1"),
    ],
)
def test_what_cannot_be_called_is_said(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_expression(parse(text))
    assert str(raised.value) == message


@pytest.mark.parametrize("name", sorted((PRIMITIVE_ARRAYS | UNSUPPORTED).values()))
def test_a_function_of_pinot_that_is_not_carried_out_is_named(name: str) -> None:
    with pytest.raises(UnsupportedFunction) as raised:
        compile_expression(Call("lower", (Call(canonical(name), (Column("a"),)),)))
    assert str(raised.value) == (
        f"Trellis does not carry out Pinot's function {name}: let Pinot's own classes do it with"
        " --option functions=pinot-jars, or compute its result before the load"
    )


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("$.a[?(@.b > 1)]", "[?(@.b > 1)]"),
        ("$.a[1:3]", "[1:3]"),
        ("$.a[0,2]", "[0,2]"),
        ("$.a.length()", ".length()"),
        ("$..b", "..b"),
        ("$a", "a"),
    ],
)
def test_a_json_path_that_is_not_followed_is_named(path: str, rest: str) -> None:
    with pytest.raises(UnsupportedFunction) as raised:
        compile_expression(parse(f"jsonPathString(js, '{path}', 'x')"))
    assert str(raised.value) == (
        f"the JSON path '{path}' is not supported from '{rest}' on: let Pinot's own classes do it with"
        " --option functions=pinot-jars, or compute its result before the load"
    )


def test_cells_of_h3_need_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "find_spec", lambda _: None)
    with pytest.raises(
        UnsupportedFunction, match=r"geoToH3 needs the package h3: pip install 'trellis-spark\[h3\]'"
    ):
        compile_expression(parse("geoToH3(1, 2, 3)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("toEpochDays(s)", "STRING 'abc' cannot become LONG: expected a whole number of 64 bits"),
        ("hour(ts, 'Europe/Berln')", "unknown time zone 'Europe/Berln': did you mean 'Europe/Berlin'?"),
        ("hour(ts, 'IST')", "unknown time zone 'IST': it is written as Europe/Berlin, +05:30 or UTC"),
        ("dateTrunc('dya', ts)", "unknown unit 'DYA': did you mean 'DAY'?"),
        ("md5(s)", "STRING 'abc' cannot become BYTES: expected bytes, a decimal, or text of an even number"),
        ("s = 'abc'", "for texts use isNotDistinctFrom(a, b) or LIKE"),
        (
            "jsonPathLong(js, concat('$.a', '.sum()'), 1)",
            "the JSON path '$.a.sum()' is not supported from '.sum()' on",
        ),
        ("round(ts, 0)", "a whole number is divided by 0"),
        ("toGeometry(by)", "the 17 bytes of a point are expected, not cafe: Trellis carries out points only"),
        ("stPoint(1, 2, m)", "1, 0, true or false is expected, not {'z': 1, 'y': {'x': [1, {'k': 'v'}]}}"),
        ("geoToH3(1, 2, 16)", "a resolution of H3 from 0 to 15 is expected, not 16"),
        ("geoToH3(inf, 2, 1)", "a longitude and a latitude are expected, not inf and 2.0"),
    ],
)
def test_what_cannot_be_computed_is_said(text: str, message: str) -> None:
    with pytest.raises(RowFault) as raised:
        evaluate(compile_expression(parse(text)), ROW)
    assert message in str(raised.value)


def _of(text: str) -> Any:
    return evaluate(compile_expression(parse(text)), ROW)
