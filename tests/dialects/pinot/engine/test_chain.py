"""Expressions over whole columns give what they give value by value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.expression.transforms import column_steps
from trellis.dialects.pinot.grammar.parser import parse
from trellis.engine.columnar.authored.chain import chained, times_of

COUNTS = (
    "toEpochDays(x)",
    "toEpochHoursRounded(x, 6)",
    "toEpochMinutesBucket(x, 15)",
    "fromEpochSeconds(x)",
    "fromEpochDaysBucket(x, 7)",
    "toEpochMinutesBucket(fromEpochSecondsBucket(x, 5), 30)",
    "round(x, 1000)",
    "toDateTime(x, 'yyyy-MM-dd')",
    "toDateTime(x, 'yyyy/MM/dd HH:mm:ss', 'UTC')",
    "toEpochDays(fromDateTime(toDateTime(x, 'yyyyMMdd'), 'yyyyMMdd'))",
)
MILLIS = st.one_of(st.integers(-(2**40), 2**41), st.sampled_from([-1, 0, 1, -86_400_001, 1_700_000_000_123]))


@pytest.mark.parametrize("expression", COUNTS)
@given(values=st.lists(st.one_of(st.none(), MILLIS), min_size=1, max_size=20))
def test_counts(expression: str, values: list[Any]) -> None:
    tree = parse(expression)
    program = compile_expression(tree)
    result = chained(pa.array(values, pa.int64()), column_steps(tree))
    assert result is None or result.to_pylist() == [program({"x": value}) for value in values]


@pytest.mark.parametrize(
    ("pattern", "text", "millis"),
    [
        ("yyyy-MM-dd", "2023-11-14", 1_699_920_000_000),
        ("yyyyMMdd", "20231114", 1_699_920_000_000),
        ("yyyy-MM-dd HH:mm:ss", "2023-11-14 22:13:20", 1_700_000_000_000),
        ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2023-11-14T22:13:20Z", 1_700_000_000_000),
    ],
)
def test_common_patterns_are_read_at_once(pattern: str, text: str, millis: int) -> None:
    result = times_of(pa.array([text, None]), pattern)
    assert result is not None
    assert result.to_pylist() == [millis, None]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd", "2023-1-4"),
        ("yyyy-MM-dd", "2023-02-30"),
        ("yyyy-MM-dd", "0999-01-01"),
        ("yyyy-M-d", "2023-01-04"),
        ("dd MMM yyyy", "04 Jan 2023"),
    ],
)
def test_other_texts_are_left_to_the_reader_of_joda_patterns(pattern: str, text: str) -> None:
    assert times_of(pa.array([text]), pattern) is None


@pytest.mark.parametrize(
    "expression", ["toEpochDays(now())", "plus(x, y)", "fromDateTime(x, y)", "upper(x)", "x"]
)
def test_what_is_no_chain(expression: str) -> None:
    assert column_steps(parse(expression)) == ()
