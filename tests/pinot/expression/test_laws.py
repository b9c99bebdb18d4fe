"""Laws of expressions: what is written is read again, and no row breaks a program."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects.pinot.expression.calendar_fields import field_of, floored
from trellis.dialects.pinot.expression.evaluate import TransformError, evaluated
from trellis.dialects.pinot.expression.functions import FUNCTIONS
from trellis.dialects.pinot.expression.grammar import (
    Call,
    Column,
    Expression,
    ExpressionError,
    Literal,
    parse,
    written,
)
from trellis.dialects.pinot.expression.program import compiled
from trellis.dialects.pinot.value.kinds import LONG_MAX, LONG_MIN, Float32, Int64

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["yyyy-MM-dd", "day", "UTC", "$.a[0]", "$..b", "a+", "cafe", "12", "%"]
)
NAMES = st.text(min_size=1, max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.integers(LONG_MIN, LONG_MAX).map(Int64)
    | st.floats()
    | st.floats(width=32).map(Float32)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.binary(max_size=8)
    | st.datetimes(timezones=st.just(timezone.utc))
    | st.dates()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
LITERALS: st.SearchStrategy[Expression] = st.builds(
    Literal,
    st.none()
    | st.booleans()
    | st.integers(LONG_MIN, LONG_MAX)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value or 0.0)
    | TEXTS,
)
CALLED = st.sampled_from(sorted({*FUNCTIONS, "and", "or"}))


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.builds(Call, CALLED, st.lists(inner, max_size=4).map(tuple))


TREES: st.SearchStrategy[Expression] = st.recursive(LITERALS | st.builds(Column, NAMES), calls, max_leaves=12)


@given(TREES)
def test_what_is_written_is_read_as_the_same_tree(tree: Expression) -> None:
    assert repr(parse(written(tree))) == repr(tree)


@given(st.text() | st.text("ab()'\",.+-*/=<> 19$[]{}", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert repr(parse(written(parse(text)))) == repr(parse(text))
    except ExpressionError as wrong:
        assert str(wrong)


@settings(max_examples=400, deadline=None)
@given(CALLED, st.lists(VALUES, max_size=5))
def test_a_row_gives_a_value_or_a_transform_error(name: str, values: list[Any]) -> None:
    columns = tuple(Column(str(at)) for at in range(len(values)))
    try:
        program = compiled(Call(name, columns))
    except ExpressionError:
        return
    try:
        evaluated(program, dict(zip(map(str, range(5)), values, strict=False)))
    except TransformError as wrong:
        assert str(wrong)


@given(st.sampled_from(sorted(FUNCTIONS)), st.data())
def test_a_null_argument_gives_null_unless_the_function_says_otherwise(
    name: str, data: st.DataObject
) -> None:
    function = FUNCTIONS[name][0]
    if function.nullable or not function.takes:
        return
    at = data.draw(st.integers(0, function.least - 1))
    given_values: list[Expression] = [Column("one")] * function.least
    given_values[at] = Literal(None)
    assert evaluated(compiled(Call(name, tuple(given_values))), {"one": None}) is None


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
    st.sampled_from(["DAY", "WEEK", "MONTH", "YEAR"]),
)
def test_the_start_of_a_unit_is_its_own_start(moment: datetime, unit: str) -> None:
    millis = int(moment.replace(tzinfo=timezone.utc).timestamp() * 1000)
    start = floored(unit, millis, "UTC")
    assert start <= millis
    assert floored(unit, start, "UTC") == start
    assert field_of("HOUR", start, "UTC") == 0


@given(st.integers(-(2**40), 2**40), st.integers(1, 1000))
def test_rounding_is_bucketing_and_back(millis: int, size: int) -> None:
    def of(text: str) -> Any:
        return evaluated(compiled(parse(text)), {"t": millis, "n": size})

    assert of("toEpochSecondsRounded(t, n)") == of("toEpochSecondsBucket(t, n)") * size
    assert abs(of("round(t, n)")) <= abs(millis)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=6))
def test_an_exact_number_survives_its_bytes(number: Decimal) -> None:
    again = evaluated(compiled(parse("bytesToBigDecimal(bigDecimalToBytes(d))")), {"d": number})
    assert again == number
