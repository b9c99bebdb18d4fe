"""Functions through Pinot's own registry and ours: which there are, and what they give.

`D..` in this file names a line of `tests/pinot/differences.txt`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any, Final

import pytest

from pinot.expression.rows import ROW, shown
from pinot.expression.test_functions import CASES
from pinot.oracle.client import Oracle, Refused
from pinot.oracle.typed import typed
from trellis.dialects.pinot.expression.evaluate import TransformError, evaluated
from trellis.dialects.pinot.expression.functions import FUNCTIONS
from trellis.dialects.pinot.expression.grammar import parse
from trellis.dialects.pinot.expression.left_out import LEFT_OUT
from trellis.dialects.pinot.expression.program import compiled
from trellis.dialects.pinot.moment.stamp import stamp_millis

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
SIGNS: Final = ("a", "b c", "%41", "%zz", "é", "", "?", "#", "/", ":", "@", "[", "&", "=", ".", "www.", "1")


def theirs(pinot: Oracle, text: str, row: Mapping[str, Any] = TYPED) -> str:
    try:
        return written(pinot.ask("evaluate", expression=text, row=row))
    except Refused:
        return "ERR"


def written(value: Any) -> str:
    """A typed value as functions.txt has it."""
    if value is None:
        return "null"
    kind, said = value["type"], value["value"]
    if kind == "LIST":
        return f"list[{', '.join(map(written, said))}]"
    if kind == "MAP":
        return f"map{{{', '.join(f'{key}: {written(each)}' for key, each in said.items())}}}"
    if kind == "TIMESTAMP":
        return f"timestamp {stamp_millis(said)}"
    return f"text {said!r}" if kind == "STRING" else f"{KINDS[kind]} {said}"


def ours(text: str) -> str:
    try:
        return shown(evaluated(compiled(parse(text)), ROW))
    except TransformError:
        return "ERR"


def test_the_functions_are_those_of_pinot_but_for_those_left_out(pinot: Oracle) -> None:
    registered = pinot.ask("functions")
    assert registered.keys() - {"and", "or"} == FUNCTIONS.keys() | LEFT_OUT
    assert not FUNCTIONS.keys() & LEFT_OUT
    for name, functions in FUNCTIONS.items():
        taken = [count for count in range(9) if any(each.fits(count) for each in functions)]
        assert taken == registered[name], name


def test_the_table_of_functions_is_what_pinot_gives(pinot: Oracle) -> None:
    for text, expected in CASES:
        assert theirs(pinot, text) == expected.replace("REFUSED", "ERR"), text


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh"])
def test_functions_of_angles(pinot: Oracle, name: str) -> None:
    """D18: the last digit may differ."""
    dice = random.Random(name)
    for _ in range(100):
        text = f"{name}({dice.uniform(-4, 4)!r})"
        left, right = (float(each.removeprefix("double ")) for each in (ours(text), theirs(pinot, text)))
        assert math.isclose(left, right, rel_tol=1e-14) or (left != left and right != right), text


@pytest.mark.parametrize("seed", range(2))
def test_functions_of_urls(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)
    names = [
        name
        for name, (function, *_) in sorted(FUNCTIONS.items())
        if ("url" in name or name.startswith("cut")) and function.most == 1
    ]
    for _ in range(150):
        start = dice.choice(("http://", "https://u@x.y:80/", "https://www.", "mailto:", "//", "/", ""))
        said = start + "".join(dice.choices(SIGNS, k=dice.randint(0, 6)))
        for name in dice.sample(names, 5):
            text = f"{name}('{said}')"
            assert ours(text) == theirs(pinot, text), text
        for name in ("cutURLParameter", "extractURLParameter"):
            text = f"{name}('{said}', '{dice.choice(SIGNS)}')"
            assert ours(text) == theirs(pinot, text), text


@pytest.mark.parametrize(
    "size", [*range(34), 40, 63, 64, 65, 96, 127, 128, 129, 143, 144, 145, 192, 260, 400]
)
def test_hashes(pinot: Oracle, size: int) -> None:
    dice = random.Random(size)
    data, seed = dice.randbytes(size).hex(), dice.randint(-(2**31), 2**31 - 1)
    for name in ("crc32c", "murmurHash2", "murmurHash2Bit64", "cityHash32", "cityHash64", "cityHash128"):
        text = f"{name}('{data}')"
        assert ours(text) == theirs(pinot, text), text
    for name in ("Bit32", "Bit64", "Bit128", "X64Bit32", "X64Bit64", "X64Bit128"):
        text = f"murmurHash3{name}('{data}', {seed})"
        assert ours(text) == theirs(pinot, text), text
    for text in (f"cityHash64('{data}', {seed})", f"cityHash64('{data}', {seed}, {-seed})"):
        assert ours(text) == theirs(pinot, text), text


@pytest.mark.parametrize("seed", range(2))
def test_times_in_other_formats(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)
    formats = (
        "EPOCH",
        "EPOCH|SECONDS",
        "1:HOURS:EPOCH",
        "TIMESTAMP",
        "SIMPLE_DATE_FORMAT|yyyy-MM-dd HH:mm:ss.SSS ZZ|America/New_York",
        "1:DAYS:SIMPLE_DATE_FORMAT:yyyyMMdd HHmmss tz(Asia/Kolkata)",
        "SIMPLE_DATE_FORMAT",
    )
    zones = ("America/New_York", "Australia/Lord_Howe", "+05:45", "GMT-3", "UTC", "Z", "UT+3", "EST", "gmt")
    for _ in range(400):
        near = dice.choice((0, 1_678_604_400_000, 1_699_160_000_000))
        size, unit = dice.choice((1, 2, 5, 7, 31, 45)), dice.choice(("SECONDS", "MINUTES", "HOURS", "DAYS"))
        said = [str(near + dice.randint(-9_000_000, 9_000_000)), "'EPOCH'", f"'{dice.choice(formats)}'"]
        said += [f"'{size}:{unit}'", *([f"'{dice.choice(zones)}'"] if dice.random() < 0.5 else [])]
        text = f"dateTimeConvert({', '.join(said)})"
        assert ours(text) == theirs(pinot, text), text
