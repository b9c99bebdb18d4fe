"""`inspect` as a Spark job sees what one process sees, path by path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trellis.engine.input import files
from trellis.generate import generate
from trellis.pipelines.inspect import inspect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("profile", ["shop", "nasty", "github"])
def test_splits_on_two_cores_show_what_one_process_sees(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.setattr(files, "LEAST", 20_000)
    monkeypatch.setattr(files, "MOST", 50_000)
    for name, seed in (("a.jsonl", 1), ("b.jsonl", 2)):
        (tmp_path / name).write_bytes(b"".join(line + b"\n" for line in generate(400, seed, profile)))
    steps: list[tuple[str, int, int | None]] = []
    job = inspect(tmp_path, lambda *step: steps.append(step), engine="spark")
    assert job.to_dict() == inspect(tmp_path, engine="inline").to_dict()
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert [stage for stage, _, _ in steps[:2]] == ["spark", "workers"]
    assert steps[-1] == ("inspect", size, size)


def test_row_groups_of_parquet_are_numbered_through(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LEAST", 1_000)
    monkeypatch.setattr(files, "MOST", 1_000)
    frame = spark.range(5000).selectExpr("id", "nullif(id, 4321) AS gap")
    frame.coalesce(1).write.option("parquet.block.size", "4096").parquet(str(tmp_path / "in"))
    (gap,) = inspect(tmp_path / "in", engine="spark").paths[1:]
    assert [(kind.kind, kind.count, kind.first.line) for kind in gap.kinds] == [
        ("int", 4999, 1),
        ("null", 1, 4322),
    ]
