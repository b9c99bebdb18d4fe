"""The same load as a Spark job: the same rows, the same schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spark.test_spark_loads import by_spark, here, write
from trellis.pipelines.pipeline import Pipeline

__all__ = ["by_spark", "here"]


def test_an_authored_schema_shapes_the_same_rows_in_a_spark_job(
    tmp_path: Path, by_spark: None, here: Any
) -> None:
    source, examples = (
        write(tmp_path / "rides.jsonl", 400, "rides"),
        Path(__file__).parents[3] / "examples/pinot",
    )
    settings = {"table_config": examples / "rides-table.json"}
    options = {"schema": examples / "rides-schema.json"}
    spark = Pipeline("rides", f"duckdb:{tmp_path}/spark.duckdb", dialect="pinot", settings=settings)
    report = spark.load(source, **options)
    here()
    local = Pipeline("rides", f"duckdb:{tmp_path}/local.duckdb", dialect="pinot", settings=settings)
    expected = local.load(source, **options)
    assert report.balanced
    assert (report.rows, report.notes) == (expected.rows, expected.notes)
    assert report.schema.stored_hash == expected.schema.stored_hash
    rows = [
        sorted(value.destination.query("main", "rides"), key=lambda row: row["ride_id"])
        for value in (spark, local)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 400
