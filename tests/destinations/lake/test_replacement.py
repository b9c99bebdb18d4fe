"""Spark replaces an Iceberg table by its rows in other types, and nothing is lost of what comes meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from trellis.destinations.iceberg.session import iceberg_catalog, iceberg_settings
from trellis.destinations.lake.replacement import TableReplacement
from trellis.destinations.lake.spark_tables import SparkTables
from trellis.destinations.lake.store import TableAlteration, TableName, TableStore
from trellis.errors import DestinationError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lake

ORDERS = TableName("main", "orders")
TO_TEXT = TableAlteration(types={"id": "STRING"})
WAIT = 120


@pytest.fixture
def shop(root: Path) -> Pipeline:
    """A load without Spark."""
    return trellis.pipeline("shop", to=f"iceberg:{root}")


@pytest.fixture(params=["iceberg", "spark"])
def other(request: pytest.FixtureRequest, spark: SparkSession, root: Path) -> Pipeline:
    """Loads into the same tables, as they are or as those of a catalog that the session has for them."""
    for name, value in iceberg_settings(str(root)).items():
        spark.conf.set(name, value)
    to = f"iceberg:{root}" if request.param == "iceberg" else f"spark:{iceberg_catalog(str(root))}.main"
    return trellis.pipeline("shop", to=to)


@pytest.fixture
def store(other: Pipeline) -> TableStore:
    return store_of(other)


def store_of(lake: Pipeline) -> TableStore:
    store: TableStore = lake.destination.store  # type: ignore[attr-defined]
    return store


@contextmanager
def while_replacing(spark: SparkSession, folder: Path, work: Callable[[], object]) -> Iterator[None]:
    """Let something happen inside when a table is being replaced, once the job that writes it has begun."""
    commit = TableReplacement._commit

    def commit_meanwhile(replacement: TableReplacement, statement: str, labels: Mapping[str, str]) -> int:
        if not statement.startswith("CREATE OR REPLACE"):
            return commit(replacement, statement, labels)
        with while_spark_works(spark, folder, work):
            return commit(replacement, statement, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableReplacement, "_commit", commit_meanwhile)
        yield


@contextmanager
def while_spark_works(spark: SparkSession, folder: Path, work: Callable[[], object]) -> Iterator[None]:
    """Let something happen when the statement inside has begun its job, which ends after that."""
    done, failures = folder / "done", list[BaseException]()
    path, tracker = str(done), spark.sparkContext.statusTracker()

    def wait(_: int) -> None:
        import os
        import time

        while not os.path.exists(path):
            time.sleep(0.02)

    def jobs() -> set[int]:
        return {*tracker.getActiveJobsIds()}

    def wait_for(condition: Callable[[], object]) -> None:
        end = time.monotonic() + WAIT
        while not condition() and time.monotonic() < end:
            time.sleep(0.02)

    def work_meanwhile() -> None:
        try:
            wait_for(lambda: jobs() - before)
            work()
        except BaseException as bad:
            failures.append(bad)
        finally:
            done.touch()

    cores = spark.sparkContext.defaultParallelism
    occupied = threading.Thread(
        target=lambda: spark.sparkContext.parallelize(range(cores), cores).foreach(wait)
    )
    occupied.start()
    wait_for(jobs)
    before = jobs()
    meanwhile = threading.Thread(target=work_meanwhile)
    meanwhile.start()
    try:
        yield
    finally:
        meanwhile.join()
        occupied.join()
        assert not failures, failures


def rows_of(shop: Pipeline, *columns: str) -> list[tuple[Any, ...]]:
    rows = shop.destination.query("main", "orders")
    return sorted(tuple(row.get(column) for column in columns) for row in rows)


def labels_of(spark: SparkSession, root: Path) -> list[str]:
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    labels = spark.sql(f"SELECT summary['trellis.label'] AS label FROM {orders}.snapshots").collect()
    return sorted(row["label"] for row in labels if (row["label"] or "").startswith("trellis-load-"))


def test_rows_that_are_appended_meanwhile_stay(
    spark: SparkSession, shop: Pipeline, store: TableStore, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders", load_id="one")

    def append() -> None:
        shop.load([{"id": 2}], table="orders", load_id="two")
        shop.load([{"id": 3, "late": True}], table="orders", load_id="three")

    with while_replacing(spark, root, append):
        store.alter_table(ORDERS, TO_TEXT)
    assert rows_of(shop, "id", "late") == [("1", None), ("2", None), ("3", True)]
    assert labels_of(spark, root) == ["trellis-load-one", "trellis-load-three", "trellis-load-two"]
    assert shop.load([{"id": 3, "late": True}], table="orders", load_id="three").already_loaded


def test_rows_that_are_replaced_meanwhile_stay_so(
    spark: SparkSession, shop: Pipeline, store: TableStore, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")

    def replace() -> None:
        shop.load([{"id": 2}], table="orders", mode="replace")
        shop.load([{"id": 3}], table="orders", mode="append")

    with while_replacing(spark, root, replace):
        store.alter_table(ORDERS, TO_TEXT)
    assert rows_of(shop, "id") == [("2",), ("3",)]


def test_nothing_is_put_back_where_nothing_came(
    spark: SparkSession, shop: Pipeline, store: TableStore, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders", load_id="one")
    store.alter_table(ORDERS, TO_TEXT)
    assert rows_of(shop, "id") == [("1",)]
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    assert [row["name"] for row in spark.sql(f"SELECT name FROM {orders}.refs").collect()] == ["main"]
    assert spark.sql(f"SELECT * FROM {orders}.snapshots").count() == 2


def test_a_table_without_rows_gets_its_types(shop: Pipeline, store: TableStore) -> None:
    shop.load([{"id": 1}], table="orders")
    shop.load([], table="orders", mode="replace")
    store.alter_table(ORDERS, TO_TEXT)
    shop.load([{"id": 2}], table="orders")
    assert rows_of(shop, "id") == [("2",)]


def test_what_cannot_be_put_back_is_named(
    spark: SparkSession, shop: Pipeline, store: TableStore, root: Path
) -> None:
    shop.load([{"code": "1"}], table="orders")
    numbers = TableAlteration(types={"code": "BIGINT"})
    meanwhile = while_replacing(spark, root, lambda: shop.load([{"code": "x"}], table="orders"))
    with pytest.raises(DestinationError) as refused, meanwhile:
        store.alter_table(ORDERS, numbers)
    message = str(refused.value)
    assert "another writer committed while the rows were written anew, and what it wrote was not" in message
    (lost,) = (root / "main" / "orders" / "metadata").glob("v4.metadata.json")
    assert f"it is in file:{lost}: read it there with Spark's format iceberg, and load it again" in message
    assert sorted(row["code"] for row in spark.read.format("iceberg").load(str(lost)).collect()) == ["1", "x"]


@contextmanager
def killed_when_replaced() -> Iterator[None]:
    """The process that replaces a table inside is killed before it looks for other commits."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TableReplacement, "_restore", killed)
        patch.setattr(TableReplacement, "_drop_branch", killed)
        yield


def test_a_load_after_one_that_was_killed_says_where_rows_are(
    spark: SparkSession, shop: Pipeline, other: Pipeline, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")
    meanwhile = while_replacing(spark, root, lambda: shop.load([{"id": 2}], table="orders"))
    with killed_when_replaced(), meanwhile:
        store_of(other).alter_table(ORDERS, TO_TEXT)
    with pytest.raises(DestinationError, match="has not committed again what other writers") as refused:
        other.load([{"id": "3"}], table="orders")
    message = str(refused.value)
    (lost,) = (root / "main" / "orders" / "metadata").glob("v4.metadata.json")
    assert f"which is in file:{lost}; if no such load is running any more, read it there" in message
    assert sorted(row["id"] for row in spark.read.format("iceberg").load(str(lost)).collect()) == [1, 2]
    spark.sql(message[message.index("ALTER TABLE") :].partition(",")[0])
    other.load([{"id": "2"}, {"id": "3"}], table="orders")
    assert rows_of(shop, "id") == [("1",), ("2",), ("3",)]


def test_a_load_goes_on_after_one_that_was_killed_where_nothing_came(
    spark: SparkSession, shop: Pipeline, other: Pipeline, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")
    with killed_when_replaced():
        store_of(other).alter_table(ORDERS, TO_TEXT)
    other.load([{"id": "2"}], table="orders")
    assert rows_of(shop, "id") == [("1",), ("2",)]
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    assert [row["name"] for row in spark.sql(f"SELECT name FROM {orders}.refs").collect()] == ["main"]


def forget_metadata(spark: SparkSession, root: Path, commits: int, *, delete: bool = False) -> None:
    """Let others commit so often that the log of the table names only the last commits."""
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    spark.sql(
        f"ALTER TABLE {orders} SET TBLPROPERTIES ('write.metadata.previous-versions-max' = '2', "
        f"'write.metadata.delete-after-commit.enabled' = '{str(delete).lower()}')"
    )
    for number in range(commits):
        spark.sql(f"INSERT INTO {orders} (id) VALUES ('other {number}')")
    assert spark.sql(f"SELECT * FROM {orders}.metadata_log_entries").count() == 3


def test_a_killed_load_is_known_after_many_commits(
    spark: SparkSession, shop: Pipeline, other: Pipeline, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")
    meanwhile = while_replacing(spark, root, lambda: shop.load([{"id": 2}], table="orders"))
    with killed_when_replaced(), meanwhile:
        store_of(other).alter_table(ORDERS, TO_TEXT)
    forget_metadata(spark, root, 7)
    with pytest.raises(DestinationError, match=r"which is in file:\S+/v4\.metadata\.json; if no such load"):
        other.load([{"id": "3"}], table="orders")


def test_a_load_goes_on_after_a_killed_one_and_many_commits(
    spark: SparkSession, shop: Pipeline, other: Pipeline, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")
    with killed_when_replaced():
        store_of(other).alter_table(ORDERS, TO_TEXT)
    forget_metadata(spark, root, 3)
    other.load([{"id": "2"}], table="orders")
    assert rows_of(shop, "id") == [("1",), ("2",), ("other 0",), ("other 1",), ("other 2",)]


def test_a_killed_load_whose_metadata_are_gone_is_told(
    spark: SparkSession, shop: Pipeline, other: Pipeline, root: Path
) -> None:
    shop.load([{"id": 1}], table="orders")
    with killed_when_replaced():
        store_of(other).alter_table(ORDERS, TO_TEXT)
    forget_metadata(spark, root, 4, delete=True)
    with pytest.raises(DestinationError, match="the files of metadata from then are gone") as refused:
        other.load([{"id": "2"}], table="orders")
    spark.sql(str(refused.value).rpartition(" and run ")[2])
    other.load([{"id": "2"}], table="orders")
    assert ("2",) in rows_of(shop, "id")


def test_rows_that_were_planned_before_are_planned_again(
    spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else their files would have the earlier types, and Iceberg reads none of the table."""
    partitioned = trellis.pipeline("shop", to=f"iceberg:{root}")
    day = Column("day", "text").with_hints(partition=True)
    partitioned.load([{"id": 1, "day": "a"}], table="orders", columns=[day])
    statement, statements = SparkTables._validated_insert, list[str]()

    def replace_once(tables: SparkTables, name: TableName, *arguments: Any) -> str:
        text = statement(tables, name, *arguments)
        if name == ORDERS:
            statements.append(text)
            if len(statements) == 1:
                store_of(partitioned).alter_table(ORDERS, TO_TEXT)
        return text

    monkeypatch.setattr(SparkTables, "_validated_insert", replace_once)
    partitioned.load([{"id": 2, "day": "b"}], table="orders")
    assert len(statements) == 2
    assert rows_of(partitioned, "id", "day") == [("1", "a"), ("2", "b")]
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    commits = spark.sql(f"SELECT operation FROM {orders}.snapshots ORDER BY committed_at").collect()
    assert commits[-1]["operation"] == "append"


def test_rows_that_others_append_all_the_time_hinder_no_append(
    spark: SparkSession, shop: Pipeline, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.load([{"id": 0}], table="orders")
    other = trellis.pipeline("shop", to=f"spark:{iceberg_catalog(str(root))}.main")
    statement, attempts = SparkTables._validated_insert, list[int]()

    def append_always(tables: SparkTables, name: TableName, *arguments: Any) -> str:
        text = statement(tables, name, *arguments)
        if name == ORDERS:
            attempts.append(arguments[-1])
            shop.load([{"id": len(attempts)}], table="orders")
        return text

    for name, value in iceberg_settings(str(root)).items():
        spark.conf.set(name, value)
    monkeypatch.setattr(SparkTables, "_validated_insert", append_always)
    other.load([{"id": 100}], table="orders")
    assert attempts == [0, 1, 2, 3, 4, 5]
    assert rows_of(shop, "id") == [(0,), (1,), (2,), (3,), (4,), (5,), (6,), (100,)]
