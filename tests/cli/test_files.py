"""`trellis load --new-only` and `trellis files`, as a user sees them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOAD = ("load", "raw", "--table", "orders", "--new-only", "--engine", "inline")


def test_what_is_loaded_and_what_is_new(trellis: Callable[..., Any], folder: Path) -> None:
    (folder / "raw").mkdir()
    (folder / "raw/a.jsonl").write_text('{"id": 1}\n')
    assert trellis(*LOAD).code == 0
    (folder / "raw/b.jsonl").write_text('{"id": 2}\n')
    (folder / "raw/a.jsonl").write_text('{"id": 1, "note": "late"}\n')
    listed = trellis("files", "raw", "--table", "orders", "--at", "duckdb:trellis.duckdb")
    assert re.sub(r"\d{4}-\S+ \S+", "TIME", listed.out).splitlines() == [
        "  File         Bytes  State    Loaded (UTC)",
        "  raw/a.jsonl     26  changed  TIME",
        "  raw/b.jsonl     10  new",
    ]
    again = trellis(*LOAD)
    assert "1 of 2 files are new" in again.out
    assert "1 file changed after the load" in again.out
    recorded = trellis("files", "--at", "duckdb:trellis.duckdb", "--json").json["files"]
    assert [(file["path"], file["size"], file["table"]) for file in recorded] == [
        (str(folder / "raw/a.jsonl"), 10, "orders"),
        (str(folder / "raw/b.jsonl"), 10, "orders"),
    ]
    shown = trellis("files", "--at", "duckdb:trellis.duckdb", "--limit", "1").out.splitlines()
    assert shown[0].split() == ["File", "Bytes", "Table", "Loaded", "(UTC)", "Load"]
    assert shown[1].split()[1:3] == ["10", "orders"]
    assert shown[2] == "  and 1 file more; --limit shows more"


def test_nothing_new_is_no_failure(trellis: Callable[..., Any], folder: Path) -> None:
    (folder / "raw").mkdir()
    empty = trellis(*LOAD)
    assert (empty.code, empty.out.strip()) == (0, "no files there yet; nothing was loaded")
    (folder / "raw/a.jsonl").write_text('{"id": 1}\n')
    trellis(*LOAD)
    again = trellis(*LOAD, "--json")
    assert again.code == 0
    assert (again.json["rows"]["in"], again.json["already_loaded"]) == (0, True)


def test_files_of_a_destination_without_a_record(trellis: Callable[..., Any]) -> None:
    shown = trellis("files", "--at", "duckdb:shop.duckdb")
    assert shown.out.strip() == "no files recorded; trellis load --new-only records them"
    missing = trellis("files")
    assert (missing.code, missing.err.strip()) == (
        2,
        "error: missing option --to: name the destination, such as --to duckdb:shop.duckdb",
    )
