"""Formats that Spark reads: exact values, their places in rejects, and what is said of broken input."""

from __future__ import annotations

import gzip
import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from trellis.cli.app import run
from trellis.engine.input.source_format import FORMATS, SourceFormat
from trellis.errors import UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]


@pytest.fixture
def shop(tmp_path: Path, spark: SparkSession) -> Pipeline:
    return Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="spark")


def rows_of(shop: Pipeline, table: str) -> Rows:
    """The rows of a table as they stand there, without those columns that the dialect adds."""
    return [
        {name: value for name, value in row.items() if not name.startswith("_dlt")}
        for row in shop.destination.query("main", table)
    ]


def rejects_of(shop: Pipeline) -> list[tuple[str, int, str]]:
    rows = shop.destination.query("main", "_trellis_rejects")
    return sorted((row["file"], row["position"], row["text"]) for row in rows)


def counts_of(report: Report) -> tuple[int, int, int]:
    assert report.balanced
    return report.rows.read, report.rows.loaded, report.rows.rejected


# ---- CSV


def test_a_folder_of_csv_loads_without_a_word_about_it(
    tmp_path: Path, shop: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other columns in another file, other orders of columns, quotes, line breaks in cells, empty cells."""
    folder = tmp_path / "orders"
    (folder / "2026 05").mkdir(parents=True)
    (folder / "1.csv").write_text('id,name,note\n1,Ann,"two\nlines"\n2,"","a ""b"""\n3,Zoë,\n')
    (folder / "2.csv").write_text("note,id,name\nx,4,Bob\n")
    (folder / "2026 05" / "3%.csv").write_text("\ufeffid,name,e-mail\r\n5,Cid,c@x.org\r\n")
    (folder / "_SUCCESS").write_text("")
    monkeypatch.chdir(tmp_path)
    report = shop.load("orders", table="orders")
    assert counts_of(report) == (5, 5, 0)
    assert rows_of(shop, "orders") == [
        {"id": "1", "name": "Ann", "note": "two\nlines", "e_mail": None},
        {"id": "2", "name": None, "note": 'a "b"', "e_mail": None},
        {"id": "3", "name": "Zoë", "note": None, "e_mail": None},
        {"id": "4", "name": "Bob", "note": "x", "e_mail": None},
        {"id": "5", "name": "Cid", "note": None, "e_mail": "c@x.org"},
    ]


def test_names_with_dots_and_backticks(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "1.csv").write_text("id,user.name,`q`\n1,Ann,x\n2,Bob\n")
    report = shop.load(str(tmp_path / "1.csv"), table="users")
    assert counts_of(report) == (2, 1, 1)
    assert rows_of(shop, "users") == [{"id": "1", "user_name": "Ann", "_qx": "x"}]


def test_malformed_rows_of_csv_are_rejected_with_file_and_record(tmp_path: Path, shop: Pipeline) -> None:
    one, two = tmp_path / "1.csv", tmp_path / "2.csv"
    one.write_text("id,name\n1,Ann\n2\n3,Bob\n4,x,y\n5,Cid\n")
    two.write_text('id,name\n6,Dan\n7,8,9\n8,"open\n9,Eve\n')
    report = shop.load([str(one), str(two)], table="people")
    assert counts_of(report) == (8, 5, 3)
    assert [row["id"] for row in rows_of(shop, "people")] == ["1", "3", "5", "6", "8"]
    assert rejects_of(shop) == [(str(one), 2, "2"), (str(one), 4, "4,x,y"), (str(two), 2, "7,8,9")]
    assert report.rejects.by_reason == {
        "malformed CSV": 3,
    }


def test_read_options_and_types(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "t.txt").write_text("1;2.5;2026-05-06\nNA;;2026-05-07\n")
    report = shop.load(
        str(tmp_path / "t.txt"),
        table="t",
        format="csv",
        read_options={"header": False, "sep": ";", "inferSchema": True, "nullValue": "NA"},
    )
    assert counts_of(report) == (2, 2, 0)
    columns = report.schema.tables["t"].columns
    types = {name: columns[name].data_type for name in ("_c0", "_c1", "_c2")}
    assert types == {"_c0": "bigint", "_c1": "double", "_c2": "date"}
    assert [row["_c0"] for row in rows_of(shop, "t")] == [1, None]


def test_positions_of_csv_count_through_blocks_and_past_malformed_rows(
    tmp_path: Path, spark: SparkSession, shop: Pipeline
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id,name\n" + "".join(f"{number},x\n" for number in range(1, 2500)) + "oops\n2501,y\n")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "9000")
    try:
        report = shop.load(str(file), table="t", read_options={"multiLine": False})
        assert counts_of(report) == (2501, 2500, 1)
        assert rejects_of(shop) == [(str(file), 2500, "oops")]
        file.write_text(file.read_text().replace("id,name", "id,other"))
        shop.load(
            str(file), table="t", contract={"columns": "discard_value"}, read_options={"multiLine": False}
        )
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    discards = shop.destination.query("main", "_trellis_discards")
    assert sorted(row["position"] for row in discards) == [*range(1, 2500), 2501]
    assert [row["value"] for row in discards if row["position"] == 2501] == ["y"]


def test_a_damaged_csv_file_loads_nothing(tmp_path: Path, shop: Pipeline) -> None:
    data = gzip.compress(b"id\n" + b"".join(b"%d\n" % number for number in range(9999)))
    (tmp_path / "a.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(UsageError, match=r"a\.csv\.gz: cannot be read .*; nothing was loaded"):
        shop.load(str(tmp_path), table="t")
    assert "t" not in shop.destination.row_counts("main")


def test_what_would_lose_rows_of_csv_is_refused(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    with pytest.raises(UsageError, match="mode=DROPMALFORMED would lose rows without a trace; leave it out"):
        shop.load(str(tmp_path), table="t", read_options={"mode": "dropMalformed"})
    counts = counts_of(shop.load(str(tmp_path), table="t", read_options={"mode": "FAILFAST"}))
    assert counts == (1, 1, 0)
    assert rows_of(shop, "t") == [{"id": "1"}]
    (tmp_path / "b.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"holds files of several formats \(csv, others\)"):
        shop.load(str(tmp_path), table="t")
    with pytest.raises(UsageError, match="read options are for formats that Spark reads, not for JSON"):
        shop.load(str(tmp_path / "b.jsonl"), read_options={"sep": ";"})


def test_csv_without_rows_loads_nothing(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "header.csv").write_text("id,name\n")
    assert counts_of(shop.load(str(tmp_path / "header.csv"))) == (0, 0, 0)
    (tmp_path / "empty.csv").write_text("")
    assert counts_of(shop.load(str(tmp_path / "empty.csv"))) == (0, 0, 0)


# ---- XML, ORC, Avro, text


def test_xml_keeps_attributes_and_nesting(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "a.xml").write_text(
        '<rows><row id="1"><a>1.5</a><tag>x</tag><tag>y</tag></row><row id="2"><at><k>v</k></at></row></rows>'
    )
    report = shop.load(str(tmp_path / "a.xml"), table="t", read_options={"rowTag": "row"})
    assert counts_of(report) == (2, 2, 0)
    assert rows_of(shop, "t") == [{"_id": 1, "a": 1.5, "at__k": None}, {"_id": 2, "a": None, "at__k": "v"}]
    assert [row["value"] for row in rows_of(shop, "t__tag")] == ["x", "y"]


def test_broken_xml_loads_nothing(tmp_path: Path, shop: Pipeline) -> None:
    """Spark goes on behind the next start of a row at best: how many rows are lost is not known."""
    (tmp_path / "a.xml").write_text("<rows><row><a>1</a></row><row><a>2</b></row><row><a>3</a></row></rows>")
    with pytest.raises(UsageError, match=r"a\.xml: "):
        shop.load(str(tmp_path / "a.xml"), table="t", read_options={"rowTag": "row"})
    with pytest.raises(UsageError, match=r"a\.xml: Spark cannot read it as xml: `rowTag` option is required"):
        shop.load(str(tmp_path / "a.xml"), table="t")
    assert "t" not in shop.destination.row_counts("main")


def test_orc_keeps_types_and_a_damaged_file_is_named(
    tmp_path: Path, spark: SparkSession, shop: Pipeline
) -> None:
    frame = spark.sql("SELECT 7 AS id, CAST(1.50 AS DECIMAL(9, 2)) AS price, array('a') AS tags")
    frame.coalesce(1).write.orc(str(tmp_path / "raw"))
    report = shop.load(str(tmp_path / "raw"), table="t")
    assert counts_of(report) == (1, 1, 0)
    assert [(row["id"], str(row["price"])) for row in rows_of(shop, "t")] == [(7, "1.50")]
    (file,) = (tmp_path / "raw").glob("*.orc")
    (tmp_path / "raw" / "z.orc").write_bytes(file.read_bytes()[:40])
    (tmp_path / "raw" / ".z.orc.crc").unlink(missing_ok=True)
    with pytest.raises(UsageError, match=r"raw/z\.orc: cannot be read by Spark .*; nothing was loaded"):
        shop.load(str(tmp_path / "raw"), table="other")
    assert "other" not in shop.destination.row_counts("main")


def test_text_is_a_column_of_lines(tmp_path: Path, shop: Pipeline) -> None:
    (tmp_path / "a.log").write_text("GET /\n{x\n")
    assert counts_of(shop.load(str(tmp_path / "a.log"), table="t", format="text")) == (2, 2, 0)
    assert rows_of(shop, "t") == [{"value": "GET /"}, {"value": "{x"}]


# ---- tables


def test_a_table_of_the_catalog(spark: SparkSession, shop: Pipeline) -> None:
    spark.sql("SELECT 1 AS id, 'x' AS name").createOrReplaceTempView("raw_people")
    assert counts_of(shop.load("table:raw_people")) == (1, 1, 0)
    assert counts_of(shop.load("raw_people", table="again", format="table")) == (1, 1, 0)
    assert rows_of(shop, "raw_people") == rows_of(shop, "again") == [{"id": 1, "name": "x"}]
    with pytest.raises(
        UsageError, match=r"table:nobody: Spark cannot read it as table: The table or view `nobody`"
    ):
        shop.load("table:nobody")


def test_jdbc_reads_a_table_or_a_query_and_hides_the_password(
    tmp_path: Path, spark: SparkSession, shop: Pipeline
) -> None:
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    account = {"user": "etl", "password": "s3cret-word"}
    frame = spark.sql("SELECT 1 AS id, 'Ann' AS name UNION ALL SELECT 2, NULL").coalesce(1)
    frame.write.format("jdbc").options(url=url, dbtable="people", **account).save()
    report = shop.load("people", format="jdbc", read_options={"url": url, **account})
    assert counts_of(report) == (2, 2, 0)
    assert rows_of(shop, "people") == [{"id": 1, "name": "Ann"}, {"id": 2, "name": None}]
    query = "SELECT count(*) AS n FROM people"
    shop.load(query, table="counts", format="jdbc", read_options={"url": url, **account})
    assert rows_of(shop, "counts") == [{"n": 2}]
    secret = f"{url};password=s3cret-word"
    with pytest.raises(UsageError, match="people2: Spark cannot read it as jdbc: ") as refused:
        shop.load("people2", format="jdbc", read_options={"url": secret, **account})
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in str(report.to_dict())


def test_a_format_without_its_package_names_the_package(
    tmp_path: Path, shop: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The session of the tests has the packages of all formats that Trellis knows.
    hudi = SourceFormat("hudi", "path", package="org.apache.hudi:hudi-spark{spark_minor}-bundle_2.13:1.1.0")
    monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), "hudi", hudi)
    (tmp_path / "lake").mkdir()
    with pytest.raises(
        UsageError,
        match=r"lake: Spark reads hudi with a package that this session lacks; add it before Spark starts, "
        r"for example in spark-defaults.conf: "
        r"spark.jars.packages org.apache.hudi:hudi-spark4.\d-bundle_2.13:1.1.0",
    ):
        shop.load(str(tmp_path / "lake"), table="t", format="hudi")
    with pytest.raises(UsageError, match="--format parkett: Spark has no such data source; check the name"):
        shop.load(str(tmp_path / "lake"), table="t", format="parkett")


def test_avro_keeps_types(tmp_path: Path, spark: SparkSession, shop: Pipeline) -> None:
    spark.sql("ADD JAR 'ivy://org.apache.spark:spark-avro_2.13:4.1.1?transitive=false'")
    frame = spark.sql("SELECT 7 AS id, CAST(1.50 AS DECIMAL(9, 2)) AS price, named_struct('k', 'v') AS at")
    frame.coalesce(1).write.format("avro").save(str(tmp_path / "raw"))
    assert counts_of(shop.load(str(tmp_path / "raw"), table="t")) == (1, 1, 0)
    assert [(row["id"], str(row["price"]), row["at__k"]) for row in rows_of(shop, "t")] == [(7, "1.50", "v")]
    (file,) = (tmp_path / "raw").glob("*.avro")
    (tmp_path / "raw" / "z.avro").write_bytes(file.read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"raw/z\.avro: cannot be read by Spark .*; nothing was loaded"):
        shop.load(str(tmp_path / "raw"), table="other")


# ---- file systems that only Spark has


@pytest.fixture
def hub(tmp_path: Path, spark: SparkSession) -> str:
    """The URL of the folder on a file system that Spark alone knows: `hub://raw/...`."""
    name = f"hub{secrets.token_hex(4)}"
    spark.conf.set(f"fs.viewfs.mounttable.{name}.link./raw", f"file://{tmp_path}")
    return f"viewfs://{name}/raw"


LINES = [
    b'\xef\xbb\xbf{"id": 1, "v": 1}\r',
    b'{"id": 2, "v": "two", "name": "a\rb"}',
    b"",
    b'{"id": 3, "name": "\xff"}',
    b'{"id": 4, "name": "Zo\xc3\xab", "late": [1]}',
    b"[5]",
]


def test_lines_of_a_foreign_file_system_give_what_local_files_give(
    tmp_path: Path, spark: SparkSession, shop: Pipeline, hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = tmp_path / "in put"
    raw.mkdir()
    (raw / "b.jsonl").write_bytes(b"\n".join(LINES))
    (raw / "c.jsonl").write_bytes(b'{"id": "x"}\n' * 3000 + b"oops\n" + b'{"id": 9}\n')
    (raw / "a.jsonl.gz").write_bytes(gzip.compress(b'{"id": 0}\nnot JSON\n'))
    local = Pipeline("shop", f"duckdb:{tmp_path}/local.duckdb", engine="inline")
    expected = local.load(str(raw), table="t")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "9000")
    try:
        report = shop.load(f"{hub}/in put", table="t")
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert counts_of(report) == counts_of(expected)
    assert report.schema.stored_hash == expected.schema.stored_hash
    assert report.rejects == expected.rejects
    assert sorted(map(str, rows_of(shop, "t"))) == sorted(map(str, rows_of(local, "t")))
    names = [(file.removeprefix(str(tmp_path)), *others) for file, *others in rejects_of(local)]
    assert [(file.removeprefix(hub), *others) for file, *others in rejects_of(shop)] == names


def test_other_formats_of_a_foreign_file_system(tmp_path: Path, shop: Pipeline, hub: str) -> None:
    (tmp_path / "a.csv").write_text("id,name\n1,Ann\n2\n")
    report = shop.load(f"{hub}/a.csv")
    assert counts_of(report) == (2, 1, 1)
    assert rows_of(shop, "a") == [{"id": "1", "name": "Ann"}]
    assert rejects_of(shop) == [(f"{hub}/a.csv", 2, "2")]
    (tmp_path / "b.json").write_text('[\n{"id": 1}\n]\n')
    with pytest.raises(UsageError, match=r"b\.json: is a JSON array, and only JSON lines are read"):
        shop.load(f"{hub}/b.json")
    with pytest.raises(UsageError, match=r"nobody:/x: this Spark has no file system for that scheme"):
        shop.load("nobody:/x")
    with pytest.raises(UsageError, match=r"raw/none: Spark cannot read it as files: Path does not exist"):
        shop.load(f"{hub}/none")


# ---- Kafka


def test_records_of_a_topic_keep_their_offsets(tmp_path: Path, spark: SparkSession, shop: Pipeline) -> None:
    frame = spark.sql(
        """
        SELECT CAST(v AS BINARY) AS value, 'orders' AS topic, p AS partition, CAST(o AS LONG) AS offset
        FROM VALUES ('{"id": 1}', 0, 40), ('no', 0, 43), ('{"id": 2, "new": ["x"]}', 1, 0), ('[]', 1, 7)
        AS t (v, p, o)
        """
    ).repartitionByRange(2, "partition")
    report = shop.load(frame, table="orders", payload="value")
    assert counts_of(report) == (4, 2, 2)
    assert rejects_of(shop) == [("orders-0", 43, "no"), ("orders-1", 7, "[]")]
    late = spark.sql(
        """
        SELECT '{"id": 3, "new_key": 5}' AS value, 'orders' AS topic, 1 AS partition, CAST(90 AS LONG) offset
        """
    )
    shop.load(late, table="orders", payload="value", contract={"columns": "discard_value"})
    (discard,) = shop.destination.query("main", "_trellis_discards")
    assert (discard["file"], discard["position"], discard["value"]) == ("orders-1", 90, "5")


# ---- without Spark


@pytest.mark.parametrize(
    "source, options, what",
    [
        ("a.csv", {}, "the format csv"),
        ("a.txt", {"format": "xml"}, "the format xml"),
        ("people", {"format": "jdbc"}, "the format jdbc"),
        ("table:people", {}, "the format table"),
        ("dbfs:/raw/a.jsonl", {}, "this file system"),
    ],
)
def test_the_inline_engine_says_that_only_spark_reads_it(
    tmp_path: Path, source: str, options: dict[str, str], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "a.txt").write_text("<a/>")
    monkeypatch.chdir(tmp_path)
    inline = Pipeline("shop", "duckdb:shop.duckdb", engine="inline")
    with pytest.raises(UsageError) as refused:
        inline.load(source, table="t", **options)
    assert str(refused.value) == (
        f"{source}: only Spark reads {what}; load it without --engine inline (TRELLIS_ENGINE)"
    )


# ---- the command line


def test_load_plan_and_inspect_take_read_options(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("1; x\n2\n3;\n")
    Path("trellis.yaml").write_text("format: csv\nread_options: {header: false}\nengine: spark\ntable: t\n")

    def command(*arguments: str) -> Any:
        assert run([*arguments, "a.txt", "--read-option", "sep=;", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    expected = {"in": 3, "loaded": 2, "rejected": 1, "dropped": 0}
    assert command("plan")["rows"] == expected
    assert command("load")["rows"] == expected
    seen = command("inspect")
    assert seen["rows"] == {"in": 3, "read": 2, "rejected": 1}
    assert seen["rejects"] == {
        "malformed CSV": {"count": 1, "first": {"file": "a.txt", "line": 2}, "example": "2"}
    }
    assert [(path["path"], path["count"], path["nulls"]) for path in seen["paths"]] == [
        ("_c0", 2, 0),
        ("_c1", 2, 1),
    ]
    assert run(["load", "a.txt", "--read-option", "sep", "--json"]) == 2
    assert "--read-option 'sep': write NAME=VALUE, for example sep=;" in capsys.readouterr().err
