"""The same load as a Spark job: the same rows, the same schema, the same sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trellis.engine.input.blocks import SPLIT
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner
from trellis.engine.spark.job import SparkRunner
from trellis.errors import ContractError, UsageError
from trellis.generate import generate
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(path: Path, rows: int, profile: str = "shop", seed: int = 1) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in generate(rows, seed=seed, profile=profile)))
    return str(path)


def counts(shop: Pipeline) -> dict[str, int]:
    return {
        name: rows for name, rows in shop.destination.row_counts("main").items() if name != "_dlt_version"
    }


@pytest.fixture
def by_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files go through Spark as well, in splits of 40 kB."""
    monkeypatch.setattr(
        "trellis.pipelines.records.FileRecords",
        lambda files, *_: FileRecords(files, SparkRunner(), split_size=40_000),
    )


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda: monkeypatch.setattr(
        "trellis.pipelines.records.FileRecords",
        lambda files, *_: FileRecords(files, InlineRunner(), split_size=SPLIT),
    )


@pytest.mark.parametrize("profile", ["shop", "nasty"])
def test_a_spark_job_loads_what_this_process_loads(
    tmp_path: Path, by_spark: None, here: Any, profile: str
) -> None:
    source = write(tmp_path / "x.jsonl", 1500, profile)
    spark = Pipeline("shop", f"duckdb:{tmp_path}/spark.duckdb")
    report = spark.load(source, table="events")
    here()
    local = Pipeline("shop", f"duckdb:{tmp_path}/local.duckdb")
    expected = local.load(source, table="events")
    assert report.balanced
    assert (report.rows, report.rejects, report.discards) == (
        expected.rows,
        expected.rejects,
        expected.discards,
    )
    assert report.schema.stored_hash == expected.schema.stored_hash
    assert counts(spark) == counts(local)
    for lost in ("_trellis_rejects", "_trellis_discards"):
        seen = [
            sorted((row["position"], row["reason"]) for row in shop.destination.query("main", lost))
            for shop in (spark, local)
        ]
        assert seen[0] == seen[1], lost


def test_progress_reaches_the_size_of_the_input(tmp_path: Path, by_spark: None) -> None:
    source = write(tmp_path / "x.jsonl", 1500)
    progress: list[tuple[str, int, int | None]] = []
    Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", tell=lambda *step: progress.append(step)).load(source)
    stage, done, total = progress[-1]
    assert (stage, done, total) == ("load", Path(source).stat().st_size, Path(source).stat().st_size)


def test_an_error_inside_a_task_reads_as_outside(tmp_path: Path, by_spark: None) -> None:
    (tmp_path / "x.jsonl").write_text('{"id":1}\n{"id":null}\n')
    with pytest.raises(ContractError, match=r"x\.jsonl:2: shop\.t\.id: id is null"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb").load(
            str(tmp_path / "x.jsonl"), table="t", mode="merge", keys=("id",)
        )


def test_a_dataframe_loads_with_its_types(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT id, cast(id AS string) AS name, cast(id AS decimal(30,12)) AS price, "
        "named_struct('city', 'X', 'tags', array(1, 2)) AS place, timestamp '2024-05-06 07:08:09' AS at "
        "FROM range(1000)"
    )
    shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb")
    report = shop.load(frame, table="orders")
    assert (report.rows.read, report.rows.loaded) == (1000, 1000)
    assert {t.name: t.rows for t in report.tables} == {"orders": 1000, "orders__place__tags": 2000}
    types = {
        c.name: (c.data_type, c.precision, c.scale) for c in shop.schema.tables["orders"].columns.values()
    }
    assert types["price"] == ("decimal", 30, 12)
    assert types["at"] == ("timestamp", None, None)
    assert types["place__city"] == ("text", None, None)


def test_parquet_files_are_read_by_row_groups(tmp_path: Path, spark: SparkSession, by_spark: None) -> None:
    spark.range(5000).selectExpr("id", "id % 7 AS seven").write.parquet(str(tmp_path / "in"))
    shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb")
    assert shop.load(str(tmp_path / "in"), table="t").rows.loaded == 5000


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "trellis.cli", *arguments, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_one_core_two_cores_one_file_fifty_files_give_one_hash(tmp_path: Path, spark: SparkSession) -> None:
    lines = list(generate(3000, seed=9, profile="shop"))
    (tmp_path / "one").mkdir()
    (tmp_path / "fifty").mkdir()
    (tmp_path / "one" / "x.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    for number in range(50):
        part = b"\n".join(lines[number * 60 : number * 60 + 60]) + b"\n"
        (tmp_path / "fifty" / f"{number:02d}.jsonl").write_bytes(part)
    reports = [
        run(
            tmp_path,
            "load",
            source,
            "--table",
            "events",
            "--to",
            f"duckdb:{number}.duckdb",
            "--name",
            "shop",
            *more,
        )
        for number, (source, more) in enumerate(
            [
                ("one", ["--master", "local[1]"]),
                ("one", ["--master", "local[2]"]),
                ("fifty", ["--master", "local[2]"]),
                ("fifty", []),
            ]
        )
    ]
    assert len({report["schema"]["version_hash"] for report in reports}) == 1
    assert {report["rows"]["loaded"] for report in reports} == {reports[0]["rows"]["loaded"]}


def test_a_spark_that_cannot_start_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    done = subprocess.run(
        [sys.executable, "-m", "trellis.cli", "load", "x.jsonl", "--master", "nowhere://1"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "error: Spark did not start at nowhere://1" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_such_file_is_told_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", master="local[2]").load(str(tmp_path / "no.jsonl"))
