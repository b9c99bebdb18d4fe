"""Events give the same tables inline and on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession

import trellis
from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry, write_run
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.runner import InlineRunner
from trellis.engine.spark.job import SparkRunner

TABLES = {
    "events": "* EXCLUDE (load_tstamp)",
    "org_harbor_vessel_call_1": "*",
    "_trellis_rejects": "* EXCLUDE (rejected_at)",
}


def test_the_same_tables_inline_and_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    versions = ["1-0-0", "1-2-1", "1-1-0", "2-0-0", "1-0-1"]
    lines = [
        enriched_line(number, vessel_call(versions[number % 5], berth=f"B{number % 20:02}" * (number % 6)))
        for number in range(200)
    ]
    run = write_run(tmp_path, lines[:120])
    (run / "part-00001").write_text("".join(f"{line}\n" for line in lines[120:]))
    registry = write_registry(tmp_path)
    rows: dict[str, Any] = {}
    for engine in ("inline", "spark"):
        place = tmp_path / f"{engine}.duckdb"
        pipeline = trellis.pipeline(
            "shop", f"duckdb:{place}", dataset="atomic", dialect="snowplow", engine=engine
        )
        report = pipeline.load(str(run), schema=registry, load_id="one")
        assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (200, 133, 67)
        with duckdb.connect(str(place)) as connection:
            rows[engine] = [
                connection.sql(f"SELECT {names} FROM atomic.{table} ORDER BY ALL").fetchall()
                for table, names in TABLES.items()
            ]
    assert rows["inline"] == rows["spark"]


def test_the_same_files_inline_and_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        enriched_line(number % 90, vessel_call("1-2-1", berth=f"B{number % 7}"), event_fingerprint="f")
        for number in range(100)
    ]
    run = write_run(tmp_path, lines[:60])
    (run / "part-00001").write_text("".join(f"{line}\n" for line in lines[60:]))
    references = RegistryReferences.open(write_registry(tmp_path))
    rows: dict[str, list[str]] = {}
    for name, runner in (("inline", InlineRunner()), ("spark", SparkRunner())):
        out = tmp_path / name
        [report] = Shredder(out, references, runner).shred(str(run))
        assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (100, 90, 10)
        parts = sorted(out.glob(f"{run.name}/vendor=*/**/part-*"))
        rows[name] = sorted(line for part in parts for line in part.read_text().splitlines())
    assert rows["inline"] == rows["spark"]
    assert len(rows["spark"]) == 180


def test_seed_s84_spark_reads_runs_as_one_table_although_columns_were_added(
    spark: SparkSession, tmp_path: Path
) -> None:
    """S-81: by families and as wide rows, where the structs of a column grew."""
    references = RegistryReferences.open(write_registry(tmp_path))
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    later = [enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5))]
    write_run(tmp_path, later, "run=2031-04-05-07-00-00")
    for layout in ("model", "wide"):
        out = tmp_path / layout
        shredder = Shredder(out, references, InlineRunner(), "parquet", settings={"layout": layout})
        list(shredder.shred(str(tmp_path)))
    reader = spark.read.option("mergeSchema", "true")
    family = reader.parquet(f"{tmp_path}/model/run=*/vendor=org.harbor/name=vessel_call/model=1")
    assert sorted((row.berth, row.draught_m) for row in family.collect()) == [("A", None), ("B", 1.5)]
    event = "unstruct_event_org_harbor_vessel_call_1"
    wide = reader.parquet(f"{tmp_path}/wide/run=*/output=good").select(f"{event}.berth", f"{event}.draught_m")
    assert sorted((row.berth, row.draught_m) for row in wide.collect()) == [("A", None), ("B", 1.5)]
