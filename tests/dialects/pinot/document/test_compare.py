"""Whether one schema may follow another, what changed, and what a reload does."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.schema_changes.changes import (
    Effort,
    changes,
    incompatibilities,
    is_same_schema,
    stored_as,
)

A = FieldSpec("a", PinotType.STRING)
N = FieldSpec("n", PinotType.INT)
T = FieldSpec("t", PinotType.LONG, FieldType.DATE_TIME, format="EPOCH|SECONDS", granularity="1:SECONDS")
OLD = PinotSchema("s", dimensions=(A, N), date_times=(T,))


def with_a(**keys: object) -> PinotSchema:
    return replace(OLD, dimensions=(replace(A, **keys), N))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(
            replace(
                OLD,
                dimensions=(A,),
                metrics=(replace(N, field_type=FieldType.METRIC),),
                date_times=(replace(T, format="EPOCH|HOURS"),),
            ),
            id="B01",
        ),
        pytest.param(with_a(data_type=PinotType.BOOLEAN), id="B02"),
        pytest.param(
            replace(OLD, dimensions=(A, N, FieldSpec("t", PinotType.LONG)), date_times=()),
            id="B05",
        ),
        pytest.param(with_a(default="x", max_length=9, not_null=True, transform="f(x)"), id="other-keys"),
        pytest.param(replace(OLD, column_nulls=True, primary_key=("a",)), id="null-mode-and-first-key"),
        pytest.param(replace(OLD, complexes=(FieldSpec("m", PinotType.MAP, FieldType.COMPLEX),)), id="added"),
    ],
)
def test_what_may_change(new: PinotSchema) -> None:
    assert incompatibilities(OLD, new) == ()


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        pytest.param(
            with_a(data_type=PinotType.JSON),
            "Incompatible field specifications: [a (old: DIMENSION STRING, new: DIMENSION JSON)]",
            id="B03",
        ),
        pytest.param(
            with_a(single_value=False),
            (
                "Incompatible field specifications:"
                " [a (old: DIMENSION STRING, new: DIMENSION STRING multi-value)]"
            ),
            id="B04",
        ),
        pytest.param(
            replace(OLD, dimensions=(A,)),
            "Missing columns (present in old schema but not in new): [n]",
            id="B06",
        ),
        pytest.param(
            replace(OLD, dimensions=(A, replace(N, data_type=PinotType.LONG))),
            "Incompatible field specifications: [n (old: DIMENSION INT, new: DIMENSION LONG)]",
            id="widened",
        ),
    ],
)
def test_what_may_not_change(new: PinotSchema, problem: str) -> None:
    assert incompatibilities(OLD, new) == (problem,)


def test_all_problems_come_at_once() -> None:
    old = replace(OLD, primary_key=("a",))
    new = PinotSchema("s", dimensions=(replace(A, data_type=PinotType.INT),), primary_key=("n",))
    assert incompatibilities(old, new) == (
        "Primary key columns changed (old: [a], new: [n])",
        "Missing columns (present in old schema but not in new): [n, t]",
        "Incompatible field specifications: [a (old: DIMENSION STRING, new: DIMENSION INT)]",
    )


def test_b02_a_boolean_over_a_string_is_stored_as_a_string() -> None:
    new = stored_as(OLD, with_a(data_type=PinotType.BOOLEAN, default=1))
    assert (new.dimensions[0].data_type, new.dimensions[0].default) == (PinotType.STRING, "true")


def test_equality_ignores_the_order_and_what_is_usual() -> None:
    assert is_same_schema(OLD, replace(OLD, dimensions=(N, A)))
    assert is_same_schema(OLD, with_a(default="null"))
    empty = FieldSpec("b", PinotType.BYTES)
    assert is_same_schema(PinotSchema("s", (empty,)), PinotSchema("s", (replace(empty, default=b""),)))


@pytest.mark.parametrize(
    "other",
    [
        with_a(max_length=512),
        with_a(default="x"),
        with_a(not_null=True),
        replace(OLD, column_nulls=True),
        replace(OLD, name="q"),
        replace(OLD, date_times=(replace(T, granularity="1:DAYS"),)),
        replace(OLD, primary_key=("a",)),
    ],
)
def test_equality_compares_every_key_that_is_stored(other: PinotSchema) -> None:
    assert not is_same_schema(OLD, other)


def test_a_decimal_default_is_compared_with_its_scale() -> None:
    price = FieldSpec("p", PinotType.BIG_DECIMAL, FieldType.METRIC, default=Decimal("1.0"))
    one, other = (
        PinotSchema("s", metrics=(replace(price, default=Decimal(text)),)) for text in ("1.0", "1.00")
    )
    assert not is_same_schema(one, other)


def test_u01_an_added_column_is_filled_with_its_default() -> None:
    (change,) = changes(OLD, replace(OLD, dimensions=(A, N, FieldSpec("x", PinotType.INT))))
    assert (str(change), change.effort) == ("x: added: DIMENSION INT", Effort.RELOAD)
    assert change.on_reload == "every row that is there gets -2147483648"


def test_an_added_column_is_null_where_nulls_are_kept() -> None:
    nullable = FieldSpec("x", PinotType.INT, single_value=False)
    new = replace(
        OLD, column_nulls=True, dimensions=(A, N, nullable, FieldSpec("y", PinotType.INT, not_null=True))
    )
    added = {change.column: change.on_reload for change in changes(OLD, new) if change.key == "name"}
    assert added == {
        "x": "every row that is there gets [-2147483648], marked as null",
        "y": "every row that is there gets -2147483648",
    }


def test_an_added_column_is_computed_by_the_transform_of_the_table() -> None:
    (change,) = changes(
        OLD, replace(OLD, dimensions=(A, N, FieldSpec("x", PinotType.STRING))), {"x": "upper(a)"}
    )
    assert change.on_reload == (
        'every row that is there gets upper(a) where all its arguments are in the segment, and "null" for'
        ' null; without the arguments "null"'
    )


def test_every_difference_is_told() -> None:
    new = PinotSchema(
        "s",
        dimensions=(
            replace(A, default="x", max_length=9, not_null=True, transform="f(z)", trailing_zeros=True),
            replace(N, data_type=PinotType.LONG),
        ),
        date_times=(replace(T, format="EPOCH|HOURS", granularity="1:HOURS"),),
        primary_key=("a",),
        column_nulls=True,
    )
    assert [(str(change), change.effort.value) for change in changes(OLD, new)] == [
        ("a: defaultNullValue from null to x", "reload"),
        ("a: notNull from unset to true", "none"),
        ("a: maxLength from unset to 9", "none"),
        ("a: allowTrailingZeros from unset to true", "none"),
        ("a: transformFunction from unset to f(z)", "backfill"),
        ("n: type from DIMENSION INT to DIMENSION LONG", "new table"),
        ("t: format from EPOCH|SECONDS to EPOCH|HOURS", "backfill"),
        ("t: granularity from 1:SECONDS to 1:HOURS", "none"),
        ("enableColumnBasedNullHandling from false to true", "backfill"),
        ('primaryKeyColumns from unset to ["a"]', "backfill"),
    ]


def test_a_role_and_a_removed_column_are_told() -> None:
    new = replace(OLD, dimensions=(), metrics=(replace(N, field_type=FieldType.METRIC),))
    assert [(str(change), change.effort) for change in changes(OLD, new)] == [
        ("a: removed", Effort.NEW_TABLE),
        ("n: fieldType from DIMENSION to METRIC", Effort.RELOAD),
        ("n: defaultNullValue from -2147483648 to 0", Effort.RELOAD),
    ]


def test_nothing_changed() -> None:
    nan = PinotSchema("s", (FieldSpec("f", PinotType.DOUBLE, default=float("nan")),))
    assert changes(OLD, replace(OLD, dimensions=(N, A))) == ()
    assert changes(nan, nan) == ()
