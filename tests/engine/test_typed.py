"""Rows with types: column by column they become what they become one by one."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects import DEFAULT_DIALECT, get_dialect
from trellis.engine.arrow.cast import shortened
from trellis.engine.arrow.types import ColumnType, Digits, Unsupported, arrow_type, column_type
from trellis.engine.conform.learned import Conformed, LearnedConformer
from trellis.engine.input.blocks import Split
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.plan import Plan
from trellis.engine.records.tables import TableRecords, batches_of
from trellis.errors import ContractError, UsageError
from trellis.schema.model import Column, Table

WHERE = Split(0, 0, "records")
LAST = datetime(2200, 1, 1)
MOMENTS = st.datetimes(datetime(1700, 1, 1), LAST)


def whole(unit: str) -> Any:
    """Moments with no more digits of a second than the unit has."""
    return MOMENTS.map(lambda at: at.replace(microsecond=at.microsecond // _STEP[unit] * _STEP[unit]))


_STEP = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}


def integers(bits: int, signed: bool = True) -> Any:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(low, high)


def decimals(precision: int, scale: int) -> Any:
    whole = 10**precision - 1
    return st.integers(-whole, whole).map(lambda digits: Decimal(digits).scaleb(-scale, Context(prec=40)))


VALUES: dict[pa.DataType, Any] = {
    pa.int8(): integers(8),
    pa.int16(): integers(16),
    pa.int32(): integers(32),
    pa.int64(): integers(64),
    pa.uint8(): integers(8, signed=False),
    pa.uint16(): integers(16, signed=False),
    pa.uint32(): integers(32, signed=False),
    pa.uint64(): integers(64, signed=False),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=8),
    pa.large_string(): st.sampled_from(["7", "2024-01-02", "2024-01-02T03:04:05", "x"]),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["a", "b"]),
    pa.binary(): st.binary(max_size=6),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.date32(): st.dates(date(1700, 1, 1), date(2200, 1, 1)),
    pa.date64(): st.dates(date(1700, 1, 1), date(2200, 1, 1)),
    pa.time32("s"): st.integers(0, 86_399).map(lambda s: (datetime.min + timedelta(seconds=s)).time()),
    pa.time64("us"): st.times(),
    pa.timestamp("s"): whole("s"),
    pa.timestamp("ms", "Europe/Berlin"): whole("ms").map(lambda at: at.replace(tzinfo=timezone.utc)),
    pa.timestamp("us", "UTC"): whole("us").map(lambda at: at.replace(tzinfo=timezone.utc)),
    pa.timestamp("ns"): whole("ns"),
    pa.decimal128(10, 2): decimals(10, 2),
    pa.decimal128(38, 20): decimals(38, 20),
    pa.decimal256(38, 4): decimals(38, 4),
}
TYPES = st.sampled_from(list(VALUES))


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.Array, Column]:
    """An array, and a column of its own type, or of another."""
    source_type = draw(TYPES)
    array = pa.array(draw(st.lists(st.none() | VALUES[source_type], min_size=3, max_size=3)), source_type)
    column_kind = column_type(source_type if draw(st.integers(0, 2)) else draw(TYPES))
    assert column_kind is not None
    zone = draw(st.sampled_from([None, False])) if column_kind.data_type == "timestamp" else None
    fit = column_kind.within(Digits(), zone)
    return array, Column("a", fit.data_type, True, fit.precision, fit.scale, zone)


def plan_of(*known: Column, **more: Any) -> Plan:
    """A plan for a table `t` that has rows with these columns."""
    dialect = get_dialect(DEFAULT_DIALECT)
    schema = dialect.schemas.new_schema("farm").with_tables(
        dialect.tables.mark_populated(Table("t", {c.name: c for c in known}))
    )
    table = schema.tables["t"].with_columns(*dialect.system_columns.columns(schema, "t"))
    return Plan(schema.with_tables(table), "t", DEFAULT_DIALECT, "1.0", "", **more)


def by_columns(plan: Plan, batch: pa.RecordBatch) -> Conformed:
    return LearnedConformer(plan).batch(WHERE, RowBatch(0, 0, batch))


def one_by_one(plan: Plan, batch: pa.RecordBatch) -> Conformed:
    short = [shortened(array).array for array in batch.columns]
    rows = rows_of(pa.RecordBatch.from_arrays(short, names=batch.schema.names))
    return LearnedConformer(plan).items(WHERE, 0, rows)


def outcome(plan: Plan, conformed: Conformed) -> Any:
    """All that a reader of the tables could tell."""
    tables = {
        batch.table: {
            column.name: batch.columns[column.name].to_pylist()
            if column.name in batch.columns
            else [None] * batch.rows
            for column in plan.schema.tables[batch.table].complete_columns
        }
        for batch in conformed.batches
    }
    types = {name: array.type for batch in conformed.batches for name, array in batch.columns.items()}
    expected_types = {column.name: arrow_type(column) for column in plan.schema.tables["t"].complete_columns}
    assert all(expected_types[name] == type_ for name, type_ in types.items())
    return tables, conformed.counts, conformed.discards, conformed.observed


@settings(max_examples=300)
@given(columns())
def test_columns_become_what_rows_become(drawn: tuple[pa.Array, Column]) -> None:
    array, column = drawn
    batch = pa.RecordBatch.from_arrays([array], names=["a"])
    plan = plan_of(column)
    assert outcome(plan, by_columns(plan, batch)) == outcome(plan, one_by_one(plan, batch))


def test_a_new_column_is_seen_with_the_type_of_its_field() -> None:
    batch = pa.record_batch(
        {
            "Small": pa.array([None, 5], pa.int8()),
            "none": pa.array([None, None], pa.int64()),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "day": pa.array(["2024-01-02", "2024-01-03"]),
            "empty": pa.nulls(2),
        }
    )
    conformer = LearnedConformer(plan_of())
    seen = conformer.batch(WHERE, RowBatch(0, 40, batch)).observed
    assert seen is not None
    cells = [(key.column, key.kind.type, at.position, at.count, at.example) for key, at in seen.cells.items()]
    assert cells == [
        ("small", "bigint", (0, 0, 40, 0, 0), 1, "5"),
        ("none", "bigint", (0, 0, 40, 0, 1), 0, ""),
        ("price", "decimal", (0, 0, 40, 0, 2), 1, '"1.50"'),
        ("day", "text", (0, 0, 40, 0, 3), 2, '"2024-01-02"'),
    ]
    assert conformer.untyped_columns() == {("t", "empty")}


def test_nested_values_are_walked_and_flat_ones_keep_their_digits() -> None:
    fine = pa.array([1_001, None], pa.timestamp("ns"))
    wide = pa.array([Decimal("1" * 45), Decimal(1)], pa.decimal256(50, 2))
    batch = pa.record_batch({"at": fine, "wide": wide, "s": [{"x": 1}, {"x": 2}]})
    plan = plan_of(
        Column("at", "timestamp", precision=9, timezone=False),
        Column("wide", "decimal", precision=50, scale=2),
        Column("s__x", "bigint"),
    )
    (batch,) = by_columns(plan, batch).batches
    assert batch.columns["at"].equals(fine)
    assert batch.columns["wide"].equals(wide)
    assert batch.columns["s__x"].to_pylist() == [1, 2]


def test_digits_that_are_cut_are_told() -> None:
    batch = pa.record_batch({"a": pa.array([1_001, 2_000, None, -1], pa.timestamp("ns"))})
    plan = plan_of(Column("a", "timestamp"))
    conformer = LearnedConformer(plan)
    (batch,) = conformer.batch(WHERE, RowBatch(0, 0, batch)).batches
    assert batch.columns["a"].cast(pa.int64()).to_pylist() == [1, 2, None, -1]
    assert conformer.flattener.warnings == {
        "a second in t.a has more digits than the column keeps, the last ones were cut": 2
    }


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.int64(), ColumnType("bigint")),
        (pa.uint16(), ColumnType("bigint", 16)),
        (pa.float16(), ColumnType("double")),
        (pa.string_view(), ColumnType("text")),
        (pa.large_binary(), ColumnType("binary")),
        (pa.binary(5), ColumnType("binary", 5)),
        (pa.time32("ms"), ColumnType("time", 3)),
        (pa.timestamp("ns", "UTC"), ColumnType("timestamp", 9)),
        (pa.decimal256(60, 5), ColumnType("decimal", 60, 5)),
        (pa.decimal128(5, -2), ColumnType("decimal", 7, 0)),
        (pa.list_(pa.int8()), ColumnType("json")),
        (pa.map_(pa.string(), pa.int8()), ColumnType("json")),
        (pa.uuid(), ColumnType("text")),
        (pa.dictionary(pa.int8(), pa.date32()), ColumnType("date")),
        (pa.run_end_encoded(pa.int32(), pa.int64()), ColumnType("bigint")),
        (pa.null(), None),
    ],
    ids=str,
)
def test_types_of_columns(arrow: pa.DataType, expected: ColumnType | None) -> None:
    assert column_type(arrow) == expected


@pytest.mark.parametrize("arrow", [pa.duration("s"), pa.month_day_nano_interval()], ids=str)
def test_types_that_are_none(arrow: pa.DataType) -> None:
    with pytest.raises(Unsupported):
        column_type(arrow)
    with pytest.raises(ContractError, match=r"took holds a .*, which no data type takes; .* into table t$"):
        by_columns(plan_of(), pa.RecordBatch.from_arrays([pa.nulls(1, arrow)], names=["took"]))


@pytest.mark.parametrize(
    ("source_type", "digits", "zone", "kept"),
    [
        (ColumnType("timestamp", 9), Digits(), None, ColumnType("timestamp")),
        (ColumnType("timestamp", 9), Digits(), False, ColumnType("timestamp", 9)),
        (ColumnType("timestamp", 9), Digits(6, 6), False, ColumnType("timestamp")),
        (ColumnType("timestamp", 3), Digits(), None, ColumnType("timestamp", 3)),
        (ColumnType("time", 9), Digits(9, 9), None, ColumnType("time", 9)),
        (ColumnType("decimal", 60, 5), Digits(), None, ColumnType("decimal", 38, 5)),
        (ColumnType("decimal", 60, 5), Digits(decimal=76), None, ColumnType("decimal", 60, 5)),
    ],
)
def test_what_a_destination_keeps(
    source_type: ColumnType, digits: Digits, zone: Any, kept: ColumnType
) -> None:
    assert source_type.within(digits, zone) == kept


def test_streams_are_read_again_and_an_empty_table_has_types() -> None:
    table = pa.table({"a": [1, 2, 3]})
    stream = batches_of(table.to_reader(max_chunksize=2))
    assert [[batch.num_rows for batch in stream()] for _ in range(2)] == [[2, 1], [2, 1]]
    (empty,) = batches_of(table.slice(0, 0))()
    assert (empty.num_rows, empty.schema) == (0, table.schema)
    seen = TableRecords(batches_of(table.slice(0, 0))).peek(plan_of()).observed
    assert [(key.column, key.kind.type) for key in seen.cells] == [("a", "bigint")]


def test_a_name_that_stands_twice() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(UsageError, match="two columns are named 'a'; rename one"):
        by_columns(plan_of(), batch)


def test_two_names_for_one_column_collide_as_keys_of_records_do() -> None:
    batch = pa.record_batch({"a": [1, 2], "A": [3, None]})
    plan = plan_of(Column("a", "bigint"))
    conformed = by_columns(plan, batch)
    assert outcome(plan, conformed) == outcome(plan, one_by_one(plan, batch))
    assert conformed.discards[0].reason.startswith("collision: another key of the record is named a")


def test_own_ids_are_kept() -> None:
    batch = pa.record_batch({"_dlt_id": ["x", "y"], "a": [1, 2]})
    plan = plan_of(Column("a", "bigint"))
    (batch,) = by_columns(plan, batch).batches
    assert batch.columns["_dlt_id"].to_pylist() == ["x", "y"]


def test_times_outside_of_the_calendar() -> None:
    far = pa.record_batch({"a": pa.array([10**12], pa.timestamp("s")), "l": [[1]]})
    plan = plan_of(Column("a", "timestamp", precision=0), Column("l", "json"))
    with pytest.raises(ContractError, match="hold a time that is outside of the calendar"):
        by_columns(plan, far)


def test_times_of_an_unknown_zone() -> None:
    odd = pa.record_batch({"a": pa.array([1], pa.timestamp("us", "Mars/Base")), "l": [[1]]})
    plan = plan_of(Column("a", "timestamp"), Column("l", "json"))
    with pytest.raises(ContractError, match="columns a, l hold times of a zone that is not known"):
        by_columns(plan, odd)


def test_text_that_is_not_utf8() -> None:
    text = pa.array([b"\xff"]).view(pa.string())
    plan = plan_of(Column("a", "text"), Column("l", "json"))
    with pytest.raises(ContractError, match="columns a, l hold text that is not UTF-8"):
        by_columns(plan, pa.record_batch({"a": text, "l": pa.array([[1]])}))


def test_what_has_a_stream_but_no_columns() -> None:
    with pytest.raises(UsageError, match="a ChunkedArray has no rows of named columns; give a table"):
        batches_of(pa.chunked_array([[1]]))


def test_times_outside_of_the_calendar_are_moved_if_no_one_has_to_look() -> None:
    far = pa.record_batch({"a": pa.array([10**12], pa.timestamp("s"))})
    seen = by_columns(plan_of(), far).observed
    assert seen is not None and [at.example for at in seen.cells.values()] == [""]
    (batch,) = by_columns(plan_of(Column("a", "timestamp", precision=0)), far).batches
    assert batch.columns["a"].cast(pa.int64()).to_pylist() == [10**12]
