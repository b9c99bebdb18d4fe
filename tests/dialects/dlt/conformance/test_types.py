"""Groups T and M: types as DuckDB holds them, and what happens to its tables."""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from dialects.dlt.conformance.warehouse import Opens, Warehouse
from trellis.errors import ContractError, SchemaError
from trellis.schema.model import Column

UTC = timezone.utc
NAIVE = datetime(2024, 1, 1, 10)
AWARE = datetime(2024, 1, 1, 10, tzinfo=timezone(timedelta(hours=2)))
MOMENTS = {"n": NAIVE, "a": AWARE, "m": "2024-01-01T10:00:00", "s": "2024-01-01T10:00:00+02:00"}


@pytest.mark.parametrize("timezone", [None, True], ids=["unset", "true"])
def test_t01_timestamps_are_utc(warehouse: Warehouse, timezone: Any) -> None:
    columns = tuple(Column(name, timezone=timezone) for name in MOMENTS) if timezone is not None else ()
    warehouse.load(MOMENTS, columns=columns)
    ten, eight = datetime(2024, 1, 1, 10, tzinfo=UTC), datetime(2024, 1, 1, 8, tzinfo=UTC)
    assert warehouse.rows() == [{"n": ten, "a": eight, "m": ten, "s": eight}]
    assert {warehouse.types()[name] for name in MOMENTS} == {"TIMESTAMP WITH TIME ZONE"}


@pytest.mark.parametrize("data_type", [None, "timestamp"], ids=["inferred", "declared"])
def test_t02_timestamps_without_zone(warehouse: Warehouse, data_type: Any) -> None:
    columns = tuple(Column(name, data_type, timezone=False) for name in MOMENTS)
    warehouse.load(MOMENTS, columns=columns)
    ten, eight = datetime(2024, 1, 1, 10), datetime(2024, 1, 1, 8)
    assert warehouse.rows() == [{"n": ten, "a": eight, "m": ten, "s": eight}]
    assert {warehouse.types()[name] for name in MOMENTS} == {"TIMESTAMP"}


def test_t03_times_are_utc(warehouse: Warehouse) -> None:
    aware = time(14, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    warehouse.load({"a": "14:01:02+02:00", "b": aware}, columns=(Column("a", "time"),))
    assert warehouse.columns() == {"a": "time", "b": "time"}
    assert warehouse.rows() == [{"a": time(12, 1, 2), "b": time(12, 1, 2)}]


def test_t04_integers_by_their_bits(warehouse: Warehouse) -> None:
    bits = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "HUGEINT"}
    columns = tuple(Column(f"b_{width}", "bigint", precision=width) for width in bits)
    warehouse.load({f"b_{width}": 5 for width in bits}, columns=columns)
    assert [warehouse.types()[f"b_{width}"] for width in bits] == list(bits.values())
    assert warehouse.rows() == [{f"b_{width}": 5 for width in bits}]


def test_t04_wider_than_any(warehouse: Warehouse) -> None:
    with pytest.raises(SchemaError, match="column a: DuckDB has no bigint of precision 256; 128 is the most"):
        warehouse.load({"a": 5}, columns=(Column("a", "bigint", precision=256),))


def test_t04_a_number_that_needs_more_bits_is_kept_beside_the_column(warehouse: Warehouse) -> None:
    warehouse.load({"a": 100}, {"a": 1000}, {"a": 10**12}, columns=(Column("a", "bigint", precision=8),))
    warehouse.load({"a": 2000})
    assert warehouse.values("a") == [100, None, None, None]
    (variant,) = [name for name in warehouse.columns() if name.startswith("a__v_")]
    assert [int(value) for value in warehouse.values(variant)[1:]] == [1000, 10**12, 2000]


def test_t05_timestamps_by_their_digits(warehouse: Warehouse) -> None:
    hints: dict[str, dict[str, Any]] = {
        "aware": {"precision": 3},
        "naive": {"precision": 3, "timezone": False},
        "fine": {"precision": 9, "timezone": False},
    }
    columns = tuple(Column(name, "timestamp", **keys) for name, keys in hints.items())
    warehouse.load({"aware": AWARE, "naive": NAIVE, "fine": NAIVE}, columns=columns)
    types = warehouse.types()
    assert [types[name] for name in hints] == ["TIMESTAMP WITH TIME ZONE", "TIMESTAMP_MS", "TIMESTAMP_NS"]
    assert warehouse.rows() == [{"aware": datetime(2024, 1, 1, 8, tzinfo=UTC), "naive": NAIVE, "fine": NAIVE}]


def test_t06_types_of_arrow(warehouse: Warehouse) -> None:
    table = pa.table(
        {
            "plain": pa.array(["x"]),
            "i": pa.array([1], pa.int8()),
            "u": pa.array([1], pa.uint16()),
            "l": pa.array([1], pa.int64()),
            "ms": pa.array([AWARE], pa.timestamp("ms", "UTC")),
            "us": pa.array([NAIVE], pa.timestamp("us")),
            "money": pa.array([1], pa.decimal128(10, 2)),
        }
    )
    warehouse.pipeline.load(table, table="t")
    columns = [c for c in warehouse.schema.tables["t"].columns.values() if not c.name.startswith("_dlt")]
    assert [(c.name, c.data_type, c.precision, c.scale, c.timezone) for c in columns] == [
        ("plain", "text", None, None, None),
        ("i", "bigint", 8, None, None),
        ("u", "bigint", 16, None, None),
        ("l", "bigint", None, None, None),
        ("ms", "timestamp", 3, None, None),
        ("us", "timestamp", None, None, None),
        ("money", "decimal", 10, 2, None),
    ]
    assert list(warehouse.types().values())[1:4] == ["TINYINT", "SMALLINT", "BIGINT"]


def test_t07_a_type_of_arrow_that_is_none_here(warehouse: Warehouse) -> None:
    table = pa.table({"a": [1], "took": pa.array([timedelta(seconds=3)])})
    with pytest.raises(ContractError, match=r"took holds a duration\[us\], which no data type takes"):
        warehouse.pipeline.load(table, table="t")
    assert warehouse.tables == set()


def test_m02_a_column_that_is_gone_stays(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "b": 2})
    before = warehouse.schema
    warehouse.load({"a": 2})
    assert warehouse.rows() == [{"a": 1, "b": 2}, {"a": 2, "b": None}]
    assert warehouse.schema == before


def test_m03_a_required_column_cannot_be_added_to_rows(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    with pytest.raises(SchemaError, match="table t, column b: it is required"):
        warehouse.load({"a": 2, "b": 3}, columns=(Column("b", "bigint", nullable=False),))
    assert warehouse.rows() == [{"a": 1}]
    assert warehouse.columns() == {"a": "bigint"}


def test_m04_two_pipelines_share_a_table(open_warehouse: Opens) -> None:
    one, two = open_warehouse("one"), open_warehouse("two")
    for warehouse, record in (
        (one, {"a": 1}),
        (two, {"a": 2, "b": 3}),
        (one, {"a": 3}),
        (two, {"a": 4, "b": 5}),
    ):
        warehouse.load(record)
    assert one.rows() == [{"a": 1, "b": None}, {"a": 2, "b": 3}, {"a": 3, "b": None}, {"a": 4, "b": 5}]
    assert (one.columns(), two.columns()) == ({"a": "bigint"}, {"a": "bigint", "b": "bigint"})
    assert {row["schema_name"] for row in one.raw("_dlt_version")} == {"one", "two"}
