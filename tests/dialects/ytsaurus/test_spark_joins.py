"""Joins of sorted tables in Spark: the rows of `join`, without its shuffle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dialects.ytsaurus.test_tables import create, write
from trellis.dialects.ytsaurus.spark import enable_yt, merge_join
from trellis.dialects.ytsaurus.store.rewriting import planning
from trellis.dialects.ytsaurus.store.store import Store

A, B = "//tmp/a", "//tmp/b"


@pytest.fixture
def tables(spark: SparkSession, store: Store, tmp_path: Path) -> Store:
    enable_yt(spark, f"yt:{tmp_path}/store")
    create(store, "[k:string^, n:uint8^, a, x:any]", A)
    create(store, "[k:string^, n:uint8^, d:double, b:utf8]", B)
    for rows in ("{k=a;n=1;a=1;x=[1]};{k=b;a=2};{k=b;n=1;a=3}", "{k=b;n=1;a=4};{k=d;n=2;a=5};{k=d;n=3;a=6}"):
        write(store, f"<append=%true>{A}", rows)
    for rows in ("{k=#;b=null};{k=a;b=x};{k=b;n=1;d=0.5;b=y}", "{k=b;n=1;b=z};{k=d;n=2}"):
        write(store, f"<append=%true>{B}", rows)
    return store


def plan_of(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def rows_of(frame: Any) -> list[str]:
    return sorted(map(repr, frame.collect()))


@pytest.mark.parametrize("on", ["k", ["k", "n"]], ids=["one", "two"])
def test_tables_in_order_are_joined_without_a_shuffle(
    spark: Any, tables: Store, monkeypatch: pytest.MonkeyPatch, on: Any
) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", 20)
    left, right = spark.read.yt(A), spark.read.yt(B)
    if on == "k":
        left, right = spark.read.yt(f"{A}{{k,a,x}}"), spark.read.yt(f"{B}{{k,d,b}}")
    merged, joined = merge_join(left, right, on), left.join(right, on)
    assert (merged.columns, dict(merged.dtypes)) == (joined.columns, dict(joined.dtypes))
    assert rows_of(merged) == rows_of(joined)
    assert len(rows_of(merged)) == (9 if on == "k" else 5)
    assert "Exchange" not in plan_of(merged)
    assert "Exchange" in plan_of(joined)
    assert merged.where("a > 4").count() == joined.where("a > 4").count()


def test_other_frames_are_joined_by_spark(spark: Any, tables: Store) -> None:
    create(tables, "[k:string, c]", "//tmp/unsorted", "{k=b;c=1};{k=a;c=2}")
    create(tables, "[k:double^, c]", "//tmp/doubles", "{k=-0.;c=1};{k=0.;c=2};{k=%nan;c=3}")
    create(tables, "[k:int16^, c]", "//tmp/signed", "{k=1;c=1}")
    create(tables, "[k:uint8^, e]", "//tmp/unsigned", "{k=1u;e=1}")
    for name in ("c", "e"):
        list_type = {"type_name": "list", "item": "int8"}
        columns = [
            {"name": "k", "type_v3": list_type, "sort_order": "ascending"},
            {"name": name, "type": "int64"},
        ]
        tables.create("table", f"//tmp/lists_{name}", {"schema": columns})
        write(tables, f"//tmp/lists_{name}", f"{{k=[1];{name}=1}};{{k=[2];{name}=2}}")
    left = spark.read.yt(f"{A}{{k,a}}")
    doubles, other = spark.read.yt("//tmp/doubles"), spark.read.yt("//tmp/doubles").toDF("k", "e")
    for a, b in (
        (left, spark.read.yt("//tmp/unsorted")),
        (left.where("a > 2"), spark.read.yt(f"{B}{{k,b}}")),
        (left, spark.createDataFrame([(bytearray(b"b"), 1)], "k binary, e int")),
        (doubles, other),
        (spark.read.yt("//tmp/doubles"), spark.read.yt("//tmp/doubles{k}")),
        (spark.read.yt("//tmp/signed"), spark.read.yt("//tmp/unsigned")),
        (spark.read.yt("//tmp/lists_c"), spark.read.yt("//tmp/lists_e")),
    ):
        merged, joined = merge_join(a, b, "k"), a.join(b, "k")
        assert rows_of(merged) == rows_of(joined)
        assert "Exchange" in plan_of(merged)
    hinted = [spark.read.schema_hint({"n": "uint64"}).yt(path) for path in (A, B)]
    merged = merge_join(*hinted, ["k", "n"])
    assert ("Exchange" in plan_of(merged), merged.count()) == (True, 5)


def test_joins_in_a_transaction(spark: Any, tables: Store) -> None:
    with tables.session("test") as inside:
        write(inside, f"<append=%true>{A}", "{k=d;n=9;a=9}")
        write(inside, f"<append=%true>{B}", "{k=d;n=9;b=new}")
        for reader in (
            spark.read.transaction(inside.lineage[0]),
            spark.read.option("transaction", inside.lineage[0]),
            spark.read.options(transaction=inside.lineage[0]),
        ):
            merged = merge_join(reader.yt(A), reader.yt(B), ["k", "n"])
            assert merged.where("n = 9").count() == 1
    assert merge_join(spark.read.yt(A), spark.read.yt(B), ["k", "n"]).where("n = 9").count() == 0


def test_columns_that_are_not_there(spark: Any, tables: Store) -> None:
    with pytest.raises(Exception, match="zz"):
        merge_join(spark.read.yt(A), spark.read.yt(B), "zz")
