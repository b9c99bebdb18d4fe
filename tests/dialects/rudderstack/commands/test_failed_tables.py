"""A table that fails, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Trellis
from dialects.rudderstack.conformance.test_partial_loads import OTHERS, TOO_WIDE, WIDE
from trellis.dialects.rudderstack.tables import RudderTables


def test_the_report_and_the_exit_code_say_so(
    trellis: Trellis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RudderTables, "max_columns", lambda self, schema: 20)
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in (*WIDE, *OTHERS)))
    arguments = ("load", str(file), "--dialect", "rudderstack", "--to", f"duckdb:{tmp_path}/x.duckdb")
    ran = trellis(*arguments)
    assert ran.code == 3
    assert f"1 table failed; the others are not affected\n  2 rows: {TOO_WIDE}\n" in ran.out
    assert "rows in 5 = loaded 3 + rejected 0 + dropped 0 + failed 2" in ran.out
    ran = trellis(*arguments, "--json")
    assert (ran.code, ran.json["rows"]["failed"]) == (3, 2)
    assert ran.json["failures"] == [{"table": "wide", "rows": 2, "error": TOO_WIDE}]
    ran = trellis(*arguments, "--only-table", "wide", "--option", "max_properties=5")
    assert (ran.code, "failed" in ran.out) == (0, False)
