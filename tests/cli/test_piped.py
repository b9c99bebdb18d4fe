"""What goes into a pipe or a file: whole cells, however long, and no blanks at the end of a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

LONG = "key_" + "x" * 120
VALUE = "value " + "y" * 90


@pytest.fixture
def piped(process: Any) -> Any:
    """Output as it is written, to the last blank."""

    def ran(*argv: str) -> list[str]:
        done = process(*argv)
        assert (done.returncode, done.stderr) == (0, "")
        return list(done.stdout.removesuffix("\n").split("\n"))

    return ran


def test_tables_have_whole_cells_and_no_blanks_at_the_end(piped: Any, lines: Any) -> None:
    lines("a.jsonl", json.dumps({"id": 1, LONG: VALUE}))
    lines("b.jsonl", json.dumps({"id": VALUE, LONG: VALUE}))
    load = ("load", "--to", "duckdb:s.duckdb", "--table", "t")
    outputs = {
        "load": piped(*load, "a.jsonl"),
        "discard": piped(*load, "b.jsonl", "--contract", "data_type=discard_value"),
        "show": piped("schema", "show", "--at", "duckdb:s.duckdb"),
        "discards": piped("discards", "list", "--at", "duckdb:s.duckdb"),
        "inspect": piped("inspect", "a.jsonl"),
    }
    blanks = [line for printed in outputs.values() for line in printed if line != line.rstrip()]
    assert blanks == []
    assert outputs["load"][2:4] == [
        "  Table  Rows  New",
        f"  t         1  table, 4 columns: id, {LONG} and 2 more",
    ]
    assert outputs["show"][3:6] == [
        "t  append, contract data_type=discard_value",
        f"  {'Column':<{len(LONG)}}  Type    Hints",
        f"  {'id':<{len(LONG)}}  bigint",
    ]
    reason = "Reason".ljust(len("contract on data_type: discard_value"))
    example = "Example".ljust(len(VALUE) + 2)
    assert outputs["discards"] == [
        f"  Count  Table  Column  {reason}  {example}  Kept in",
        f"      1  t      id      contract on data_type: discard_value  '{VALUE}'  _trellis_discards",
    ]
    assert any(line.startswith(f"  {LONG}  string      1     1  ") for line in outputs["inspect"])


def test_a_width_that_is_asked_for_is_kept(piped: Any, lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines("a.jsonl", json.dumps({"id": 1, LONG: VALUE}))
    monkeypatch.setenv("COLUMNS", "70")
    completed = piped("load", "a.jsonl", "--to", "duckdb:s.duckdb", "--table", "t")
    assert [line for line in completed[2:6] if len(line) > 70 or line != line.rstrip()] == []
    assert "key_xxxxxxxxxxxxxxxxxx....xxxxxxxxxxxxxxxxxxxxxx" in completed[4]
