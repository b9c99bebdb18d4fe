"""Delta tables without a JVM: what loads that only add rows, or replace all, leave for other readers."""

from __future__ import annotations

import json
import threading
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

import trellis
from destinations.commits import Warehouse, table
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.store import TableName
from trellis.errors import ContractError, DestinationError, SchemaError
from trellis.evolution.table_writes import TableTreeWrite
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column

Rows = list[dict[str, Any]]
WRITE = TableTreeWrite("orders", "append")
UTC = timezone.utc


def rows_of(root: Path, table: str, *columns: str) -> Rows:
    stored = DeltaTable(root / table).to_pyarrow_table(columns=list(columns) or None).to_pylist()
    return sorted(stored, key=repr)


def columns_of(root: Path, table: str) -> list[tuple[str, str]]:
    fields = DeltaTable(root / table).schema().fields
    return [(field.name, str(field.type.to_json()).strip('"')) for field in fields]


def test_a_load_makes_tables_that_deltalake_reads(delta: Pipeline, root: Path) -> None:
    report = delta.load([{"id": 1, "price": 1.5, "tags": ["a", "b"]}, {"id": 2}], table="orders")
    assert (report.rows.loaded, report.load_id) == (2, rows_of(root, "_dlt_loads")[0]["load_id"])
    assert rows_of(root, "orders", "id", "price") == [{"id": 1, "price": 1.5}, {"id": 2, "price": None}]
    assert rows_of(root, "orders__tags", "value") == [{"value": "a"}, {"value": "b"}]
    assert [row["version"] for row in rows_of(root, "_dlt_version")] == [2]
    assert columns_of(root, "orders") == [
        ("id", "long"),
        ("price", "double"),
        ("_dlt_load_id", "string"),
        ("_dlt_id", "string"),
    ]


def test_staged_files_become_files_of_the_table(delta: Pipeline, root: Path) -> None:
    delta.load([{"id": 1}], table="orders")
    (path,) = [Path(uri) for uri in DeltaTable(root / "orders").file_uris()]
    assert path.parent == root / "orders"
    assert path.name.startswith("trellis-load-")
    assert not [*root.glob("_trellis/staging/*")]


def test_the_size_of_a_table_is_that_of_its_files(delta: Pipeline, root: Path) -> None:
    store, name = DeltaStore(str(root)), TableName("", "orders")
    delta.load([{"id": 1}], table="orders")
    delta.load([{"id": n} for n in range(100)], table="orders")
    files = [path.stat().st_size for path in root.glob("orders/*.parquet")]
    assert store.size(name) == (101, sum(files))
    delta.load([{"id": 2}], table="orders", mode="replace")
    (path,) = [Path(uri) for uri in DeltaTable(root / "orders").file_uris()]
    assert store.size(name) == (1, path.stat().st_size)


def test_a_load_reads_no_records_of_earlier_loads(delta: Pipeline, root: Path) -> None:
    """Their files are gone here, so that whoever opens one fails."""
    for n in range(3):
        delta.load([{"id": n}], table="orders", load_id=f"load {n}")
    records = [*root.glob("_dlt_loads/*.parquet")]
    for path in records:
        path.unlink()
    delta.load([{"id": 3}], table="orders", load_id="load 3")
    assert (len(records), len(rows_of(root, "orders"))) == (3, 4)
    with pytest.raises(FileNotFoundError):
        delta.load([{"id": 4}], table="orders", load_id="load 0")


def test_a_load_is_known_by_its_record_where_nothing_is_known_of_files(delta: Pipeline, root: Path) -> None:
    """As in a table that was written without statistics, and without the labels of loads."""
    delta.load([{"id": 1}], table="orders", load_id="one")
    records = DeltaTable(root / "_dlt_loads").to_pyarrow_table()
    write_deltalake(
        root / "_dlt_loads",
        records,
        mode="overwrite",
        schema_mode="overwrite",
        configuration={"delta.dataSkippingNumIndexedCols": "0"},
    )
    delta.load([{"id": 1}], table="orders", load_id="one")
    delta.load([{"id": 2}], table="orders", load_id="two")
    assert rows_of(root, "orders", "id") == [{"id": 1}, {"id": 2}]


def test_a_load_with_a_long_id_is_known_again(delta: Pipeline, root: Path) -> None:
    """The log of a table has the first 32 characters of it alone."""
    for _ in range(2):
        delta.load([{"id": 1}], table="orders", load_id="load of orders, February 29, 2024, Berlin")
    assert rows_of(root, "orders", "id") == [{"id": 1}]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2**53 + 1, None]),
        pa.array([1, 2, 3], pa.int8()),
        pa.array([1.5, -0.0, 2e300]),
        pa.array([1.1, None, 3.3], pa.float32()),
        pa.array([float("nan"), 1.0, 2.0]),
        pa.array([float("inf"), 1.0, 2.0]),
        pa.array([True, None, False]),
        pa.array(["x" * 50, "é", None]),
        pa.array(["😀", "😀" * 40, "\uffff"]),
        pa.array(["\U0010ffff" * 40, "a", "b"]),
        pa.array([datetime(2024, 1, 1, 0, 0, 0, 123456, UTC), datetime(1, 1, 1, tzinfo=UTC), None]),
        pa.array([datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), datetime(1960, 1, 1, 0, 0, 0, 1, UTC)]),
        pa.array([date(2024, 1, 1), date(1, 1, 1), date(9999, 12, 31)]),
        pa.array([Decimal("1.1"), Decimal("-3.3"), None], pa.decimal128(9, 1)),
        pa.array([Decimal("1.12345"), Decimal("-99999.5")], pa.decimal128(38, 9)),
        pa.array([Decimal(10**30), Decimal(1)], pa.decimal128(38, 0)),
        pa.array([None, None], pa.string()),
        pa.array([b"a", b"b", None]),
    ],
    ids=lambda values: f"{values.type} {str(values[0])[:20]!a}",
)
def test_a_filter_finds_each_row(delta: Pipeline, root: Path, values: pa.Array) -> None:
    """Readers pass over files by their bounds; deltalake misunderstands some: see `file_statistics`."""
    delta.load(pa.table({"id": range(len(values)), "value": values}), table="orders")
    orders = DeltaTable(root / "orders").to_pyarrow_dataset()
    stored, value = orders.to_table()["value"], pc.field("value")
    for scalar in stored.drop_null():
        if scalar.as_py() == scalar.as_py():
            same = orders.to_table(filter=(value >= scalar) & (value <= scalar))["value"].to_pylist()
            assert same == [other for other in stored.to_pylist() if other == scalar.as_py()]
    assert orders.to_table(filter=value.is_null()).num_rows == stored.null_count


def test_ten_commits_are_summed_up_for_those_who_open_the_table(delta: Pipeline, root: Path) -> None:
    for n in range(10):
        delta.load([{"id": n}], table="orders")
    newest = json.loads((root / "orders" / "_delta_log" / "_last_checkpoint").read_text())
    assert (newest["version"], DeltaTable(root / "orders").version()) == (9, 10)


def test_a_later_key_becomes_a_column_of_the_table(delta: Pipeline, root: Path) -> None:
    delta.load([{"id": 1}], table="orders")
    delta.load([{"id": "x", "late": True}], table="orders")
    assert rows_of(root, "orders", "id", "late", "id__v_text") == [
        {"id": 1, "late": None, "id__v_text": None},
        {"id": None, "late": True, "id__v_text": "x"},
    ]
    assert [row["version"] for row in rows_of(root, "_dlt_version")] == [2, 3]


def test_replace_is_one_commit_per_table(delta: Pipeline, root: Path) -> None:
    delta.load([{"id": 1, "tags": [1]}, {"id": 2}], table="orders")
    delta.load([{"id": 3}], table="orders", mode="replace")
    assert rows_of(root, "orders", "id") == [{"id": 3}]
    assert rows_of(root, "orders__tags", "value") == []
    assert [DeltaTable(root / table).version() for table in ("orders", "orders__tags")] == [2, 2]


def test_the_record_of_a_load_names_the_versions_of_its_tables(delta: Pipeline, root: Path) -> None:
    delta.load([{"id": 1, "tags": [1]}], table="orders")
    delta.load([{"id": 2}], table="orders")
    last = DeltaTable(root / "_dlt_loads").history(1)[0]
    assert json.loads(last["trellis.tables"]) == {"orders": "2"}


def test_every_type_is_stored_in_the_words_of_delta(delta: Pipeline, root: Path) -> None:
    rows = pa.table(
        {
            "small": pa.array([1], pa.int16()),
            "text": ["x"],
            "day": pa.array([0], pa.date32()),
            "clock": pa.array([1_500_000], pa.time64("us")),
            "at": pa.array([1], pa.timestamp("us", "UTC")),
            "local": pa.array([1], pa.timestamp("ms")),
            "price": pa.array([1], pa.decimal128(10, 2)),
            "bytes": [b"\xca"],
            "single": pa.array([1.5], pa.float32()),
        }
    )
    delta.load(rows, table="typed")
    assert dict(columns_of(root, "typed")) == {
        "small": "short",
        "text": "string",
        "day": "date",
        "clock": "string",
        "at": "timestamp",
        "local": "timestamp",
        "price": "decimal(10,2)",
        "bytes": "binary",
        "single": "double",
        "_dlt_load_id": "string",
        "_dlt_id": "string",
    }
    (row,) = rows_of(root, "typed", "clock", "price", "single")
    assert (row["clock"], str(row["price"]), row["single"]) == ("00:00:01.500000", "1.00", 1.5)


def test_rows_are_cast_to_the_types_of_a_table_that_is_there(delta: Pipeline, root: Path) -> None:
    fields = [("id", pa.int32()), ("_dlt_load_id", pa.string()), ("_dlt_id", pa.string())]
    write_deltalake(root / "orders", pa.table([[1], ["by hand"], ["a"]], schema=pa.schema(fields)))
    delta.load([{"id": 2}], table="orders")
    assert rows_of(root, "orders", "id") == [{"id": 1}, {"id": 2}]
    assert columns_of(root, "orders")[0] == ("id", "integer")
    with pytest.raises(SchemaError) as refused:
        delta.load([{"id": 3_000_000_000}], table="orders")
    assert str(refused.value) == (
        "table orders, column id: it is INT in the destination, but BIGINT in the schema, and '3000000000' "
        "does not fit; give the column its old type, or load into another table; nothing was loaded"
    )
    assert rows_of(root, "orders", "id") == [{"id": 1}, {"id": 2}]


def test_a_required_value_that_is_missing_is_refused_before_anything_is_written(root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"delta:{root}")
    shop.load([{"id": 1, "name": "a"}], table="orders", columns=[Column("name", "text", nullable=False)])
    with pytest.raises(ContractError):
        shop.load([{"id": 2}], table="orders")
    assert rows_of(root, "orders", "id") == [{"id": 1}]
    assert len(rows_of(root, "_dlt_loads")) == 1


def test_a_load_that_broke_off_completes_and_doubles_nothing(
    delta: Pipeline, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta.load([{"id": 1, "tags": [1]}], table="orders")
    write_files = DeltaStore.write_files
    for broken in ("_dlt_version", "orders", "orders__tags", "_dlt_loads"):

        def fail(store: DeltaStore, name: Any, *rest: Any, broken: str = broken, **more: Any) -> None:
            if name.table == broken:
                raise DestinationError("the network is down")
            write_files(store, name, *rest, **more)

        rows = [{"id": 2, "tags": [2], f"new_{broken}": 1}]
        monkeypatch.setattr(DeltaStore, "write_files", fail)
        with pytest.raises(DestinationError):
            delta.load(rows, table="orders", load_id=f"load of {broken}")
        monkeypatch.undo()
        assert delta.load(rows, table="orders", load_id=f"load of {broken}").rows.loaded == 1
        assert delta.load(rows, table="orders", load_id=f"load of {broken}").already_loaded
    assert [row["id"] for row in rows_of(root, "orders", "id")] == [1, 2, 2, 2, 2]
    assert [row["value"] for row in rows_of(root, "orders__tags", "value")] == [1, 2, 2, 2, 2]
    assert len(rows_of(root, "_dlt_loads")) == 5
    assert sorted(row["version"] for row in rows_of(root, "_dlt_version")) == [2, 3, 4, 5, 6]


def test_loads_at_once_keep_all_rows_and_all_columns(root: Path) -> None:
    trellis.pipeline("shop", to=f"delta:{root}").load([{"id": 0}], table="orders")
    failures = []

    def load(number: int) -> None:
        try:
            shop = trellis.pipeline("shop", to=f"delta:{root}")
            shop.load([{"id": number, f"column_{number}": number}], table="orders")
        except Exception as bad:
            failures.append(bad)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [row["id"] for row in rows_of(root, "orders", "id")] == [0, 1, 2, 3, 4]
    columns = {f"column_{number}" for number in range(1, 5)}
    assert columns < {name for name, _ in columns_of(root, "orders")}
    stored = trellis.pipeline("shop", to=f"delta:{root}").schema.tables["orders"].columns
    assert columns < {*stored}
    assert sorted(row["version"] for row in rows_of(root, "_dlt_version")) == [2, 3, 4, 5, 6]


def test_a_name_that_delta_does_not_allow_is_refused(root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"delta:{root}?naming_convention=direct")
    with pytest.raises(SchemaError) as refused:
        shop.load([{"a b": 1}], table="orders")
    assert str(refused.value) == (
        "table orders, column 'a b': Delta Lake allows none of the characters ' ,;{}()=', tabs and line ends "
        "in the name of a column; rename it"
    )
    assert shop.load([{"a": 1}], table="orders").rows.loaded == 1
    assert [row["a"] for row in rows_of(root, "orders", "a")] == [1]


def test_a_table_that_nobody_can_read_does_not_stop_loads_into_others(delta: Pipeline, root: Path) -> None:
    delta.load([{"id": 1}], table="orders")
    log = root / "old" / "_delta_log" / "00000000000000000000.json"
    log.parent.mkdir(parents=True)
    log.write_text("{nonsense")
    assert delta.load([{"id": 2}], table="orders").rows.loaded == 1
    assert delta.read("orders").arrow().num_rows == 2
    for read in (lambda: delta.load([{"id": 3}], table="old"), lambda: delta.read("old").arrow()):
        with pytest.raises(DestinationError, match=f"^{root}/old: Delta refused: Kernel error: Json error"):
            read()


def test_a_plan_changes_nothing(delta: Pipeline, root: Path) -> None:
    report = delta.plan([{"id": 1}], table="orders")
    created = f"CREATE TABLE delta.`{root}/orders` (`id` BIGINT, "
    assert any(statement.startswith(created) for statement in report.statements)
    assert not root.exists()


def test_a_table_with_required_columns_and_times_without_a_zone_lists_both_features(
    delta: Pipeline, root: Path
) -> None:
    local = Column("at", "timestamp", timezone=False)
    delta.load([{"id": 1, "at": "2026-01-01T00:00:00"}], table="created", columns=[local])
    delta.load([{"id": 1}], table="grown")
    delta.load([{"id": 2, "at": "2026-01-01T00:00:00"}], table="grown", columns=[local])
    for name in ("created", "grown"):
        assert sorted(DeltaTable(root / name).protocol().writer_features) == ["invariants", "timestampNtz"]


def test_a_value_that_does_not_fit_its_new_type_is_refused_before_the_schema_is_stored(
    root: Path, tmp_path: Path
) -> None:
    warehouse = Warehouse(f"delta:{root}", tmp_path)
    before, after = table("orders", note="text"), table("orders", note="bigint")
    warehouse.run([before], {"orders": [[{"note": "1"}, {"note": "many"}]]}, chains=(WRITE,))
    with pytest.raises(SchemaError) as refused:
        warehouse.run([after], {"orders": [[{"note": 2}]]}, chains=(WRITE,), retyped={"orders": ["note"]})
    assert str(refused.value) == (
        "table orders, column note: it is STRING in the destination, but BIGINT in the schema, and 'many' "
        "does not fit; give the column its old type, or load into another table; nothing was loaded"
    )
    assert warehouse.rows("orders") == [("1",), ("many",)]
