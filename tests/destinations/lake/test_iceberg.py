"""Iceberg tables without a JVM: what loads that only add rows, or replace all, leave for other readers."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable
from pyiceberg.table import Table as IcebergTable

import trellis
from trellis.destinations.iceberg.store import IcebergStore
from trellis.destinations.lake.store import TableName
from trellis.errors import ContractError, DestinationError, SchemaError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column, Table

Rows = list[dict[str, Any]]


@pytest.fixture
def iceberg(root: Path) -> Pipeline:
    return trellis.pipeline("shop", to=f"iceberg:{root}")


def table(root: Path, name: str) -> IcebergTable:
    """A table as a reader has it that knows nothing but its folder."""
    return StaticTable.from_metadata(str(root / "main" / name))


def rows_of(root: Path, name: str, *columns: str) -> Rows:
    return sorted(table(root, name).scan(selected_fields=columns).to_arrow().to_pylist(), key=repr)


def labels_of(root: Path, name: str) -> list[str | None]:
    snapshots = table(root, name).snapshots()
    return [snapshot.summary["trellis.label"] for snapshot in snapshots if snapshot.summary is not None]


def test_a_load_makes_tables_that_any_reader_knows(iceberg: Pipeline, root: Path) -> None:
    report = iceberg.load([{"id": 1, "price": 1.5, "tags": ["a", "b"]}, {"id": 2}], table="orders")
    assert (report.rows.loaded, report.load_id) == (2, rows_of(root, "_dlt_loads", "load_id")[0]["load_id"])
    assert rows_of(root, "orders", "id", "price") == [{"id": 1, "price": 1.5}, {"id": 2, "price": None}]
    assert rows_of(root, "orders__tags", "value") == [{"value": "a"}, {"value": "b"}]
    assert [(field.name, str(field.field_type)) for field in table(root, "orders").schema().fields] == [
        ("id", "long"),
        ("price", "double"),
        ("_dlt_load_id", "string"),
        ("_dlt_id", "string"),
    ]


def test_staged_files_become_files_of_the_table(iceberg: Pipeline, root: Path) -> None:
    iceberg.load([{"id": 1}], table="orders", load_id="one")
    (task,) = table(root, "orders").scan().plan_files()
    path = Path(task.file.file_path)
    assert (path.parent, task.file.record_count) == (root / "main" / "orders" / "data", 1)
    assert path.name.startswith("trellis-load-one-")
    assert labels_of(root, "orders") == ["trellis-load-one"]
    assert not [*root.glob("_trellis/staging/*")]


def test_the_size_of_a_table_is_that_of_its_files(iceberg: Pipeline, root: Path) -> None:
    store, name = IcebergStore(str(root)), TableName("main", "orders")
    store.create_table(name, Table("orders", {"id": Column("id", data_type="bigint")}), {"id": "BIGINT"})
    assert store.size(name) == (0, 0)
    iceberg.load([{"id": 1}], table="orders")
    iceberg.load([{"id": n} for n in range(100)], table="orders")
    iceberg.load([{"id": 2}], table="orders", mode="replace")
    iceberg.load([{"id": 3}], table="orders", mode="append")
    files = [Path(task.file.file_path) for task in table(root, "orders").scan().plan_files()]
    assert store.size(name) == (2, sum(path.stat().st_size for path in files))


def test_a_load_reads_no_records_of_earlier_loads(iceberg: Pipeline, root: Path) -> None:
    """Their files are gone here, so that whoever opens one fails."""
    for n in range(3):
        iceberg.load([{"id": n}], table="orders", load_id=f"load {n}")
    records = [*root.glob("main/_dlt_loads/data/*.parquet")]
    for path in records:
        path.unlink()
    iceberg.load([{"id": 3}], table="orders", load_id="load 3")
    assert (len(records), len(rows_of(root, "orders", "id"))) == (3, 4)
    with pytest.raises(FileNotFoundError):
        iceberg.load([{"id": 4}], table="orders", load_id="load 0")


def test_the_lists_of_files_of_many_commits_become_one(iceberg: Pipeline, root: Path) -> None:
    """A hundred commits if the table says nothing else."""
    name = TableName("main", "orders")
    properties = {"x-table-properties": {"commit.manifest.min-count-to-merge": "4"}}
    columns = {"id": Column("id", data_type="bigint")}
    IcebergStore(str(root)).create_table(name, Table("orders", columns, hints=properties), {"id": "BIGINT"})
    lists = []
    for n in range(6):
        iceberg.load([{"id": n}], table="orders")
        snapshot = table(root, "orders").current_snapshot()
        assert snapshot is not None
        lists.append(len(snapshot.manifests(table(root, "orders").io)))
    assert lists == [1, 2, 3, 1, 2, 3]
    assert rows_of(root, "orders", "id") == [{"id": n} for n in range(6)]


def test_a_later_key_becomes_a_column_of_the_table(iceberg: Pipeline, root: Path) -> None:
    iceberg.load([{"id": 1}], table="orders")
    iceberg.load([{"id": "x", "late": True}], table="orders")
    assert rows_of(root, "orders", "id", "late", "id__v_text") == [
        {"id": 1, "late": None, "id__v_text": None},
        {"id": None, "late": True, "id__v_text": "x"},
    ]
    assert rows_of(root, "_dlt_version", "version") == [{"version": 2}, {"version": 3}]


def test_replace_is_one_commit_per_table(iceberg: Pipeline, root: Path) -> None:
    iceberg.load([{"id": 1, "tags": [1]}, {"id": 2}], table="orders")
    report = iceberg.load([{"id": 3}], table="orders", mode="replace")
    assert rows_of(root, "orders", "id") == [{"id": 3}]
    assert rows_of(root, "orders__tags", "value") == []
    assert [len(table(root, name).snapshots()) for name in ("orders", "orders__tags")] == [2, 2]
    assert "  orders: 1 row: 1 inserted, 2 deleted" in str(report).splitlines()


def test_the_record_of_a_load_names_the_snapshots_of_its_tables(iceberg: Pipeline, root: Path) -> None:
    iceberg.load([{"id": 1}], table="orders")
    snapshot, orders = table(root, "_dlt_loads").current_snapshot(), table(root, "orders").current_snapshot()
    assert snapshot is not None and snapshot.summary is not None and orders is not None
    assert json.loads(snapshot.summary["trellis.tables"] or "") == {"orders": str(orders.snapshot_id)}


def test_every_type_is_stored_in_the_words_of_iceberg(iceberg: Pipeline, root: Path) -> None:
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
    iceberg.load(rows, table="typed")
    types = {field.name: str(field.field_type) for field in table(root, "typed").schema().fields}
    assert types == {
        "small": "int",
        "text": "string",
        "day": "date",
        "clock": "string",
        "at": "timestamptz",
        "local": "timestamptz",
        "price": "decimal(10, 2)",
        "bytes": "binary",
        "single": "double",
        "_dlt_load_id": "string",
        "_dlt_id": "string",
    }
    (row,) = rows_of(root, "typed", "clock", "price", "single")
    assert (row["clock"], str(row["price"]), row["single"]) == ("00:00:01.500000", "1.00", 1.5)


def test_a_value_that_a_table_made_elsewhere_cannot_hold_is_refused(iceberg: Pipeline, root: Path) -> None:
    columns = dict.fromkeys(("_dlt_load_id", "_dlt_id"), "STRING")
    orders = Table("orders", {name: Column(name, "text") for name in ("id", *columns)})
    IcebergStore(str(root)).create_table(TableName("main", "orders"), orders, {"id": "INT", **columns})
    iceberg.load([{"id": 2}], table="orders")
    with pytest.raises(SchemaError) as refused:
        iceberg.load([{"id": 3_000_000_000}], table="orders")
    assert str(refused.value) == (
        "table orders, column id: it is INT in the destination, but BIGINT in the schema, and '3000000000' "
        "does not fit; give the column its old type, or load into another table; nothing was loaded"
    )
    assert rows_of(root, "orders", "id") == [{"id": 2}]


def test_a_required_value_that_is_missing_is_refused_before_anything_is_written(
    iceberg: Pipeline, root: Path
) -> None:
    iceberg.load([{"id": 1, "name": "a"}], table="orders", columns=[Column("name", "text", nullable=False)])
    assert table(root, "orders").schema().find_field("name").required
    with pytest.raises(ContractError):
        iceberg.load([{"id": 2}], table="orders")
    assert rows_of(root, "orders", "id") == [{"id": 1}]
    assert len(rows_of(root, "_dlt_loads", "load_id")) == 1


def test_a_load_that_broke_off_completes_and_doubles_nothing(
    iceberg: Pipeline, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iceberg.load([{"id": 1, "tags": [1]}], table="orders")
    write_files = IcebergStore.write_files
    for broken in ("_dlt_version", "orders", "orders__tags", "_dlt_loads"):

        def fail(store: IcebergStore, name: Any, *rest: Any, broken: str = broken, **more: Any) -> None:
            if name.table == broken:
                raise DestinationError("the network is down")
            write_files(store, name, *rest, **more)

        rows = [{"id": 2, "tags": [2], f"new_{broken}": 1}]
        monkeypatch.setattr(IcebergStore, "write_files", fail)
        with pytest.raises(DestinationError):
            iceberg.load(rows, table="orders", load_id=f"load of {broken}")
        monkeypatch.undo()
        assert iceberg.load(rows, table="orders", load_id=f"load of {broken}").rows.loaded == 1
        assert iceberg.load(rows, table="orders", load_id=f"load of {broken}").already_loaded
    assert [row["id"] for row in rows_of(root, "orders", "id")] == [1, 2, 2, 2, 2]
    assert [row["value"] for row in rows_of(root, "orders__tags", "value")] == [1, 2, 2, 2, 2]
    assert len(rows_of(root, "_dlt_loads", "load_id")) == 5
    versions = [row["version"] for row in rows_of(root, "_dlt_version", "version")]
    assert sorted(versions) == [2, 3, 4, 5, 6]


def test_loads_at_once_keep_all_rows_and_all_columns(root: Path) -> None:
    trellis.pipeline("shop", to=f"iceberg:{root}").load([{"id": 0}], table="orders")
    failures = []

    def load(number: int) -> None:
        try:
            shop = trellis.pipeline("shop", to=f"iceberg:{root}")
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
    assert columns < {field.name for field in table(root, "orders").schema().fields}
    stored = trellis.pipeline("shop", to=f"iceberg:{root}").schema.tables["orders"].columns
    assert columns < {*stored}
    versions = [row["version"] for row in rows_of(root, "_dlt_version", "version")]
    assert sorted(versions) == [2, 3, 4, 5, 6]


def test_a_commit_that_was_stopped_before_its_hint_counts(iceberg: Pipeline, root: Path) -> None:
    """What names the newest metadata may be one behind: the next number is looked for."""
    iceberg.load([{"id": 1}], table="orders")
    hint = root / "main" / "orders" / "metadata" / "version-hint.text"
    before = hint.read_text()
    iceberg.load([{"id": 2}], table="orders")
    hint.write_text(before)
    iceberg.load([{"id": 3}], table="orders")
    assert rows_of(root, "orders", "id") == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_without_a_hint_the_files_say_which_metadata_is_the_newest(iceberg: Pipeline, root: Path) -> None:
    for number in range(4):
        iceberg.load([{"id": number}], table="orders")
    metadata = root / "main" / "orders" / "metadata"
    (metadata / "v1.metadata.json").unlink()  # as Iceberg does where the table asks for it
    for number, hint in enumerate(("", "lost", None), start=4):
        (metadata / "version-hint.text").unlink()
        if hint is not None:
            (metadata / "version-hint.text").write_text(hint)
        iceberg.load([{"id": number}], table="orders")
    assert sorted(row["id"] for row in iceberg.read("orders").arrow().to_pylist()) == [*range(7)]


def test_a_table_that_nobody_can_read_does_not_stop_loads_into_others(iceberg: Pipeline, root: Path) -> None:
    iceberg.load([{"id": 1}], table="orders")
    metadata = root / "main" / "old" / "metadata" / "v1.metadata.json"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("{nonsense")
    assert iceberg.load([{"id": 2}], table="orders").rows.loaded == 1
    assert iceberg.read("orders").arrow().num_rows == 2
    for read in (lambda: iceberg.load([{"id": 3}], table="old"), lambda: iceberg.read("old").arrow()):
        with pytest.raises(DestinationError) as refused:
            read()
        assert str(refused.value) == (
            f"{metadata}: pyiceberg does not read it as the metadata of a table (Invalid JSON: key must be a "
            "string at line 1 column 2); restore the file if it is damaged, or load through a catalog of "
            "Spark (spark:CATALOG.SCHEMA)"
        )


def test_a_plan_changes_nothing(iceberg: Pipeline, root: Path) -> None:
    report = iceberg.plan([{"id": 1}], table="orders")
    assert any("CREATE TABLE" in statement for statement in report.statements)
    assert not root.exists()
