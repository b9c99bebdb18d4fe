"""Where the checkpoint of a stream is by default: a place that outlives the machine's temporary files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.streaming.stream import default_checkpoint


def folder_of(to: str, **options: Any) -> str:
    folder, _, digest = default_checkpoint(Pipeline("shop", to, **options), "orders", "raw").rpartition("-")
    assert len(digest) == 12
    return folder


def test_a_restart_of_the_machine_leaves_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRELLIS_STAGING", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    state = f"{tmp_path}/state/trellis/checkpoints"
    assert folder_of(f"duckdb:{tmp_path}/x.duckdb") == f"{tmp_path}/x.duckdb.staging/checkpoints/shop"
    assert folder_of(f"delta:{tmp_path}/lake") == f"{tmp_path}/lake/_trellis/staging/checkpoints/shop"
    assert folder_of("delta:s3a://acme/lake") == "s3a://acme/lake/_trellis/staging/checkpoints/shop"
    assert folder_of("spark:main.shop") == f"{state}/spark main/shop"
    assert folder_of("postgresql://me@db:5432/shop") == f"{state}/db 5432 shop/shop"


def test_a_folder_that_is_named_has_the_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staging = "s3a://acme/staging"
    assert folder_of(f"duckdb:{tmp_path}/x.duckdb", staging=staging) == f"{staging}/checkpoints/shop"
    monkeypatch.setenv("TRELLIS_STAGING", str(tmp_path))
    assert folder_of("postgresql://me@db:5432/shop") == f"{tmp_path}/db 5432 shop/checkpoints/shop"
