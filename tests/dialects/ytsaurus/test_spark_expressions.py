"""Expressions of computed columns as Spark evaluates them: as rows do, to the bit."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dialects.ytsaurus.test_computed_columns import EXPRESSIONS, cases
from trellis.dialects.ytsaurus.computed.expression import compile_expression
from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.computed.nodes import ValueKind
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.spark.computed import with_computed_columns
from trellis.dialects.ytsaurus.spark.expressions import NeedsPythonError, spark_expression
from trellis.dialects.ytsaurus.spark.types import TypeOptions
from trellis.dialects.ytsaurus.yson.values import Uint64

KINDS: dict[str, ValueKind] = {
    "i": "int64", "y": "int64", "u": "uint64", "s": "string", "b": "boolean", "d": "double", "e": "double"
}  # fmt: skip
FIELDS = "i bigint, y tinyint, u decimal(20,0), s binary, b boolean, d double, e double"
INTEGERS = (None, 0, 1, -1, 7, -7, 3600, 2**31, 2**32 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)
UNSIGNED = (None, 0, 1, 2, 5, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)
DOUBLES = (None, 0.0, -0.0, 1.5, -1.5, 2.5, -2.5, 0.49999999999999994, 2.0**53 + 2, 2.0**63, -(2.0**63),
           1.8e19, 2.0**64, 1e300, 5e-324, math.inf, -math.inf, math.nan)  # fmt: skip
TEXTS = (
    None,
    b"",
    b"12",
    b"-7",
    b"+5",
    b"1e3",
    b"0.1",
    b"aB",
    b"\xff\xc3Z",
    "\u00c4".encode(),
    b"18446744073709551615",
)
NATIVE = [(kind, text) for kind, text in cases(EXPRESSIONS) if "farm_hash" not in text]


def rows() -> list[tuple[Any, ...]]:
    """All pairs of operands that expressions have, each beside other values."""
    random_values = random.Random(7)
    pairs = [*product(INTEGERS, range(-3, 4)), *product(INTEGERS, [None]), *product([None, 1], [1, None])]
    doubles, texts = [*product(DOUBLES, DOUBLES)], [*TEXTS]
    size = max(len(pairs), len(doubles))

    def value(values: Any, row: int) -> Any:
        return values[row] if row < len(values) else random_values.choice(values)

    return [
        (*value(pairs, row), value(UNSIGNED, row), value(texts, row), value((None, True, False), row),
         *value(doubles, row))
        for row in range(size)
    ]  # fmt: skip


def test_values_are_those_of_rows(spark: SparkSession) -> None:
    values = rows()
    frame = spark.createDataFrame(
        [tuple(Decimal(item) if index == 2 and item is not None else item for index, item in enumerate(row))
         for row in values],
        FIELDS,
    )  # fmt: skip
    expressions = [compile_expression(text, KINDS, (kind,)) for kind, text in NATIVE]
    columns = [
        spark_expression(expression.root, frame.schema).alias(str(index))
        for index, expression in enumerate(expressions)
    ]
    computed = frame.select(*columns).collect()
    differences = []
    for row, result in zip(values, computed, strict=True):
        named = dict(zip(KINDS, row, strict=True))
        named["u"] = None if named["u"] is None else Uint64(named["u"])
        for expression, actual in zip(expressions, result, strict=True):
            try:
                expected = expression.evaluate(named)
            except YtError:
                continue  # the row is refused
            if repr(plain(actual)) != repr(plain(expected)):
                differences.append((expression.text, named, expected, actual))
    assert differences == []


def plain(value: Any) -> Any:
    return (
        int(value)
        if isinstance(value, Decimal | Uint64)
        else bytes(value)
        if isinstance(value, bytearray)
        else value
    )


@pytest.mark.parametrize(
    "text",
    ["farm_hash(s) % 7u", "numeric_to_string(d)", "format_timestamp(i, '%Y')", "timestamp_floor_day(i)"],
)
def test_what_needs_python(spark: SparkSession, text: str) -> None:
    fields = spark.createDataFrame([], FIELDS).schema
    with pytest.raises(NeedsPythonError):
        spark_expression(compile_expression(text, KINDS).root, fields)


@pytest.mark.parametrize(
    ("expression", "needs_python"),
    [("k % 7", False), ("if(is_null(absent), k, 0)", False), ("farm_hash(k)", True), ("int64(day)", True)],
)
def test_frames_with_computed_columns(spark: Any, expression: str, needs_python: bool) -> None:
    """Python takes part only where it must; dates and times are its, too."""
    kind = "uint64" if "farm_hash" in expression else "int64"
    schema = parse_schema(
        [
            {"name": "c", "type": kind, "sort_order": "ascending", "expression": expression},
            {"name": "k", "type": "int64", "sort_order": "ascending"},
            {"name": "absent", "type": "int64", "sort_order": "ascending"},
            {"name": "day", "type": "date", "sort_order": "ascending"},
        ]
    )
    frame = spark.sql("SELECT 5 AS c, 10L AS k, DATE'1970-01-03' AS day")
    computed = with_computed_columns(frame, schema, TypeOptions())
    value = {"k % 7": 3, "int64(day)": 2, "farm_hash(k)": farm_hash(10)}.get(expression, 10)
    assert computed.select("c", "k").collect() == [(value, 10)]
    assert ("MapInArrow" in computed._jdf.queryExecution().toString()) == needs_python
