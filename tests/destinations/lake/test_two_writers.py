"""Loads at the same time whose merges are jobs of Spark: all arrive, and no column is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from destinations.lake.test_alterations import apply, edited
from trellis.destinations.iceberg.session import iceberg_catalog, iceberg_settings
from trellis.destinations.lake.merge import MergeContext, TreeMerge
from trellis.destinations.lake.merge_source import MergeSource
from trellis.destinations.lake.store import TableName, TableStore
from trellis.destinations.row_changes import RowTally
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lake

LOADS = 2
STRATEGIES = ("delete-insert", "upsert", "insert-only", "scd2")
CHILD = """
import json
import sys
from pathlib import Path
from conftest import start_spark
import trellis
folder, url, settings, writer, *modes = sys.argv[1:]
session = start_spark(Path(folder))
for name, value in json.loads(settings).items():
    session.conf.set(name, value)
print("ready", flush=True)
sys.stdin.readline()
for n in range(2):
    rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
    for mode in modes:
        merge = {"mode": "merge", "strategy": mode, "keys": ("id",) if mode != "scd2" else ()}
        options = {"mode": mode} if mode == "append" else merge
        trellis.pipeline("shop", to=url).load(rows, table=mode.replace("-", "_"), **options)
"""


def assert_all_arrived(shop: Pipeline, *modes: str) -> None:
    ids = [f"{writer}{n}" for writer in "ab" for n in range(LOADS)]
    counts = shop.destination.row_counts(shop.dataset)
    for table in (mode.replace("-", "_") for mode in modes):
        rows = shop.destination.query(shop.dataset, table)
        assert sorted(row["id"] for row in rows) == ids, table
        assert {row["id"]: row[row["id"][0]] for row in rows} == {id_: int(id_[1]) for id_ in ids}, table
        assert counts[f"{table}__k"] == len(ids), table
    assert counts["_dlt_loads"] == len(ids) * len(modes)
    history = shop.destination.history(shop.dataset, shop._dialect.metadata.tables())
    versions = [row["version"] for row in history]
    assert versions == sorted({*versions})


def load_in_two_processes(
    folder: Path, url: str, *modes: str, settings: Mapping[str, str] | None = None, **variables: str
) -> None:
    """Each has a Spark of its own, with these settings; both begin at the same moment."""
    package, tests = Path(trellis.__file__).parent.parent, Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{tests}", **variables}
    children = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                CHILD,
                str(folder / writer),
                url,
                json.dumps(settings or {}),
                writer,
                *modes,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "TRELLIS_STAGING": str(folder / f"staging-{writer}")},
        )
        for writer in "ab"
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=1800)
        assert child.returncode == 0, errors[-3000:]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_processes_merge_into_a_lake_by_every_strategy(tmp_path: Path, kind: str) -> None:
    url = f"{kind}:{tmp_path}/lake"
    load_in_two_processes(tmp_path, url, *STRATEGIES)
    assert_all_arrived(trellis.pipeline("shop", to=url), *STRATEGIES)


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_threads_write_into_a_delta_catalog(spark: SparkSession, mode: str) -> None:
    dataset = f"shared_{mode}"
    start, options = Barrier(2), dict[str, Any](mode=mode, keys=("id",) if mode == "merge" else ())

    def load(writer: str) -> None:
        start.wait()
        for n in range(LOADS):
            rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
            trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}").load(rows, table=mode, **options)

    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(load, "ab"))
        assert_all_arrived(trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}"), mode)
    finally:
        spark.sql(f"DROP SCHEMA IF EXISTS spark_catalog.{dataset} CASCADE")


# --- Keys that meet --------------------------------------------------------------------------------------


@pytest.fixture(params=["delta", "iceberg", "spark"])
def url(request: pytest.FixtureRequest, spark: SparkSession, root: Path) -> str:
    """A lake, or a catalog of the session."""
    if request.param != "spark":
        return f"{request.param}:{root}"
    for name, value in iceberg_settings(str(root)).items():
        spark.conf.set(name, value)
    return f"spark:{iceberg_catalog(str(root))}.main"


@contextmanager
def before_merging_into(table: str, work: Callable[[], object]) -> Iterator[None]:
    """Let something happen right before a load that begins inside merges into a table."""
    run_merge, waiting = MergeContext.run_merge, [work]

    def work_and_merge(context: MergeContext, name: str, source: MergeSource) -> RowTally:
        if name == table and waiting:
            waiting.pop()()
        return run_merge(context, name, source)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MergeContext, "run_merge", work_and_merge)
        yield


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def orders(url: str, by: str, *ids: int, strategy: Any = "delete-insert") -> None:
    """Merge orders, each with a line and a tag of this line."""
    rows = [{"id": id_, "by": by, "lines": [{"by": by, "tags": [by]}]} for id_ in ids]
    options: dict[str, Any] = {"mode": "merge", "strategy": strategy, "keys": ("id",)}
    trellis.pipeline("shop", to=url).load(rows, table="orders", load_id=f"load-{by}", **options)


def orders_of(url: str, key: str = "id") -> list[tuple[Any, ...]]:
    """Each order with its line and its tag, also lines and tags without an order."""
    shop = trellis.pipeline("shop", to=url)
    by_parent = {
        name: {row["_dlt_parent_id"]: row for row in shop.destination.query(shop.dataset, name)}
        for name in ("orders__lines", "orders__lines__tags")
    }
    lines, tags = by_parent.values()
    rows = list[tuple[Any, ...]]()
    for order in shop.destination.query(shop.dataset, "orders"):
        line = lines.pop(order["_dlt_id"])
        rows.append((order[key], order["by"], line["by"], tags.pop(line["_dlt_id"])["value"]))
    counts = shop.destination.row_counts(shop.dataset)
    assert (lines, tags) == ({}, {})
    assert {counts[name] for name in by_parent} == {len(rows)}
    return sorted(rows)


def test_merges_of_the_same_keys_leave_nested_rows_of_one(url: str) -> None:
    orders(url, "first", 1, 2)
    with before_merging_into("orders", lambda: orders(url, "second", 2, 3, 4)):
        orders(url, "third", 1, 3)
    third = [(id_, *["third"] * 3) for id_ in (1, 3)]
    assert orders_of(url) == sorted([*third, *((id_, *["second"] * 3) for id_ in (2, 4))])


@pytest.mark.parametrize("table", ["orders", "orders__lines", "orders__lines__tags"])
@pytest.mark.parametrize("strategy", ["delete-insert", "upsert", "insert-only"])
def test_three_merges_of_the_same_keys_leave_nested_rows_of_one(url: str, strategy: str, table: str) -> None:
    """The third one begins when the second is in the middle, and that when the first is."""

    brought = {"zeroth": (1, 7), "first": (1, 2, 3, 5), "second": (1, 2, 4, 5), "third": (1, 2, 3, 6)}

    def merge(by: str) -> None:
        orders(url, by, *brought[by], strategy=strategy)

    def second() -> None:
        with before_merging_into(table, lambda: merge("third")):
            merge("second")

    merge("zeroth")
    with before_merging_into(table, second):
        merge("first")
    commits_root_last = strategy == "delete-insert" or table == "orders"
    met = ("third", "second", "first") if commits_root_last else ("first", "second", "third")
    expected = dict[int, str]()
    for by in ("zeroth", *met):
        for id_ in brought[by]:
            expected[id_] = expected.get(id_, by) if strategy == "insert-only" else by
    assert orders_of(url) == [(id_, *[by] * 3) for id_, by in sorted(expected.items())]


@pytest.mark.parametrize("table", ["orders", "orders__lines__tags"])
@pytest.mark.parametrize("version", [{}, {"row_version_column_name": "version"}], ids=["hash", "column"])
def test_a_version_that_two_loads_bring_at_once_has_the_nested_rows_of_one(
    url: str, version: dict[str, str], table: str
) -> None:
    """So it is where two jobs overlap that each load all rows of their source."""
    disposition = {"disposition": "merge", "strategy": "scd2", **version}

    def load_all(number: int, *orders: tuple[int, str]) -> None:
        rows = [
            {"id": id_, "by": by, "version": f"{id_} {by}", "lines": [{"by": by, "tags": [by]}]}
            for id_, by in orders
        ]
        source = trellis.resource(rows, name="orders", write_disposition=disposition)
        trellis.pipeline("shop", to=url).run(source, load_id=f"load-{number}")

    load_all(0, (1, "old"), (2, "old"))
    with before_merging_into(table, lambda: load_all(1, (1, "old"), (2, "new"), (3, "new"))):
        load_all(2, (1, "old"), (2, "new"), (3, "newer"))
    versions = ((1, "old"), (2, "new"), (2, "old"), (3, "new"), (3, "newer"))
    assert orders_of(url) == [(id_, *[by] * 3) for id_, by in versions]
    shop = trellis.pipeline("shop", to=url)
    rows = shop.destination.query(shop.dataset, "orders")
    active = sorted((row["id"], row["by"]) for row in rows if row["_dlt_valid_to"] is None)
    assert active == [(1, "old"), (2, "new"), (3, "newer")]


@pytest.mark.parametrize("strategy", ["upsert", "insert-only"])
def test_a_merge_that_was_killed_after_its_root_leaves_to_others_what_they_replaced(
    url: str, strategy: str
) -> None:
    orders(url, "first", 1, strategy=strategy)
    with pytest.raises(KeyboardInterrupt), before_merging_into("orders__lines", killed):
        orders(url, "second", 1, 2, 3, strategy=strategy)
    orders(url, "third", 2, strategy=strategy)
    orders(url, "second", 1, 2, 3, strategy=strategy)
    writers = ("second", "third", "second") if strategy == "upsert" else ("first", "second", "second")
    assert orders_of(url) == [(id_, *[by] * 3) for id_, by in enumerate(writers, start=1)]


def test_a_merge_that_was_killed_before_it_deletes_orphans_does_it_then(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders(url, "first", 1)

    def meet() -> None:
        orders(url, "second", 1)
        monkeypatch.setattr(TreeMerge, "_delete_orphans", killed)

    with pytest.raises(KeyboardInterrupt), before_merging_into("orders", meet):
        orders(url, "third", 1)
    monkeypatch.undo()
    orders(url, "third", 1)
    assert orders_of(url) == [(1, "third", "third", "third")]


def test_a_killed_merge_goes_on_where_its_key_got_another_name(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version before it may have the earlier names."""
    orders(url, "first", 1)
    shop = trellis.pipeline("shop", to=url)
    after = edited(
        shop.schema, "orders", "id", number=replace(shop.schema.tables["orders"].columns["id"], name="number")
    )
    apply(shop, after, "orders.id=number")
    monkeypatch.setattr(TreeMerge, "_delete_orphans", killed)
    rows = [{"number": 1, "by": "second", "lines": [{"by": "second", "tags": ["second"]}]}]
    merge: dict[str, Any] = {"table": "orders", "mode": "merge", "keys": ("number",), "load_id": "load"}
    with pytest.raises(KeyboardInterrupt):
        shop.load(rows, **merge)
    monkeypatch.undo()
    shop.load(rows, **merge)
    assert orders_of(url, "number") == [(1, "second", "second", "second")]


def test_a_merge_that_meets_none_commits_once_to_each_table(url: str) -> None:
    orders(url, "first", 1)
    orders(url, "second", 1)
    shop = trellis.pipeline("shop", to=url)
    store: TableStore = shop.destination.store  # type: ignore[attr-defined]
    names = [TableName(shop.dataset, name) for name in ("orders", "orders__lines", "orders__lines__tags")]
    spark, is_delta = store.statements(), url.startswith("delta:")
    history = "DESCRIBE HISTORY {}" if is_delta else "SELECT * FROM {}.snapshots"
    commits = [len(spark.run(history.format(store.sql_name(name)))) for name in names]
    assert commits == [3 if is_delta else 2] * 3
