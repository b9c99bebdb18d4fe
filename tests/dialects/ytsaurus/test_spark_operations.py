"""Operations leave the same rows and schemas in process and on Spark."""

from __future__ import annotations

import random
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from dialects.ytsaurus.jobs import on_groups
from dialects.ytsaurus.schemas import document
from dialects.ytsaurus.test_laws import TABLES, put, rows_in, schemas
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.schema.document import schema_document
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.jobs.job import Command
from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows, map_rows
from trellis.dialects.ytsaurus.store.operations import OperationSpec, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.rewriting import planning
from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows
from trellis.dialects.ytsaurus.yson.parser import loads

INLINE, SPARK = EngineChoice("inline"), EngineChoice("spark")
FORCED = OperationSpec(force_transform=True)


def test_c84_a_sort_on_spark(spark: SparkSession, store: Store) -> None:
    create(store, "[a, b, c, d]", rows="{a=1;c=2};{a=2;c=1};{a=3};{a=4;c=1}")
    sort(store, [T], T, [SortColumn("c")], engine=SPARK)
    assert (schema_of(store), read(store)) == ("[c^, b, a, d] strong", "{a=3}{c=1;a=2}{c=1;a=4}{c=2;a=1}")


@pytest.mark.parametrize(
    ("type", "values"),
    [
        ("int8", "5;#;-128;0;127;5"),
        ("uint8", "5u;#;255u;0u;128u;127u;5u"),
        ("uint64", "9223372036854775808u;#;18446744073709551615u;0u;9223372036854775807u"),
        ("date", "49672u;0u;#;5u"),
        ("double", "0.;%nan;-0.;#;%inf;-1.5;%-inf;0.;%nan"),
        ("boolean", "%true;#;%false;%true"),
        ("string", r'"\xff";"a\0b";#;"";a;"a\0";"\x7f";ab'),
        ("utf8", 'z;#;"";a;"\xc3\xa9"'),
        ("any", r"a;1;#;2u;0.5;%true;[1]"),
    ],
)
def test_the_same_order_in_process_and_on_spark(
    spark: SparkSession, store: Store, type: str, values: str
) -> None:
    create(store, f"[k:{type}, v]")
    keys = loads(values, yson_type="list_fragment", raw=True)
    write_rows(store, T, [{"k": key, "v": row} for row, key in enumerate(keys)])
    for engine, path in ((INLINE, "//tmp/i"), (SPARK, "//tmp/s")):
        sort(store, [T], path, [SortColumn("k")], engine=engine)
    assert read(store, "//tmp/s") == read(store, "//tmp/i")
    sort(store, [T], "//tmp/s", [SortColumn("k"), SortColumn("v")], engine=SPARK)
    assert read(store, "//tmp/s") == read(store, "//tmp/i")


def test_a_sort_on_spark_is_stable_where_one_key_fills_the_table(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "CHUNK_WEIGHT", 6000)  # so that there are several tasks
    create(store, "[k:uint64, v]")
    numbers = random.Random(1)
    for part in range(4):
        keys = [2**63 + numbers.randrange(9) if numbers.random() < 0.1 else 5 for _ in range(500)]
        write_rows(
            store,
            f"<append=%true>{T}",
            [{"k": key, "v": part * 500 + row} for row, key in enumerate(keys)],
        )
    before = rows_in(store, T)
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    try:
        sort(store, [T], "//tmp/s", [SortColumn("k")], engine=SPARK)
    finally:
        spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")
    assert rows_in(store, "//tmp/s") == sorted(before, key=lambda row: row["k"])
    sizes = [part.rows for part in store.catalog.slices(store.node("//tmp/s").id)]
    assert len(sizes) == 2
    assert max(sizes) < 1200


def test_jobs_on_spark(spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", 1)  # so that there are several tasks
    create(store, "[k:string, v]", rows="{k=a;v=1};{k=b;v=2};{k=a;v=3};{k=c;v=4}")

    def add_up(key: Any, rows: Any) -> Any:
        yield {**key, "sum": sum(row["v"] for row in rows)}

    json = Format("json")
    drop_c, reducer = Command("sed '/\"c\"/d'", json, json), on_groups(add_up)
    for engine, path in ((INLINE, "//tmp/i"), (SPARK, "//tmp/s")):
        map_reduce_rows(store, drop_c, reducer, [T], [path], [SortColumn("k")], engine=engine)
        assert read(store, path) == "{k=a;sum=4}{k=b;sum=2}"
    failing = Command("exit 4", json, json)
    assert code_of(map_rows, store, failing, [T], ["//tmp/i"], SPARK) == (
        1205,
        "the command 'exit 4' ended with code 4: no message",
    )


@pytest.mark.parametrize("name", ["int64", "any"])
def test_c107_a_key_twice_on_spark(spark: SparkSession, store: Store, name: str) -> None:
    create(store, None, "//tmp/w", ";".join(f"{{k={number}}}" for number in [*range(50), 20]))
    store.create("table", T, {"schema": document(f"{'~' if name == 'any' else ''}[k:{name}^]u")})
    for engine in (INLINE, SPARK):
        assert code_of(sort, store, ["//tmp/w"], T, [SortColumn("k")], None, engine) == (
            306,
            "//tmp/t: the key [20;] is that of the row before it, and keys of the table are unique",
        )
    assert read(store) == ""


def test_c81_a_row_that_does_not_fit_on_spark(spark: SparkSession, store: Store) -> None:
    create(store, None, "//tmp/w", "{k=1};{k=2};{k=x};{k=y}")
    create(store, "[k]")
    answer = (307, '//tmp/t: row 2, column "k": expected int64, not string "x" (from //tmp/w)')
    for engine in (INLINE, SPARK):
        assert code_of(sort, store, ["//tmp/w"], T, [SortColumn("k")], None, engine) == answer
        assert code_of(merge, store, ["//tmp/w"], T, "ordered", None, engine) == answer


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(TABLES, min_size=1, max_size=2),
    schemas() | st.none(),
    st.sampled_from(["ordered", "unordered", "sorted", "sort", "remote_copy"]),
    st.booleans(),
)
def test_the_same_rows_in_process_and_on_spark(
    spark: SparkSession, tables: Any, output: Any, operation: Any, alike: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(f"yt:{folder}/s") as store:
        paths = [f"//tmp/i{index}" for index in range(len(tables))]
        for path, table in zip(paths, [tables[0]] * 2 if alike else tables, strict=False):
            put(store, path, table)
        results = []
        for name, engine in (("one", INLINE), ("two", SPARK)):
            target = f"//tmp/{name}"
            store.create("table", target, {} if output is None else {"schema": schema_document(output)})
            try:
                if operation == "sort":
                    sort(store, paths, target, [SortColumn("a")], None, engine)
                elif operation == "remote_copy":
                    remote_copy(store, store, paths[0], target, FORCED, engine)
                else:
                    merge(store, paths, target, operation, FORCED, engine)
            except YtError as error:
                results.append((int(error.code), error.message.replace(target, ""), []))
                continue
            results.append((0, str(store.table(target).schema), rows_in(store, target)))
        assert results[0] == results[1]
