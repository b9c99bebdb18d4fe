"""Tables in Spark by the conventions of SPYT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from dialects.ytsaurus.test_laws import rows_in
from dialects.ytsaurus.test_tables import T, create, read, schema_of, write
from trellis.dialects.ytsaurus.client import YtClient
from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.schema.document import schema_document
from trellis.dialects.ytsaurus.spark.session import enable_yt
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.types.document import type_document
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    Decimal,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tagged,
    Tuple,
    Type,
    Variant,
)

INT8, UTF8, STAMP = Primitive("int8"), Primitive("utf8"), Primitive("timestamp")
TYPES: dict[str, tuple[Type, str]] = {
    **{f"i{bits}": (Primitive(f"int{bits}"), "-5") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (Primitive(f"uint{bits}"), f"{2**bits - 1}u") for bits in (8, 16, 32, 64)},
    "float": (Primitive("float"), "0.5"),
    "double": (Optional(Primitive("double")), "%nan"),
    "flag": (Primitive("bool"), "%true"),
    "bytes": (Primitive("string"), r'"\xff"'),
    "text": (UTF8, "x"),
    "json": (Primitive("json"), '"[1]"'),
    "uuid": (Primitive("uuid"), '"0123456789abcdef"'),
    "any": (ANY, "{a=[1;2u;0.5;#]}"),
    "nothing": (Primitive("null"), "#"),
    "date": (Primitive("date"), "49672u"),
    "date32": (Primitive("date32"), "-1"),
    "datetime": (Primitive("datetime"), "5u"),
    "stamp": (STAMP, "1700000000000001u"),
    "stamp64": (Primitive("timestamp64"), "-1"),
    "interval": (Primitive("interval"), "-7"),
    "decimal": (Decimal(5, 2), r'"\x80\x00\x04\xd2"'),
    "tagged": (Tagged("t", Optional(INT8)), "1"),
    "list": (List(Optional(STAMP)), "[5u;#]"),
    "struct": (Struct((Member("a", INT8), Member("f", Optional(Primitive("float"))))), "{a=1;f=0.5}"),
    "tuple": (Tuple((INT8, Optional(UTF8))), "[1;x]"),
    "variant": (Variant((Member("a", INT8), Member("b", UTF8)), True), "[b;x]"),
    "numbered": (Variant((INT8, UTF8), False), "[0;5]"),
    "dict": (Dict(UTF8, List(INT8)), "[[x;[1;2]]]"),
    "twice": (Optional(Optional(INT8)), "[#]"),
}


@pytest.fixture
def tables(spark: SparkSession, store: Store, tmp_path: Path) -> Store:
    enable_yt(spark, f"yt:{tmp_path}/store")
    return store


def test_every_type_comes_back(spark: Any, tables: Store) -> None:
    schema = [{"name": name, "type_v3": type_document(type)} for name, (type, _) in TYPES.items()]
    tables.create("table", T, {"schema": schema})
    write(tables, T, "{" + ";".join(f"{name}={value}" for name, (_, value) in TYPES.items()) + "}")
    frame = spark.read.yt(T)
    assert dict(frame.dtypes)["u64"] == "decimal(20,0)"
    assert dict(frame.dtypes)["list"] == "array<timestamp>"
    frame.write.yt("//tmp/copy")
    assert schema_document(tables.table("//tmp/copy").schema) == schema_document(tables.table(T).schema)
    assert repr(rows_in(tables, "//tmp/copy")) == repr(rows_in(tables, T))


def test_rows_of_spark_are_sorted_and_unique(spark: Any, tables: Store) -> None:
    frame = spark.range(50).select((col("id") % 7).alias("k"), col("id").cast("string").alias("v"))
    frame.write.sorted_by("k").optimize_for("scan").yt(T)
    assert schema_of(tables) == "[k^, v:optional<utf8>] strong"
    keys = [row["k"] for row in rows_in(tables, T)]
    assert (keys, len(keys)) == (sorted(keys), 50)
    assert tables.table(T).optimize_for == "scan"
    with pytest.raises(Exception, match=r"the key \[0;\] is that of"):
        frame.write.sorted_by("k", unique_keys=True).yt(T, mode="overwrite")
    spark.createDataFrame([(9, "x")], "k long, v string").write.yt(T, mode="append")
    assert read(tables, f"{T}[9]") == "{k=9;v=x}"


@pytest.mark.parametrize(
    ("change", "is_sorted"),
    [
        (lambda frame: frame.where("v > 2").select((col("v") + 1).alias("v"), "k"), False),
        (lambda frame: frame.withColumn("k", -col("k")), True),
        (lambda frame: frame.unionAll(frame), True),
        (lambda frame: frame.repartition(2, "v"), True),
    ],
    ids=["filter", "another key", "union", "other partitions"],
)
def test_rows_that_come_in_the_order_of_a_table_are_not_sorted(
    spark: Any, tables: Store, change: Any, is_sorted: bool
) -> None:
    create(tables, "[k^, v]", rows="{k=1;v=2};{k=1;v=3}")
    for rows in ("{k=2;v=5};{k=2;v=4}", "{k=3;v=9}"):
        write(tables, f"<append=%true>{T}", rows)
    frame = change(spark.read.yt(T))
    expected = sorted((row["k"], row["v"]) for row in frame.collect())
    spark.sparkContext.setJobGroup(str(change), "")
    frame.write.sorted_by("k").yt("//tmp/copy")
    copy = [(row["k"], row["v"]) for row in rows_in(tables, "//tmp/copy")]
    assert ([key for key, _ in copy], sorted(copy)) == ([key for key, _ in expected], expected)
    assert (count_stages(spark, str(change)) > 1) is is_sorted


def count_stages(spark: Any, group: str) -> int:
    """How many stages the jobs of a group had: more than one where rows were shuffled."""
    tracker = spark.sparkContext.statusTracker()
    return sum(len(tracker.getJobInfo(job).stageIds) for job in tracker.getJobIdsForGroup(group))


def test_c32_c33_computed_columns(spark: Any, tables: Store) -> None:
    create(tables, "[h:uint64^=farm_hash(k) % 5, k:utf8^, v]")
    frame = spark.createDataFrame([(f"k{n}", n) for n in range(9)], "k string, v bigint")
    frame.write.sorted_by("h", "k").yt(T, mode="append")
    rows = rows_in(tables, T)
    assert [(row["h"], row["k"]) for row in rows] == sorted(
        (farm_hash(f"k{n}") % 5, f"k{n}".encode()) for n in range(9)
    )
    assert rows_in(tables, f"{T}[3]") == [row for row in rows if row["h"] == 3]
    one = spark.createDataFrame([("z", 0, 7)], "k string, h int, v bigint")
    create(tables, "[h:uint64^=farm_hash(k), k:utf8^, v]", "//tmp/replaced")
    one.write.yt("//tmp/replaced", mode="append")
    assert rows_in(tables, "//tmp/replaced") == [{"h": farm_hash("z"), "k": b"z", "v": 7}]


def test_modes(spark: Any, tables: Store) -> None:
    frame = spark.createDataFrame([(1,)], "k int")
    frame.write.yt(T)
    frame.write.yt(T, mode="ignore")
    with pytest.raises(Exception, match=r"//tmp/t exists; write with mode append or overwrite"):
        frame.write.yt(T)
    frame.write.yt(T, mode="append")
    frame.write.mode("append").yt(T)
    assert read(tables) == "{k=1}{k=1}{k=1}"
    frame.write.mode("ignore").yt(T)
    writer = frame.write.mode("overwrite")
    writer.sorted_by("k").yt(T)
    writer.sorted_by("k").yt(T)
    assert read(tables) == "{k=1}"
    assert schema_of(tables) == "[k:optional<int32>^] strong"


def test_a_format_without_methods(spark: Any, tables: Store) -> None:
    frame = spark.createDataFrame([(1,)], "k int")
    frame.write.format("yt").mode("append").save(T)
    frame.write.format("yt").option("store", f"yt:{tables.folder}").mode("append").save(T)
    assert spark.read.format("yt").load(T).collect() == [(1,), (1,)]


def test_composite_values_as_any(spark: Any, tables: Store) -> None:
    frame = spark.sql("SELECT 1 AS k, array(1, null) AS l, struct('x' AS a) AS s, map('a', 1) AS m")
    frame.write.option("write_type_v3", "false").yt(T)
    assert schema_of(tables) == "[k:optional<int32>, l:any, s:any, m:any] strong"
    assert read(tables) == "{k=1;l=[1;#;];s={a=x};m=[[a;1;];]}"
    frame.write.yt("//tmp/typed")
    typed = spark.read.option("parsing_type_v3", "false").yt("//tmp/typed")
    assert dict(typed.dtypes) == {"k": "int", "l": "binary", "s": "binary", "m": "binary"}
    typed.write.yt("//tmp/any")
    assert schema_of(tables, "//tmp/any") == schema_of(tables)
    assert spark.read.yt("//tmp/any").collect() == spark.read.yt(T).collect()
    with pytest.raises(Exception, match=r"frame array<int>; write it with the option write_type_v3=false"):
        frame.write.yt(T, mode="append")


def test_columns_ranges_and_hints(spark: Any, tables: Store) -> None:
    create(tables, "~[k^]", rows="{k=1;z=5u};{k=2;z=6u};{k=3}")
    assert spark.read.schema_hint({"z": "uint64"}).yt(f"{T}[2:]").collect() == [(2, 6), (3, None)]
    assert spark.read.yt(T).where("k >= 2 and k < 3").collect() == [(2,)]
    frame = spark.read.format("yt").option("store", f"yt:{tables.folder}").load(f"{T}{{k}}")
    assert frame.orderBy("k").collect() == [(1,), (2,), (3,)]


def test_values_that_do_not_fit(spark: Any, tables: Store) -> None:
    create(tables, "[k:uint8!]")
    for value, message in [("-1", "expected uint8, not int64 -1"), ("null", "null in a required column")]:
        with pytest.raises(Exception, match=f'column "k": {message}'):
            spark.sql(f"SELECT CAST({value} AS SMALLINT) AS k").write.yt(T, mode="append")
    assert read(tables) == ""


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("int64", "5D", 'is optional<int64>, and that of the frame double; cast it to bigint'),
        ("int64", "true", 'is optional<int64>, and that of the frame boolean; cast it to bigint'),
        ("int64", "'5'", 'is optional<int64>, and that of the frame string; cast it to bigint'),
        ("uint64", "1.5BD", r"is optional<uint64>, and that of the frame decimal\(2,1\); cast it to decimal"),
        ("double", "5", 'is optional<double>, and that of the frame int; cast it to double'),
        ("string", "5", 'is optional<string>, and that of the frame int; cast it to binary'),
        ("any", "'5'", 'is optional<yson>, and that of the frame string; cast it to binary'),
        ("datetime", "5", 'is optional<datetime>, and that of the frame int; cast it to timestamp'),
        ("int64", "array(5)", 'is optional<int64>, and that of the frame array<int>; cast it to bigint'),
        ("null", "true", '"v": expected null, not boolean %true'),
        ("uint64", "CAST(-1 AS DECIMAL(20,0))", '"v": expected uint64, not int64 -1'),
        ("float", "1e39D", '"v": 1e[+]39 is out of range of float'),
        ("tz_date", "X'00'", '"v": a tz_date has 4 bytes, not 1'),
        ("json", "'[1,]'", '"v": "\\[1,\\]" is not JSON'),
    ],
)  # fmt: skip
def test_frames_whose_values_a_column_does_not_take(
    spark: Any, tables: Store, column: str, value: str, message: str
) -> None:
    """No value becomes another to fit: those that YTsaurus refuses are refused."""
    create(tables, f"[v:{column}]")
    with pytest.raises(Exception, match=message):
        spark.sql(f"SELECT {value} AS v").write.yt(T, mode="append")
    assert read(tables) == ""


@pytest.mark.parametrize(
    ("column", "value", "row"),
    [
        ("int64", "CAST(5 AS DECIMAL(20,0))", "{v=5}"),
        ("uint8", "5L", "{v=5u}"),
        ("double", "CAST(0.5 AS FLOAT)", "{v=0.5}"),
        ("float", "double('inf')", "{v=%inf}"),
        ("string", "'a'", "{v=a}"),
        ("utf8", "X'61'", "{v=a}"),
        ("date", "DATE'1970-01-03'", "{v=2u}"),
        ("timestamp", "5L", "{v=5u}"),
        ("null", "CAST(NULL AS BOOLEAN)", "{}"),
        ("any", "NULL", "{}"),
    ],
)
def test_frames_whose_values_a_column_takes(
    spark: Any, tables: Store, column: str, value: str, row: str
) -> None:
    create(tables, f"[v:{column}]")
    spark.sql(f"SELECT {value} AS v").write.yt(T, mode="append")
    assert read(tables) == row


def test_a_hint_that_values_do_not_fit(spark: Any, tables: Store) -> None:
    with pytest.raises(Exception, match='"v" of //tmp/t is optional<uint64>, and that of the frame string'):
        spark.sql("SELECT '5' AS v").write.schema_hint({"v": "uint64"}).yt(T)
    assert tables.find(T) is None


def test_strings_and_values_of_the_type_any(spark: Any, tables: Store) -> None:
    """A string is a value of the type any, and by a hint the other way round; bytes alone are YSON."""
    rows = '{k=#};{k="1"};{k="x y"}'
    create(tables, "[k:any^]", rows=rows)
    hinted = spark.read.schema_hint({"k": "string"}).yt(T)
    for path, schema in (("//tmp/any", "[k:any^]"), ("//tmp/string", "[k:string^]")):
        create(tables, schema, path)
        hinted.write.sorted_by("k").yt(path, mode="append")
        assert rows_in(tables, path) == [{}, {"k": b"1"}, {"k": b"x y"}]
    with pytest.raises(Exception, match='"k" of //tmp/string is optional<string>, and that of the frame any'):
        spark.read.yt(T).write.sorted_by("k").yt("//tmp/string", mode="append")
    create(tables, "[k:any]", "//tmp/bytes")
    spark.sql("SELECT CAST('[1;x]' AS BINARY) AS k").write.yt("//tmp/bytes", mode="append")
    assert read(tables, "//tmp/bytes") == "{k=[1;x;]}"


def test_frames_in_a_transaction(spark: Any, tables: Store, tmp_path: Path) -> None:
    create(tables, "[k, v]", rows="{k=1;v=1}")
    with YtClient(f"yt:{tmp_path}/store") as client:
        with client.Transaction() as transaction:
            frame = spark.createDataFrame([(3, 1), (2, 2)], "k bigint, v bigint")
            frame.write.transaction(transaction.transaction_id).sorted_by("k").yt("//tmp/new")
            frame.write.format("yt").mode("append").option("transaction", transaction.transaction_id).option(
                "store", f"yt:{tmp_path}/store"
            ).save(T)
            inside = spark.read.transaction(transaction.transaction_id).yt("//tmp/new")
            assert [tuple(row) for row in inside.collect()] == [(2, 2), (3, 1)]
            assert (read(tables), tables.find("//tmp/new")) == ("{k=1;v=1}", None)
        assert read(tables) == "{k=1;v=1}{k=3;v=1}{k=2;v=2}"
        assert read(tables, "//tmp/new") == "{k=2;v=2}{k=3;v=1}"
    with pytest.raises(Exception, match="there is no transaction 1-2-3-4"):
        spark.read.transaction("1-2-3-4").yt(T).collect()
