"""Rows wait until there are many, so that files have large row groups; but not more than memory holds."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trellis.engine.staging import stage
from trellis.engine.staging.batches import TableBatch
from trellis.engine.staging.stage import Stage
from trellis.schema.model import Column, Table


def test_large_tables_are_written_before_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "WAITING_BYTES", 10_000)
    monkeypatch.setattr(stage, "WAITING_BYTES_OF_FILE", 0)
    with Stage(str(tmp_path), "task") as staged:
        for _ in range(3):
            for name, text in (("large", "x" * 6_000), ("small", "y")):
                table = Table(name, {"v": Column("v", "text")})
                staged.add(table, TableBatch(name, 1, {"v": pa.array([text])}))
            staged.limit_waiting(6_001)
    groups = {file.table: pq.ParquetFile(file.path).metadata.num_row_groups for file in staged.files}
    assert groups == {"large": 2, "small": 1}
    assert {file.table: file.rows for file in staged.files} == {"large": 3, "small": 3}


def test_an_estimate_that_is_too_high_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "WAITING_BYTES", 10_000)
    with Stage(str(tmp_path), "task") as staged:
        for number in range(3):
            staged.add(
                Table("orders", {"v": Column("v", "text")}),
                TableBatch("orders", 1, {"v": pa.array([f"{number}"])}),
            )
            staged.limit_waiting(100_000_000)
    (file,) = staged.files
    assert pq.ParquetFile(file.path).metadata.num_row_groups == 1
    assert pq.read_table(file.path)["v"].to_pylist() == ["0", "1", "2"]
