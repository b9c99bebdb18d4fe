"""Laws of expressions: any text is read or refused, and no row breaks a program."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.expression.transforms import RowFault, evaluate
from trellis.dialects.pinot.functions.catalog import FUNCTIONS
from trellis.dialects.pinot.functions.date_time import field_of, start_of
from trellis.dialects.pinot.functions.points import Point, as_point
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Column, Expression, Literal
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN, Float32, Int64

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["yyyy-MM-dd", "day", "UTC", "$.a[0]", "$..b", "a+", "cafe", "12", "%"]
)
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
CALLED = st.sampled_from(sorted({*FUNCTIONS, "and", "or"}))


@given(st.text() | st.text("ab()'\",.+-*/=<> 19$[]{}", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        assert str(error)


@settings(max_examples=400, deadline=None)
@given(CALLED, st.lists(VALUES, max_size=5))
def test_a_row_gives_a_value_or_a_transform_error(name: str, values: list[Any]) -> None:
    columns = tuple(Column(str(at)) for at in range(len(values)))
    try:
        program = compile_expression(Call(name, columns))
    except ExpressionError:
        return
    try:
        evaluate(program, dict(zip(map(str, range(5)), values, strict=False)))
    except RowFault as error:
        assert str(error)


@given(st.sampled_from(sorted(FUNCTIONS)), st.data())
def test_a_null_argument_gives_null_unless_the_function_says_otherwise(
    name: str, data: st.DataObject
) -> None:
    function = FUNCTIONS[name][0]
    if function.nullable or not function.parameters:
        return
    position = data.draw(st.integers(0, function.min_arguments - 1))
    values: list[Expression] = [Column("one")] * function.min_arguments
    values[position] = Literal(None)
    assert evaluate(compile_expression(Call(name, tuple(values))), {"one": None}) is None


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
    st.sampled_from(["DAY", "WEEK", "MONTH", "YEAR"]),
)
def test_the_start_of_a_unit_is_its_own_start(moment: datetime, unit: str) -> None:
    millis = int(moment.replace(tzinfo=timezone.utc).timestamp() * 1000)
    start = start_of(unit, millis, "UTC")
    assert start <= millis
    assert start_of(unit, start, "UTC") == start
    assert field_of("HOUR", start, "UTC") == 0


@given(st.integers(-(2**40), 2**40), st.integers(1, 1000))
def test_rounding_is_bucketing_and_back(millis: int, size: int) -> None:
    def of(text: str) -> Any:
        return evaluate(compile_expression(parse(text)), {"t": millis, "n": size})

    assert of("toEpochSecondsRounded(t, n)") == of("toEpochSecondsBucket(t, n)") * size
    assert abs(of("round(t, n)")) <= abs(millis)


@given(st.floats(), st.floats(), st.booleans())
def test_a_point_survives_its_bytes(x: float, y: float, on_earth: bool) -> None:
    data = evaluate(compile_expression(parse("stPoint(x, y, e)")), {"x": x, "y": y, "e": on_earth})
    assert repr(as_point(data)) == repr(Point(on_earth, x, y))
