"""DataFrames as records: every way in gives the tables that the same file gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trellis.errors import ContractError, UsageError
from trellis.generate import generate
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATE = [b'{"id": 1, "v": 1}'] * 700 + [b'{"id": 2, "v": "two", "late": {"k": [1, 2]}}', b"[1]", b"not JSON"]


def rows_of(shop: Pipeline, *without: str) -> dict[str, list[str]]:
    """The rows of all tables that have some, without ids, sorted."""
    counts = shop.destination.row_counts("main")
    ours = ("_dlt", "_trellis_schema_changes")
    tables = [name for name, rows in counts.items() if rows and not name.startswith(ours)]
    hidden = {"_dlt_id", "_dlt_parent_id", "_dlt_root_id", "_dlt_load_id", "load_id", "file", *without}
    return {
        table: sorted(
            str({k: v for k, v in row.items() if k not in hidden and not k.endswith("_at")})
            for row in shop.destination.query("main", table)
        )
        for table in tables
    }


def loaded(tmp_path: Path, name: str, source: Any, **options: Any) -> tuple[Pipeline, Report]:
    shop = Pipeline("shop", f"duckdb:{tmp_path}/{name}.duckdb")
    return shop, shop.load(source, table="events", **options)


def frame_of(spark: SparkSession, lines: list[bytes], partitions: int, type_: str = "binary") -> DataFrame:
    """The lines in their order, in so many partitions."""
    rows = [(number, bytearray(line)) for number, line in enumerate(lines)]
    frame = spark.createDataFrame(rows, "number long, payload binary").repartitionByRange(
        partitions, "number"
    )
    ordered = frame.sortWithinPartitions("number")
    return ordered.select(ordered["payload"].cast(type_).alias("payload"), "number")


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("lines", [list(generate(400, seed=3)), LATE], ids=["shop", "late"])
def test_a_payload_column_gives_what_a_file_gives(
    tmp_path: Path, spark: SparkSession, lines: list[bytes], partitions: int
) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    file, expected = loaded(tmp_path, "file", str(tmp_path / "x.jsonl"))
    frame, report = loaded(tmp_path, "frame", frame_of(spark, lines, partitions), payload="payload")
    assert report.balanced
    assert (report.rows, report.rejects, report.discards) == (
        expected.rows,
        expected.rejects,
        expected.discards,
    )
    assert report.schema.stored_hash == expected.schema.stored_hash
    assert rows_of(frame) == rows_of(file)


def test_a_payload_may_be_text_or_variant_or_missing(tmp_path: Path, spark: SparkSession) -> None:
    lines = [b'{"a": 1,\n "b": {"c": "x"}}', b'{"a": 2}']
    shop, report = loaded(tmp_path, "text", frame_of(spark, lines, 1, "string"), payload="payload")
    expected = {"events": ["{'a': 1, 'b__c': 'x'}", "{'a': 2, 'b__c': None}"]}
    assert rows_of(shop) == expected
    variant = frame_of(spark, lines, 1, "string").selectExpr("parse_json(payload) AS payload")
    assert rows_of(loaded(tmp_path, "variant", variant, payload="payload")[0]) == expected
    missing = spark.sql("SELECT CAST(NULL AS STRING) AS payload UNION ALL SELECT '{\"a\": 1}'").coalesce(1)
    _, report = loaded(tmp_path, "missing", missing, payload="payload")
    assert (report.rows.read, report.rows.loaded) == (2, 1)
    assert report.rejects.by_reason == {"a record must be a JSON object, this line is null": 1}


def test_a_frame_is_computed_once(tmp_path: Path, spark: SparkSession) -> None:
    """Rows that wait for a column are not computed again: they would be others."""
    frame = spark.range(0, 4000, 1, 2).selectExpr(
        "id", "uuid() AS token", "IF(id = 3999, to_json(map('late', uuid())), '{}') AS extra"
    )
    payload = frame.selectExpr(
        "concat('{\"id\":', id, ',\"token\":\"', token, '\",', substr(extra, 2)) AS payload"
    )
    payload = payload.selectExpr("replace(payload, ',}', '}') AS payload")
    shop, report = loaded(tmp_path, "once", payload, payload="payload")
    assert (report.rows.read, report.rows.loaded) == (4000, 4000)
    rows = shop.destination.query("main", "events")
    assert len({row["id"] for row in rows}) == 4000
    assert sum(row["late"] is not None for row in rows) == 1


def test_typed_rows_that_drift_between_partitions_load_once(tmp_path: Path, spark: SparkSession) -> None:
    place = "named_struct('n', id, 'tags', IF(id > 900, array(1, 2), NULL))"
    frame = spark.sql(f"SELECT id, {place} AS place FROM range(0, 1000, 1, 3)")
    shop, report = loaded(tmp_path, "typed", frame)
    assert (report.rows.read, report.rows.loaded) == (1000, 1000)
    assert shop.destination.row_counts("main")["events__place__tags"] == 198


def test_rows_that_break_a_value_rule_are_left_out(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.sql("SELECT id, id - 1 AS qty, array(id) AS l FROM range(0, 3, 1, 1)")
    rules = {"qty": {"minimum": 0}}
    shop, report = loaded(tmp_path, "rules", frame, rules=rules, contract={"values": "discard_row"})
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (3, 2, 1)
    assert shop.destination.row_counts("main")["events__l"] == 2
    (discard,) = shop.destination.query("main", "_trellis_discards")
    assert (discard["position"], discard["row"]) == (1, '{"id":0,"qty":-1,"l":[0]}')


def test_columns_with_dots(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "Ann", (2,))], "id long, `user.name` string, pos struct<`x.y`: long>")
    shop, report = loaded(tmp_path, "dots", frame)
    assert (report.rows.loaded, rows_of(shop, "load_id")["events"]) == (
        1, ["{'id': 1, 'user_name': 'Ann', 'pos__x_y': 2}"]
    )  # fmt: skip


def test_what_payload_cannot_name_is_said(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"no column 'body' for payload=; it has 'id'"):
        loaded(tmp_path, "x", spark.range(3), payload="body")
    with pytest.raises(UsageError, match=r"column id is long, payload= takes JSON in a text"):
        loaded(tmp_path, "x", spark.range(3), payload="id")
    with pytest.raises(UsageError, match="payload= names a column of a Spark DataFrame"):
        loaded(tmp_path, "x", [{"a": 1}], payload="a")
    with pytest.raises(ContractError, match=r"s holds a interval, which no data type takes"):
        loaded(tmp_path, "x", spark.sql("SELECT named_struct('v', make_interval(1)) AS s"))


def test_values_of_variant_inside_of_others_are_json(tmp_path: Path, spark: SparkSession) -> None:
    values = """(1, '{"a": [1, {"b": null}]}'), (2, '5'), (3, '"x"'), (4, 'null'), (5, NULL)"""
    v = "parse_json(v)"
    columns = (
        f"n, named_struct('at', DATE'2026-01-02', 'the.v', {v}) AS s, array(named_struct('v', {v})) AS l, "
        f"map('k', {v}) AS m, CAST(NULL AS STRUCT<v: VARIANT>) AS nothing"
    )
    frame = spark.sql(f"SELECT {columns} FROM VALUES {values} t(n, v)")
    shop, report = loaded(tmp_path, "inside", frame.coalesce(1))
    events, items = (report.schema.tables[name].columns for name in ("events", "events__l"))
    assert (events["s__at"].data_type, events["s__the_v"].data_type) == ("date", "json")
    assert (items["v"].data_type, events["m"].data_type) == ("json", "json")
    assert not [name for name in (*events, *items) if "__v_" in name]
    rows = sorted(shop.destination.query("main", "events"), key=lambda row: row["n"])
    texts = ['{"a":[1,{"b":null}]}', "5", '"x"', None, None]
    assert [row["s__the_v"] for row in rows] == texts
    assert [row["m"] for row in rows] == [
        '{"k":{"a":[1,{"b":null}]}}',
        '{"k":5}',
        '{"k":"x"}',
        '{"k":null}',
        '{"k":null}',
    ]
    assert sorted(str(row["v"]) for row in shop.destination.query("main", "events__l")) == sorted(
        map(str, texts)
    )


def test_columns_of_variant_and_maps_are_json(tmp_path: Path, spark: SparkSession) -> None:
    values = """('{"a": [1, {"b": null}]}'), ('5'), ('null'), (NULL)"""
    columns = "parse_json(v) AS `the v`, map('env', 'dev') AS labels, array(1) AS l"
    frame = spark.sql(f"SELECT {columns} FROM VALUES {values} t(v)")
    shop, report = loaded(tmp_path, "variant", frame.coalesce(1))
    types = {column.name: column.data_type for column in report.schema.tables["events"].columns.values()}
    assert (types["the_v"], types["labels"]) == ("json", "json")
    rows = [(row["the_v"], row["labels"]) for row in shop.destination.query("main", "events")]
    labels = '{"env":"dev"}'
    assert sorted(rows, key=str) == [
        ("5", labels),
        ('{"a":[1,{"b":null}]}', labels),
        (None, labels),
        (None, labels),
    ]
    assert shop.destination.row_counts("main")["events__l"] == 4
