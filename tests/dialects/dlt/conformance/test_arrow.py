"""Rows with types: Arrow tables, pandas, Parquet files, DataFrames, and rows of them that are taken whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.errors import ContractError, SchemaError, UsageError
from trellis.evolution.contract import ContractViolation
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UTC = timezone.utc
AT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
FLAT = pa.table(
    {
        "id": pa.array([1, 2, 3]),
        "small": pa.array([1, None, 3], pa.int16()),
        "rate": pa.array([0.5, None, 2.0]),
        "ok": pa.array([True, False, None]),
        "name": pa.array(["2024-01-02T03:04:05Z", "7", None]),
        "raw": pa.array([b"a", b"", None]),
        "day": pa.array([date(2024, 1, 2), None, date(1969, 1, 1)]),
        "at": pa.array([AT, None, AT + timedelta(days=1)], pa.timestamp("us", "UTC")),
        "price": pa.array([Decimal("1.50"), None, Decimal("-3.25")], pa.decimal128(10, 2)),
        "none": pa.nulls(3, pa.int64()),
    }
)


def said(warehouse: Warehouse, table: str = "t") -> list[tuple[Any, ...]]:
    columns = warehouse.schema.tables[table].columns.values()
    return [(c.name, c.data_type, c.precision, c.scale) for c in columns if not c.name.startswith("_dlt")]


@pytest.fixture
def loads(tmp_path: Path) -> Any:
    """Loads one source into a file of its own and looks at it."""

    def look(name: str, source: Any, **options: Any) -> tuple[Any, Any, Any]:
        warehouse = Warehouse(tmp_path / f"{name}.duckdb")
        warehouse.pipeline.load(source, table="t", **options)
        return said(warehouse), warehouse.types(), sorted(warehouse.rows(), key=lambda row: row["id"])

    return look


# --- The same rows, however they come -------------------------------------------------------------------


def test_arrow_pandas_parquet_and_declared_records_are_one(tmp_path: Path, loads: Any) -> None:
    pq.write_table(FLAT, tmp_path / "in.parquet")
    of_arrow = loads("arrow", FLAT)
    columns = tuple(Column(name, type_, precision=p, scale=s) for name, type_, p, s in of_arrow[0])
    assert of_arrow[2] == [{**row, "none": None} for row in FLAT.to_pylist()]
    assert loads("parquet", str(tmp_path / "in.parquet")) == of_arrow
    assert loads("pandas", FLAT.to_pandas(types_mapper=pd.ArrowDtype)) == of_arrow
    assert loads("stream", FLAT.to_reader(max_chunksize=1)) == of_arrow
    assert loads("records", FLAT.to_pylist(), columns=columns) == of_arrow


def test_a_dataframe_is_what_its_arrow_table_is(loads: Any, spark: SparkSession) -> None:
    frame = spark.createDataFrame(FLAT)
    assert loads("spark", frame.coalesce(1)) == loads("arrow", FLAT)


def test_a_dataframe_with_an_interval(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS id, array(INTERVAL '3' DAY) AS took")
    with pytest.raises(ContractError, match="took holds a interval day, which no data type takes"):
        Pipeline("farm", f"duckdb:{tmp_path}/x.duckdb").load(frame, table="t")


def test_a_type_speaks_though_no_value_does(warehouse: Warehouse) -> None:
    table = pa.table({"a": pa.nulls(2, pa.int8()), "b": pa.nulls(2), "C": pa.array(["5", None])})
    report = warehouse.pipeline.load(table, table="t")
    assert said(warehouse) == [("a", "bigint", 8, None), ("c", "text", None, None)]
    assert report.notes == ("all values are null; the column is created with the first value: t.b",)


def test_values_that_do_not_fit_go_to_variants(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    warehouse.pipeline.load(pa.table({"a": ["7", "x"]}), table="t")
    assert warehouse.rows() == [
        {"a": 1, "a__v_text": None},
        {"a": 7, "a__v_text": None},
        {"a": None, "a__v_text": "x"},
    ]


def test_files_whose_types_differ(warehouse: Warehouse, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1], pa.int16())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x", "2"], "b": [True, None]}), tmp_path / "2.parquet")
    warehouse.pipeline.load([str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")], table="t")
    assert said(warehouse) == [
        ("a", "bigint", 16, None),
        ("b", "bool", None, None),
        ("a__v_text", "text", None, None),
    ]
    assert [row["a"] for row in warehouse.rows()] == [1, None, 2]


def test_nested_columns_become_tables(warehouse: Warehouse) -> None:
    table = pa.table({"s": [{"x": 1}], "l": [[1, 2]], "m": pa.array([[("k", 5)]], pa.map_("string", "int8"))})
    warehouse.pipeline.load(table, table="t")
    assert warehouse.rows() == [{"m": '{"k":5}', "s__x": 1}]
    assert [row["value"] for row in warehouse.rows("t__l")] == [1, 2]


def test_maps_are_one_column_at_any_depth(warehouse: Warehouse) -> None:
    labels = pa.map_("string", "string")
    table = pa.table(
        {
            "s": pa.array([{"m": [("a", "x")]}], pa.struct({"m": labels})),
            "l": pa.array([[{"m": [("b", "y")]}]], pa.list_(pa.struct({"m": labels}))),
            "ll": pa.array([[[("c", "z")]]], pa.list_(labels)),
        }
    )
    warehouse.pipeline.load(table, table="t")
    assert warehouse.rows() == [{"s__m": '{"a":"x"}'}]
    assert [row["m"] for row in warehouse.rows("t__l")] == ['{"b":"y"}']
    assert [row["value"] for row in warehouse.rows("t__ll")] == ['{"c":"z"}']


def test_a_map_spreads_where_its_table_has_a_column_below_it(warehouse: Warehouse) -> None:
    table = pa.table({"m": pa.array([[("k", 5), ("j", 6)]], pa.map_("string", "int8"))})
    warehouse.pipeline.load(table, table="t", columns=(Column("m__k", "bigint"),))
    assert warehouse.rows() == [{"m__k": 5, "m__j": 6}]


def test_texts_of_json_are_json(warehouse: Warehouse) -> None:
    texts = pa.array(['{"a":1}', "[1]", "5", None], pa.json_())
    warehouse.pipeline.load(pa.table({"v": texts, "id": [1, 2, 3, 4]}), table="t")
    warehouse.pipeline.load(pa.table({"v": texts[:1], "l": [[7]]}), table="t")
    assert ("v", "json", None, None) in said(warehouse)
    assert warehouse.values("v") == ['{"a":1}', "[1]", "5", None, '{"a":1}']
    assert [row["value"] for row in warehouse.rows("t__l")] == [7]


def test_texts_of_json_inside_of_others_are_json(warehouse: Warehouse) -> None:
    texts = pa.array(['{"a":1}', "[1]", "5", '"x"', "null", None], pa.json_())
    struct = pa.StructArray.from_arrays([texts], names=["v"])
    lists = pa.ListArray.from_arrays(list(range(7)), struct)
    maps = pa.MapArray.from_arrays(list(range(7)), pa.array(["k"] * 6), texts)
    warehouse.pipeline.load(pa.table({"s": struct, "l": lists, "m": maps}), table="t")
    expected = ['{"a":1}', "[1]", "5", '"x"', None, None]
    assert warehouse.values("s__v") == expected
    assert [row.get("v") for row in warehouse.rows("t__l")] == expected
    assert warehouse.values("m") == [f'{{"k":{text or "null"}}}' for text in expected]
    assert ("s__v", "json", None, None) in said(warehouse)


# --- Digits ---------------------------------------------------------------------------------------------


def test_nanoseconds_are_kept_where_the_column_can(warehouse: Warehouse) -> None:
    fine = pa.table({"a": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))})
    report = warehouse.pipeline.load(fine, table="cut")
    assert (said(warehouse, "cut"), warehouse.types("cut")["a"]) == (
        [("a", "timestamp", None, None)],
        "TIMESTAMP WITH TIME ZONE",
    )
    assert report.notes == (
        "1 record: a second in cut.a has more digits than the column keeps, the last ones were cut",
    )
    report = warehouse.pipeline.load(fine, table="kept", columns=(Column("a", timezone=False),))
    assert (warehouse.types("kept")["a"], report.notes) == ("TIMESTAMP_NS", ())
    assert warehouse.values("a", "kept")[0].isoformat() == "2023-11-14T22:13:20.123456789"


def test_parquet_keeps_nanoseconds_with_a_zone_and_wide_decimals(tmp_path: Path) -> None:
    fine = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))
    wide = pa.array([Decimal("1" * 48 + ".25")], pa.decimal256(50, 2))
    pipe = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    pipe.load(pa.table({"a": fine, "d": wide}), table="t")
    (file,) = (tmp_path / "lake" / "t").rglob("*.parquet")
    stored = pq.read_table(file)
    assert stored["a"].cast(pa.int64()).to_pylist() == [1_700_000_000_123_456_789]
    assert stored["d"].to_pylist() == wide.to_pylist()
    assert [str(stored.schema.field(name).type) for name in "ad"] == [
        "timestamp[ns, tz=UTC]",
        "decimal256(50, 2)",
    ]


def test_a_wide_decimal_that_fits_stays_a_decimal(warehouse: Warehouse) -> None:
    wide = pa.array([Decimal("1.25"), Decimal("1" * 40)], pa.decimal256(50, 2))
    warehouse.pipeline.load(pa.table({"d": wide}), table="t")
    assert said(warehouse)[0] == ("d", "decimal", 38, 2)
    assert warehouse.rows() == [
        {"d": Decimal("1.25"), "d__v_text": None},
        {"d": None, "d__v_text": "1" * 40 + ".00"},
    ]


# --- Rows that are taken whole --------------------------------------------------------------------------


def run(warehouse: Warehouse, table: Any, name: str = "t", **hints: Any) -> Any:
    return warehouse.pipeline.run(table, table_name=name, **hints)


def test_t06_rows_of_a_resource_are_taken_whole(warehouse: Warehouse) -> None:
    table = pa.table(
        {
            "i": pa.array([1], pa.int8()),
            "u": pa.array([1], pa.uint16()),
            "ms": pa.array([AT], pa.timestamp("s")).cast(pa.timestamp("ms", "UTC")),
            "us": pa.array([AT], pa.timestamp("us", "UTC")).cast(pa.timestamp("us")),
            "gone": pa.nulls(1),
            "s": [{"x": 1, "y": [1, 2]}],
            "l": [["a", None]],
            "m": pa.array([[("k", 5)]], pa.map_("string", "int8")),
        }
    )
    run(warehouse, table)
    assert said(warehouse) == [
        ("i", "bigint", 8, None),
        ("u", "bigint", 16, None),
        ("ms", "timestamp", 3, None),
        ("us", "timestamp", None, None),
        ("s", "json", None, None),
        ("l", "json", None, None),
        ("m", "json", None, None),
    ]
    assert warehouse.tables == {"t"}
    (row,) = warehouse.raw()
    assert (row["s"], row["l"], row["m"]) == ('{"x":1,"y":[1,2]}', '["a",null]', '{"k":5}')
    assert [name for name in row if name.startswith("_dlt")] == []


def test_ids_on_request(tmp_path: Path) -> None:
    settings = {"add_dlt_id": True, "add_dlt_load_id": True}
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb", settings=settings)
    report = pipe.run(pa.table({"a": [1, 2]}), table_name="t")
    rows = pipe.destination.query("main", "t")
    assert list(rows[0]) == ["a", "_dlt_load_id", "_dlt_id"]
    assert {row["_dlt_load_id"] for row in rows} == {report.load_id}
    assert len({row["_dlt_id"] for row in rows}) == 2


def test_an_id_setting_that_is_none(tmp_path: Path) -> None:
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/x.duckdb", settings={"add_dlt_id": "perhaps"})
    with pytest.raises(UsageError, match="add_dlt_id is 'perhaps'; write true or false"):
        pipe.run(pa.table({"a": [1]}), table_name="t")


def test_tables_and_frames_of_one_resource(warehouse: Warehouse) -> None:
    @trellis.resource
    def rows() -> Iterator[Any]:
        yield pa.table({"a": [1], "b": ["x"]})
        yield pd.DataFrame({"c": [2.5], "a": [2]})
        yield pa.table({"d": pa.array([], pa.date32())})

    warehouse.pipeline.run(rows)
    assert warehouse.columns("rows") == {"a": "bigint", "b": "text", "c": "double", "d": "date"}
    assert sorted(warehouse.rows("rows"), key=lambda row: row["a"]) == [
        {"a": 1, "b": "x", "c": None, "d": None},
        {"a": 2, "b": None, "c": 2.5, "d": None},
    ]


def test_whole_rows_fit_or_are_refused(warehouse: Warehouse) -> None:
    run(warehouse, pa.table({"a": [1]}))
    run(warehouse, pa.table({"a": [2.0]}))
    reason = "a comes as double, and some of its values do not fit bigint, the type of the column"
    with pytest.raises(ContractError, match=f"records:1: farm.t.a: {reason}; convert them"):
        run(warehouse, pa.table({"a": [2.5]}))
    with pytest.raises(ContractViolation, match=reason):
        run(warehouse, pa.table({"a": [2.5]}), schema_contract={"data_type": "freeze"})
    assert warehouse.rows() == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(("mode", "kept"), [("discard_value", [1, None, None]), ("discard_row", [1, None])])
def test_whole_rows_under_a_contract_on_types(warehouse: Warehouse, mode: Any, kept: Any) -> None:
    run(warehouse, pa.table({"a": [1]}))
    report = run(warehouse, pa.table({"a": ["x", None]}), schema_contract={"data_type": mode})
    assert warehouse.values("a") == kept
    assert report.balanced
    (lost,) = warehouse.raw("_trellis_discards")
    assert (lost["column_name"], lost["value"], lost["position"]) == ("a", "x", 1)
    assert lost["row"] == ('{"a":"x"}' if mode == "discard_row" else None)


@pytest.mark.parametrize(("mode", "kept"), [("discard_value", [1, 3, 4]), ("discard_row", [1, 4])])
def test_s16_new_columns_of_whole_rows(warehouse: Warehouse, mode: Any, kept: Any) -> None:
    run(warehouse, pa.table({"a": [1]}))
    more: dict[str, Any] = {f"n{number}": ["x", None] for number in range(7)}
    run(warehouse, pa.table({"a": [3, 4], **more}), schema_contract={"columns": mode})
    assert warehouse.columns() == {"a": "bigint"}
    assert warehouse.values("a") == kept
    assert len(warehouse.raw("_trellis_discards")) == (7 if mode == "discard_value" else 1)


def test_t07_an_interval_among_whole_rows(warehouse: Warehouse) -> None:
    took = pa.array([timedelta(seconds=3)])
    with pytest.raises(
        ContractError, match=r"took holds a duration\[us\], which no data type takes.* table t$"
    ):
        run(warehouse, pa.table({"took": took}))
    assert warehouse.tables == set()


def test_hints_win_over_types(warehouse: Warehouse) -> None:
    table = pa.table({"j": ['{"a":1}'], "at": ["2024-01-02T03:04:05"], "n": ["7"], "t": [12]})
    types = {"j": "json", "at": "timestamp", "n": "bigint", "t": "text"}
    run(
        warehouse,
        table,
        columns=[{"name": name, "data_type": data_type} for name, data_type in types.items()],
    )
    assert warehouse.columns() == types
    at = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert warehouse.rows() == [{"j": '{"a":1}', "at": at, "n": 7, "t": "12"}]


def test_whole_rows_are_merged_by_ids_or_by_their_primary_key(warehouse: Warehouse) -> None:
    merge: dict[str, Any] = {"write_disposition": "merge", "primary_key": "k"}
    first, second = pa.table({"k": [1, 2], "v": ["a", "b"]}), pa.table({"k": [2, 3], "v": ["B", "c"]})
    for name, hints in (("with_ids", merge), ("bare", {})):
        run(warehouse, first, name, **hints)
        run(warehouse, second, name, **merge)
        rows = sorted(warehouse.rows(name), key=lambda row: row["k"])
        assert rows == [{"k": 1, "v": "a"}, {"k": 2, "v": "B"}, {"k": 3, "v": "c"}]
    assert "_dlt_id" in warehouse.columns("with_ids", system=True)
    assert list(warehouse.columns("bare", system=True)) == ["k", "v"]
    with pytest.raises(SchemaError, match="its rows have no _dlt_id, so they cannot be merged"):
        run(warehouse, second, "bare", write_disposition="merge", primary_key="", merge_key="v")


def test_records_into_a_table_without_ids(warehouse: Warehouse) -> None:
    run(warehouse, pa.table({"a": [1]}))
    with pytest.raises(SchemaError, match="table t, column _dlt_load_id: it is required"):
        warehouse.load({"a": 2})


def test_two_columns_of_one_name(warehouse: Warehouse) -> None:
    with pytest.raises(UsageError, match="a, A would share a column of table t; rename all but one"):
        run(warehouse, pa.table({"a": [1], "A": [2]}))


def test_a_frame_of_several_types(warehouse: Warehouse) -> None:
    with pytest.raises(UsageError, match="a column of the pandas frame holds values of several types"):
        warehouse.pipeline.load(pd.DataFrame({"a": [1, "x"]}), table="t")


def test_times_of_day(warehouse: Warehouse) -> None:
    table = pa.table({"s": pa.array([time(1, 2, 3)], pa.time32("s")), "us": pa.array([time(1, 2, 3, 4)])})
    warehouse.pipeline.load(table, table="t")
    assert said(warehouse) == [("s", "time", 0, None), ("us", "time", None, None)]
    assert warehouse.rows() == [{"s": time(1, 2, 3), "us": time(1, 2, 3, 4)}]


def test_seed_d104_types_inside_json_neither_evolve_nor_migrate(warehouse: Warehouse) -> None:
    run(warehouse, pa.table({"s": [{"x": 1}]}))
    before = warehouse.schema
    run(warehouse, pa.table({"s": [{"x": "a", "y": [2.5]}]}))
    assert warehouse.schema == before
    assert warehouse.values("s") == ['{"x":1}', '{"x":"a","y":[2.5]}']


def test_null_in_a_required_column_of_whole_rows(warehouse: Warehouse) -> None:
    columns = [{"name": "a", "nullable": False}]
    with pytest.raises(
        ContractError, match=r"records:2: farm\.t\.a: a is null, but column a of table t may not be"
    ):
        run(warehouse, pa.table({"a": [1, None]}), columns=columns)
    run(warehouse, pa.table({"a": [1]}), columns=columns)
    with pytest.raises(
        ContractError, match=r"^records:1: farm\.t\.a: there is no value for column a of table t"
    ):
        run(warehouse, pa.table({"b": [1]}))
    assert warehouse.values("a") == [1]


def test_scd2_and_upsert_hash_whole_rows_as_they_hash_records(warehouse: Warehouse) -> None:
    for strategy, hints in (("scd2", {}), ("upsert", {"primary_key": "k"})):
        disposition = {"disposition": "merge", "strategy": strategy}
        rows = [{"k": 1, "v": "a"}, {"k": 2, "v": None}]
        run(
            warehouse, pa.Table.from_pylist(rows), f"{strategy}_whole", write_disposition=disposition, **hints
        )
        run(warehouse, rows, strategy, write_disposition=disposition, **hints)
        ids = [sorted(warehouse.values("_dlt_id", name)) for name in (f"{strategy}_whole", strategy)]
        assert ids[0] == ids[1], strategy


def test_an_arrow_schema_declares_columns_of_records_and_of_tables(warehouse: Warehouse) -> None:
    fields = [
        ("id", pa.int32()),
        ("at", pa.timestamp("us")),
        ("camelCase", pa.int8()),
        ("q", pa.list_(pa.int8())),
    ]
    columns = pa.schema(fields)
    run(warehouse, [{"id": 1, "at": "2024-01-01T10:00:00+02:00", "q": [1, 2]}], columns=columns)
    run(warehouse, pa.Table.from_pylist([{"id": 2, "camelCase": 3}], columns), columns=columns)
    assert said(warehouse) == [
        ("id", "bigint", 32, None),
        ("at", "timestamp", 6, None),
        ("camel_case", "bigint", 8, None),
        ("q", "json", None, None),
    ]
    assert warehouse.rows() == [
        {"id": 1, "at": datetime(2024, 1, 1, 8), "camel_case": None, "q": "[1,2]"},
        {"id": 2, "at": None, "camel_case": 3, "q": None},
    ]
