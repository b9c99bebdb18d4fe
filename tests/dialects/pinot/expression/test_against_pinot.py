"""Functions through Pinot's own registry and ours: which there are, and what they give.

`D..` in this file names a line of `tests/dialects/pinot/differences.txt`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

import pytest

from dialects.pinot.expression.rows import ROW, shown
from dialects.pinot.expression.test_functions import CASES
from dialects.pinot.oracle.client import Oracle, Refused
from dialects.pinot.oracle.typed import typed
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.expression.transforms import RowFault, evaluate
from trellis.dialects.pinot.functions.catalog import FUNCTIONS
from trellis.dialects.pinot.functions.not_implemented import PRIMITIVE_ARRAYS, UNSUPPORTED
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError

pytestmark = pytest.mark.pinot

KINDS: Final = {
    "INT": "int",
    "LONG": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BIG_DECIMAL": "decimal",
    "BOOLEAN": "boolean",
    "BYTES": "bytes",
}
TYPED: Final = {name: typed(value) for name, value in ROW.items()}
OFFLINE: Final = {
    "tableType": "OFFLINE",
    "segmentsConfig": {},
    "tenants": {},
    "tableIndexConfig": {},
    "metadata": {},
}
PRIMITIVES: Final = ("int[]", "long[]", "float[]", "double[]")


def theirs(pinot: Oracle, text: str, row: Mapping[str, Any] = TYPED) -> str:
    try:
        return written(pinot.ask("evaluate", expression=text, row=row))
    except Refused:
        return "ERR"


def written(value: Any) -> str:
    """A typed value as functions.txt has it."""
    if value is None:
        return "null"
    kind, content = value["type"], value["value"]
    if kind == "LIST":
        return f"list[{', '.join(map(written, content))}]"
    if kind == "MAP":
        return f"map{{{', '.join(f'{key}: {written(member)}' for key, member in content.items())}}}"
    if kind == "TIMESTAMP":
        return f"timestamp {timestamp_millis(content)}"
    return f"text {content!r}" if kind == "STRING" else f"{KINDS[kind]} {content}"


def ours(text: str) -> str:
    try:
        return shown(evaluate(compile_expression(parse(text)), ROW))
    except (RowFault, ExpressionError):
        return "ERR"


def test_the_functions_are_those_of_pinot(pinot: Oracle) -> None:
    """Scripts are none of Pinot's functions."""
    registered, unsupported = pinot.ask("functions"), UNSUPPORTED.keys() - {"groovy"}
    assert registered.keys() - {"and", "or"} == FUNCTIONS.keys() | PRIMITIVE_ARRAYS.keys() | unsupported
    assert len(registered) == 2 + len(FUNCTIONS) + len(PRIMITIVE_ARRAYS) + len(unsupported)
    for name, functions in FUNCTIONS.items():
        counts = [count for count in range(9) if any(function.accepts(count) for function in functions)]
        assert counts == registered[name]["arguments"], name
    arrays = {name for name, function in registered.items() if function["returns"] in PRIMITIVES}
    assert arrays == PRIMITIVE_ARRAYS.keys()


def test_what_can_be_called_by_its_bare_name(pinot: Oracle) -> None:
    for name, function in pinot.ask("functions").items():
        if name in FUNCTIONS:
            for count in function["arguments"]:
                for argument in ("a", "'x'", "1"):
                    text = f"{name}({', '.join([argument] * count)})"
                    assert _is_readable(text) == _is_readable_by(pinot, text), text


def _is_readable(text: str) -> bool:
    try:
        parse(text)
    except ExpressionError:
        return False
    return True


def _is_readable_by(pinot: Oracle, text: str) -> bool:
    try:
        pinot.ask("evaluate", expression=text, row=TYPED)
    except Refused as refused:
        return not refused.kind.endswith("SqlCompilationException")
    return True


@pytest.mark.parametrize("name", ["hourMV(l)", "arraySortInt(l)", "array(a, 2)"])
def test_a_primitive_array_is_stored_in_a_column_of_json_only(pinot: Oracle, name: str) -> None:
    def stored(column: Mapping[str, Any], on_error: bool) -> tuple[Any, list[str]]:
        schema = {"schemaName": "t", "dimensionFieldSpecs": [{"name": "x", **column}]}
        ingestion = {
            "continueOnError": on_error,
            "transformConfigs": [{"columnName": "x", "transformFunction": name}],
        }
        table = {"tableName": "t", "ingestionConfig": ingestion, **OFFLINE}
        answer = pinot.ask("rows", schema=schema, table=table, rows=[TYPED], typed=True)
        (row,) = answer["rows"]
        return row["values"]["x"], row["nulls"]

    several = {"dataType": "INT", "singleValueField": False}
    with pytest.raises(Refused, match="Caught exception while transforming data type for column: x"):
        stored(several, on_error=False)
    assert stored(several, on_error=True)[1] == ["x"]
    assert stored({"dataType": "JSON"}, on_error=False)[1] == []
    assert stored({"dataType": "STRING"}, on_error=False)[0]["value"].startswith("[I@")


def test_the_table_of_functions_is_what_pinot_gives(pinot: Oracle) -> None:
    for text, expected in CASES:
        assert theirs(pinot, text) == expected.replace("REFUSED", "ERR"), text


@pytest.mark.parametrize("seed", range(2))
def test_casts_of_texts(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(300):
        digits = str(dice.choice((dice.randint(0, 99), dice.getrandbits(33), dice.getrandbits(65))))
        number = dice.choice(("", "-", "+")) + digits + dice.choice(("", "", ".", ".5", ".70"))
        number += dice.choice(("", "", "e3", "E-2", "d", "L", "x", " "))
        text = f"cast('{number}' AS {dice.choice(('INT', 'LONG', 'BOOLEAN'))})"
        assert ours(text) == theirs(pinot, text), text


@pytest.mark.parametrize("seed", range(2))
def test_points(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)

    def coordinate() -> str:
        number = dice.choice((dice.uniform(-180, 180), round(dice.uniform(-180, 180), dice.randint(0, 8))))
        return repr(number * dice.choice((1, 1, 1, 1e-9, 1e6)))

    for _ in range(150):
        x, y = coordinate(), coordinate()
        point = f"stPoint({x}, {y}{dice.choice(('', ', 1', ', 0'))})"
        for text in (
            point,
            f"toSphericalGeography({point})",
            f"toGeometry({point})",
            f"geoToH3({point}, {dice.randint(0, 15)})",
            f"geoToH3({x}, {y}, {dice.randint(-1, 16)})",
        ):
            assert ours(text) == theirs(pinot, text), text
