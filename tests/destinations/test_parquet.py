"""The folder that `parquet:DIR` keeps: its layout, its manifests, and readers that know neither."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from destinations.commits import Warehouse
from trellis.destinations import folder
from trellis.destinations.parquet import destination
from trellis.destinations.parquet.destination import Parquet
from trellis.destinations.parquet.manifest import KEEP, LiveFile, LiveTable, Manifest, Manifests
from trellis.engine.arrow.nested_types import hint_of
from trellis.engine.arrow.types import arrow_schema
from trellis.errors import ContractError, DestinationError, UsageError
from trellis.evolution.table_writes import KeyedWrite
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import NESTED_TYPE, Column, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RowsOf = Callable[..., list[dict[str, Any]]]
INTO_T: Any = {"table": "t"}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def shop(lake: Path) -> Pipeline:
    return pipeline("shop", to=f"parquet:{lake}")


def files_of(lake: Path, table: str) -> list[str]:
    return sorted(str(path.relative_to(lake)) for path in lake.glob(f"{table}/**/*") if path.is_file())


def naive(lake: Path, table: str, columns: str = "*") -> list[Any]:
    relation = duckdb.sql(
        f"SELECT {columns} FROM read_parquet('{lake}/{table}/**/*.parquet', union_by_name = true)"
    )
    return sorted(relation.fetchall())


def test_layout(shop: Pipeline, lake: Path) -> None:
    shop.load([{"id": 1, "k": [1]}], table="t", load_id="a/1")
    shop.load([{"id": 2}], table="t", load_id="b")
    assert files_of(lake, "t") == ["t/run=a%2F1/part-00000.parquet", "t/run=b/part-00000.parquet"]
    assert files_of(lake, "t__k") == ["t__k/run=a%2F1/part-00000.parquet"]
    manifests = sorted((lake / "_trellis" / "manifests").iterdir())
    assert [path.name for path in manifests] == [f"{n:020d}.json" for n in (1, 2)]
    newest = json.loads(manifests[-1].read_text())
    assert (newest["number"], newest["previous"], newest["load_id"]) == (2, 1, "b")
    assert newest["schemas"] == {"shop": shop.schema.stored_hash}
    listed = {file["path"]: file["rows"] for file in newest["tables"]["t"]["files"]}
    assert listed == {"t/run=a%2F1/part-00000.parquet": 1, "t/run=b/part-00000.parquet": 1}
    assert sorted(path.name for path in (lake / "_trellis").iterdir()) == ["intents", "lock", "manifests"]
    assert list((lake / "_trellis" / "intents").iterdir()) == []


def test_dataset_is_a_folder(lake: Path, rows_of: RowsOf) -> None:
    inner = pipeline("shop", to=f"parquet:{lake}", dataset="raw")
    inner.load([{"a": 1}], table="t")
    assert files_of(lake / "raw", "t") and not (lake / "t").exists()
    outer = pipeline("shop", to=f"parquet:{lake}")
    outer.load([{"a": 2}], table="t")
    assert (rows_of(inner, "t"), rows_of(outer, "t")) == ([{"a": 1}], [{"a": 2}])
    with pytest.raises(DestinationError, match="raw is a dataset there"):
        outer.load([{"a": 2}], table="raw")
    with pytest.raises(DestinationError, match="t is a table there"):
        pipeline("shop", to=f"parquet:{lake}", dataset="t").load([{"a": 1}], table="x")


def test_readers_that_know_no_manifest(shop: Pipeline, lake: Path) -> None:
    shop.load([{"id": 1, "v": "a", "k": [1, 2]}, {"id": 2, "v": "b", "k": [3]}], **INTO_T)
    shop.load([{"id": 3, "v": "c", "w": 7}], **INTO_T)
    assert naive(lake, "t", "id, v, w") == [(1, "a", None), (2, "b", None), (3, "c", 7)]
    assert naive(lake, "t__k", "value") == [(1,), (2,), (3,)]
    assert ds.dataset(lake / "t", partitioning="hive").count_rows() == 3
    shop.load(iter(()), table="t", mode="replace")
    assert naive(lake, "t", "id, v, w") == naive(lake, "t__k", "value") == []


def test_spark_reads_the_folder(shop: Pipeline, lake: Path, spark: SparkSession) -> None:
    shop.load([{"id": 1, "v": "a", "at": "2026-01-01T00:00:00Z", "run": 5}], load_id="1.5", **INTO_T)
    shop.load([{"id": 2, "v": "b", "w": 7}], load_id="2.5", **INTO_T)
    frame = spark.read.option("mergeSchema", True).parquet(str(lake / "t"))
    assert {(row["id"], row["run"], row["w"]) for row in frame.collect()} == {(1, 5, None), (2, None, 7)}
    assert dict(frame.dtypes)["at"] == "timestamp"


@pytest.mark.parametrize("names", [("a", "a.b"), ("a.b", "a")], ids=["struct first", "struct last"])
def test_a_required_column_called_like_a_field(lake: Path, tmp_path: Path, names: tuple[str, str]) -> None:
    """A column `a.b` and the field `b` of a column `a` have one path in the file."""
    struct = hint_of(pa.struct([("b", pa.int64())]))
    columns = {
        "a": Column("a", "json").with_hints(**{NESTED_TYPE: struct}),
        "a.b": Column("a.b", "bigint", nullable=False),
    }
    table = Table("t", {name: columns[name] for name in names})
    warehouse = Warehouse(f"parquet:{lake}", tmp_path)
    warehouse.commit(KeyedWrite("t"), [{"a": {"b": None}, "a.b": 1}], table)
    with pytest.raises(ContractError, match=r"table t, column a\.b: it is required"):
        warehouse.commit(KeyedWrite("t"), [{"a": {"b": 1}, "a.b": None}], table)
    assert warehouse.rows("t", "a", "a.b") == [({"b": None}, 1)]


@pytest.mark.parametrize("names", [("a", "a.b"), ("a.b", "a")], ids=["struct first", "struct last"])
def test_a_required_struct_beside_a_column_called_like_its_field(
    lake: Path, tmp_path: Path, names: tuple[str, str]
) -> None:
    struct = hint_of(pa.struct([("b", pa.int64())]))
    columns = {
        "a": Column("a", "json", nullable=False).with_hints(**{NESTED_TYPE: struct}),
        "a.b": Column("a.b", "bigint"),
    }
    table = Table("t", {name: columns[name] for name in names})
    warehouse = Warehouse(f"parquet:{lake}", tmp_path)
    warehouse.commit(KeyedWrite("t"), [{"a": {"b": 1}, "a.b": None}], table)
    with pytest.raises(ContractError, match="table t, column a: it is required"):
        warehouse.commit(KeyedWrite("t"), [{"a": None, "a.b": 1}], table)
    assert warehouse.rows("t", "a", "a.b") == [({"b": 1}, None)]


def test_a_column_called_run(shop: Pipeline, lake: Path, rows_of: RowsOf) -> None:
    """The run folders are named otherwise, lest readers take the load for the column; older files too."""
    shop.load([{"id": 1}], load_id="7", **INTO_T)
    shop.load([{"id": 2, "Run": 99}], load_id="8", **INTO_T)
    assert files_of(lake, "t") == ["t/run_=7/part-00000.parquet", "t/run_=8/part-00000.parquet"]
    assert naive(lake, "t", "id, run") == [(1, None), (2, 99)]
    shop.load([{"id": 3, "run": 5}], load_id="9", **INTO_T)
    assert rows_of(shop, "t") == [{"id": 1, "run": None}, {"id": 2, "run": 99}, {"id": 3, "run": 5}]
    assert not list(lake.glob("t/run=*"))


def test_an_empty_file_shows_the_columns(shop: Pipeline, lake: Path) -> None:
    shop.load([{"a": 1, "k": [1]}], table="t")
    shop.load([{"b": 1}], table="t", mode="replace")
    (empty,) = files_of(lake, "t__k")
    assert pq.read_metadata(lake / empty).num_rows == 0
    assert set(pq.read_schema(lake / empty).names) >= {"value", "_dlt_id"}
    shop.load([{"b": 1, "k": [2]}], table="t")
    assert naive(lake, "t__k", "value") == [(2,)]
    assert not (lake / empty).exists()


TYPES: list[tuple[Column, Any]] = [
    (Column("small", "bigint", precision=8), 5),
    (Column("utc", "timestamp"), datetime(2026, 1, 1, 1, 2, 3, 456789, timezone.utc)),
    (Column("naive", "timestamp", timezone=False), datetime(2026, 1, 1, 1, 2, 3, 456789)),
    (Column("seconds", "timestamp", precision=0), datetime(2026, 1, 1, 1, 2, 3, tzinfo=timezone.utc)),
    (Column("millis", "timestamp", precision=3), datetime(2026, 1, 1, 1, 2, 3, 456000, timezone.utc)),
    (Column("nanos", "timestamp", precision=9), datetime(2026, 1, 1, 1, 2, 3, 456789, timezone.utc)),
    (Column("amount", "decimal"), Decimal("12345678901234567890.123456789")),
    (Column("narrow", "decimal", precision=6, scale=2), Decimal("1234.56")),
    (Column("huge", "decimal", precision=60, scale=5), Decimal("1" * 20 + ".12345")),
    (Column("coin", "wei"), 10**37),
    (Column("day", "date"), date(2026, 1, 1)),
    (Column("clock", "time"), time(1, 2, 3, 456789)),
    (Column("raw", "binary"), b"\x00\xff"),
    (Column("tree", "json"), {"a": [1]}),
    (Column("yes", "bool"), True),
    (Column("real", "double"), 0.1),
]


def test_types_are_those_of_the_schema(shop: Pipeline, lake: Path, rows_of: RowsOf) -> None:
    row = {column.name: value for column, value in TYPES}
    columns = tuple(column for column, _ in TYPES)
    shop.load([{"id": 1, **row}, {"id": 2, **row}], columns=columns, load_id="a", **INTO_T)
    before = [stored_row for stored_row in rows_of(shop, "t") if stored_row["id"] == 1]
    expected = arrow_schema(shop.schema.tables["t"])
    expected = expected.set(
        expected.get_field_index("seconds"), pa.field("seconds", pa.timestamp("ms", "UTC"))
    )
    for path in files_of(lake, "t"):
        assert pq.read_schema(lake / path).remove_metadata() == expected, path
    assert before[0]["huge"] == Decimal("1" * 20 + ".12345")
    assert before[0]["utc"] == row["utc"]
    assert shop.destination.catalog("")["t"].columns == {field.name: str(field.type) for field in expected}


# --- Merges ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["delete-insert", "upsert", "insert-only", "scd2"])
def test_a_merge_is_refused_before_anything_is_read(shop: Pipeline, lake: Path, strategy: Any) -> None:
    def unread() -> Iterator[dict[str, Any]]:
        raise AssertionError("a record was read")
        yield {}

    with pytest.raises(UsageError) as refused:
        shop.load(unread(), table="t", mode="merge", strategy=strategy, keys=("id",))
    assert str(refused.value) == (
        f"table t is merged with the strategy {strategy}: plain Parquet files are only appended to or "
        "replaced, while delta:PATH, iceberg:PATH, duckdb:FILE and postgresql://HOST/DB merge; name another "
        "destination, or load with the mode append or replace; nothing was loaded"
    )
    assert files_of(lake, "t") == []


def test_a_plan_of_a_merge_is_refused_too(shop: Pipeline) -> None:
    with pytest.raises(UsageError, match="table t is merged with the strategy delete-insert"):
        shop.plan([{"id": 1}], table="t", mode="merge", keys=("id",))


# --- Two loads ---------------------------------------------------------------------------------------------


def test_one_number_is_given_once(lake: Path) -> None:
    lake.mkdir()
    manifests = Manifests(str(lake / "manifests"))
    table = LiveTable({"a": "int64"}, (LiveFile("t/run=1/part-00000.parquet", 3, 1),))
    first = Manifest(1, "a", {"shop": "hash"}, {"t": table})
    assert manifests.add(first, str(lake))
    assert not manifests.add(replace(first, load_id="b"), str(lake))
    assert manifests.newest() == first


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_another_load_is_faster(
    shop: Pipeline, lake: Path, rows_of: RowsOf, monkeypatch: pytest.MonkeyPatch, mode: Any
) -> None:
    """Between the preparation of a load and its publication, and removing files that it was to keep."""
    shop.load([{"id": n, "v": 0} for n in range(3)], load_id="first", **INTO_T)
    other, real, times = pipeline("shop", to=shop.to), destination.ParquetLoad.draft_tables, iter(range(5))

    def draft(load: destination.ParquetLoad) -> destination.Draft:
        table = real(load)
        if load.commit.load_id == "slow" and (n := next(times)) < 2:
            other.load([{"id": n, "v": n + 1}], load_id=f"fast{n}", mode="replace", **INTO_T)
        return table

    monkeypatch.setattr(destination.ParquetLoad, "draft_tables", draft)
    shop.load([{"id": 2, "v": 9}], load_id="slow", mode=mode, **INTO_T)
    expected = {"append": [(1, 2), (2, 9)], "replace": [(2, 9)]}[mode]
    assert naive(lake, "t", "id, v") == expected
    assert [(row["id"], row["v"]) for row in rows_of(shop, "t")] == expected


def test_a_load_waits_for_its_turn_at_last(
    shop: Pipeline, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some vain attempts it prepares with the others locked out."""
    shop.load([{"id": 1}], **INTO_T)
    other, real, refused = Parquet(str(lake), lock_wait=0.1), destination.ParquetLoad.draft_tables, []

    def draft(load: destination.ParquetLoad) -> destination.Draft:
        if load.commit.load_id == "slow":
            monkeypatch.setattr(destination.ParquetLoad, "draft_tables", real)
            hasty = pipeline("shop", to=shop.to)
            hasty.destination = other
            try:
                hasty.load([{"id": 2}], **INTO_T)
            except DestinationError as bad:
                refused.append(str(bad))
            monkeypatch.setattr(destination.ParquetLoad, "draft_tables", draft)
        return real(load)

    monkeypatch.setattr(destination.ParquetLoad, "draft_tables", draft)
    shop.load([{"id": 9}], load_id="slow", **INTO_T)
    assert len(refused) == 1
    assert "another load holds it" in refused[0]
    assert shop.destination.row_counts("")["t"] == 5  # three of the hasty one, which was not refused at once


def test_a_reader_goes_on_with_the_next_manifest(shop: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.load([{"id": 1}], table="t", mode="replace")
    old = Manifests(str(Path(shop.to.partition(":")[2]) / "_trellis/manifests")).newest()
    shop.load([{"id": 2}], table="t", mode="replace")
    real, stale = Manifests.newest, [old]
    monkeypatch.setattr(Manifests, "newest", lambda self: stale.pop() if stale else real(self))
    assert [row["id"] for row in shop.destination.query("", "t")] == [2]


# --- What goes wrong ---------------------------------------------------------------------------------------


def test_failure_after_files_were_moved(
    shop: Pipeline, lake: Path, rows_of: RowsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.load([{"id": 1, "v": "a"}], load_id="a", **INTO_T)
    before = files_of(lake, ".")

    def full(self: Manifests, manifest: Manifest, scratch: str) -> bool:
        assert len(naive(lake, "t", "id")) == 2
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Manifests, "add", full)
        with pytest.raises(
            DestinationError, match="lake: the disk is full; free some space and load again; nothing"
        ):
            shop.load([{"id": 2, "v": "b"}], load_id="b", **INTO_T)
    assert files_of(lake, ".") == before
    assert naive(lake, "t", "id") == [(1,)]
    shop.load([{"id": 2, "v": "b"}], load_id="b", **INTO_T)
    assert rows_of(shop, "t", "id") == [{"id": 1}, {"id": 2}]


def test_interrupted_after_the_manifest(shop: Pipeline, lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is the manifest: the load is done, and only its clearing up is left to the next one."""
    shop.load([{"id": 1}], table="t", mode="replace")
    with monkeypatch.context() as patched:
        patched.setattr("trellis.destinations.parquet.intent.remove_file", interrupt)
        with pytest.raises(KeyboardInterrupt):
            shop.load([{"id": 2}], table="t", mode="replace", load_id="b")
    assert naive(lake, "t", "id") == [(1,), (2,)]
    assert shop.load([{"id": 2}], table="t", mode="replace", load_id="b").already_loaded
    assert naive(lake, "t", "id") == [(2,)]
    assert list((lake / "_trellis" / "intents").iterdir()) == []


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_leftovers_of_a_dead_load(shop: Pipeline, lake: Path) -> None:
    """Only what a note names is removed: a folder that looks like ours may be someone else's."""
    shop.load([{"id": 1}], load_id="a", **INTO_T)
    for run in ("dead", "foreign"):
        (lake / f"t/run={run}").mkdir()
        pq.write_table(pa.table({"id": [9]}), lake / f"t/run={run}/part-00000.parquet")
    note = lake / "_trellis/intents/dead.json"
    note.write_text(json.dumps(["t/run=dead/part-00000.parquet", "t/run=a/part-00000.parquet"]))
    (lake / "_trellis/staging/dead").mkdir(parents=True)
    shop.load([{"id": 2}], load_id="b", **INTO_T)
    assert note.exists(), "that load may be at work on another machine"
    (lake / "_trellis/staging/dead").rmdir()
    shop.load([{"id": 3}], load_id="c", **INTO_T)
    assert not note.exists()
    assert sorted(path.name for path in (lake / "t").iterdir()) == ["run=a", "run=b", "run=c", "run=foreign"]


def test_damaged_and_newer_manifests(shop: Pipeline, lake: Path) -> None:
    shop.load([{"id": 1}], table="t")
    manifest = lake / "_trellis/manifests" / f"{2:020d}.json"
    manifest.write_text('{"format": 1, "numb')
    with pytest.raises(DestinationError, match="it is damaged"):
        shop.load([{"id": 1}], table="t")
    manifest.write_text('{"format": 99}')
    with pytest.raises(DestinationError, match="update Trellis"):
        shop.load([{"id": 1}], table="t")


def test_missing_file(shop: Pipeline, lake: Path) -> None:
    shop.load([{"id": 1}], table="t")
    (lake / files_of(lake, "t")[0]).unlink()
    with pytest.raises(DestinationError, match="a file of table data is missing"):
        shop.destination.query("", "t")


def test_old_manifests_are_removed(lake: Path) -> None:
    lake.mkdir()
    manifests = Manifests(str(lake / "manifests"))
    for number in range(1, KEEP + 4):
        assert manifests.add(Manifest(number), str(lake))
    os.utime(lake / "manifests" / f"{1:020d}.json", (0, 0))
    os.utime(lake / "manifests" / f"{KEEP + 2:020d}.json", (0, 0))
    manifests.prune()
    kept = sorted(int(path.stem) for path in (lake / "manifests").iterdir())
    assert kept == list(range(2, KEEP + 4))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def noise(n: int) -> str:
    return os.urandom(n).hex()


@pytest.mark.parametrize("kind", ["parquet:{}/lake", "duckdb:{}/shop.duckdb"])
def test_full_disk(tiny_disk: Path, rows_of: RowsOf, kind: str) -> None:
    pipe = pipeline("shop", to=kind.format(tiny_disk))
    pipe.load([{"id": 0, "v": "x"}], **INTO_T)
    failed = 0
    for n in range(1, 30):
        try:
            pipe.load([{"id": n, "v": noise(30_000)}], **INTO_T)
        except DestinationError as bad:
            assert "\n" not in str(bad)
            assert any(words in str(bad).lower() for words in ("full", "no space")), bad
            failed += 1
            if failed == 3:
                break
    assert failed == 3
    rows = rows_of(pipe, "t", "id")
    assert {row["id"] for row in rows} == set(range(len(rows)))


def test_read_only_disk(tiny_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    for kind in ("parquet:{}/lake", "duckdb:{}/shop.duckdb"):
        with pytest.raises(DestinationError, match="the file system is read-only"):
            pipeline("shop", to=kind.format(tiny_disk)).load([{"id": 1}], table="t")


def test_a_folder_that_cannot_be_made_is_named() -> None:
    with pytest.raises(DestinationError) as refused:
        folder.make_folder("/proc/lake/_trellis")
    assert str(refused.value) == (
        "/proc/lake/_trellis: no folder can be made there; name another one; nothing was loaded"
    )


def test_folder_without_rights(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder.os, "access", lambda *_: False)
    with pytest.raises(DestinationError, match="this user may not write there"):
        pipeline("shop", to=f"parquet:{lake}").load([{"id": 1}], table="t")
