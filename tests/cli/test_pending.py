"""Loads that wait beside the destination, on the command line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cli.conftest import Trellis

OLD = (
    "an older version of Trellis stored this pending load as a pickle, which is no longer read; load it with "
    "that version"
)
NEW = (
    "this pending load has format version 2, and this version of Trellis reads versions up to 1; upgrade "
    "Trellis"
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(pickle.dumps("a load"), OLD), (b'{"format": "trellis-package", "version": 2}', NEW)],
    ids=["pickle", "newer"],
)
def test_a_package_of_another_version_is_one_sentence(
    trellis: Trellis, folder: Path, content: bytes, sentence: str
) -> None:
    (folder / "source.py").write_text("import trellis\neggs = trellis.resource([{'id': 1}], name='eggs')\n")
    pending = folder / "farm.duckdb.staging" / "pending"
    pending.mkdir(parents=True)
    (pending / "farm-1.package").write_bytes(content)
    ran = trellis("run", "source.py:eggs", "--to", "duckdb:farm.duckdb")
    assert (ran.code, ran.out) == (3, "")
    assert " ".join(ran.err.split()).removeprefix("error: ") == (
        f"farm.duckdb.staging/pending/farm-1.package: {sentence}, or discard it with `trellis drop "
        "--pending` (in Python: drop_pending())"
    )
    dropped = trellis("drop", "--pending", "--at", "duckdb:farm.duckdb")
    assert (dropped.code, dropped.out) == (0, "1 pending load dropped")
    dropped = trellis("drop", "--pending", "--at", "duckdb:farm.duckdb", "--json")
    assert (dropped.code, dropped.json) == (0, {"dropped_pending": 0})
    assert trellis("run", "source.py:eggs", "--to", "duckdb:farm.duckdb").code == 0
