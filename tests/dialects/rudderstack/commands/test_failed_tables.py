"""A table that fails, on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.conftest import Trellis
from dialects.rudderstack.conformance.loading import track
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


def without_times(text: str) -> list[str]:
    """What `trellis loads` printed, without the widths of its columns, and with words for ids and times."""
    text = re.sub(r"\b\d{10}\.\d{6}\b", "ID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    text = re.sub(r"\b\d+\.\d$", "S", text, flags=re.MULTILINE)
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_history_shows_a_failed_a_partly_failed_and_a_good_load(
    trellis: Trellis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RudderTables, "max_columns", lambda self, schema: 20)
    file, wide = tmp_path / "events.jsonl", tmp_path / "wide.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in (*WIDE, *OTHERS)))
    wide.write_text("".join(json.dumps(record) + "\n" for record in WIDE))
    to = f"duckdb:{tmp_path}/x.duckdb"
    load = ("--dialect", "rudderstack", "--to", to)
    assert trellis("load", str(wide), *load, "--option", "skipTracksTable=true").code == 2
    assert trellis("load", str(file), *load, "--option", "skipTracksTable=false").code == 3
    shown = trellis("loads", "--at", to, "--json").json
    assert [outcome["state"] for outcome in shown["loads"]] == ["failed", "partly failed"]
    load_id = shown["loads"][1]["load_id"]
    assert shown["alerts"] == [f"table wide failed in load {load_id}: {TOO_WIDE}"]
    assert {table["name"]: table["state"] for table in shown["loads"][1]["tables"]} == {
        **dict.fromkeys(("tracks", "sale", "pages", "rudder_discards"), "loaded"),
        "wide": "failed",
    }
    retry = ("--only-table", "wide", "--option", "max_properties=5")
    assert trellis("load", str(file), *load, *retry).code == 0
    ran = trellis("loads", "--at", to, "--exit-code")
    assert ran.code == 0
    assert without_times(ran.out) == [
        "Load Started State Rows Seconds Retries",
        "ID TIME loaded 2 of 5 S",
        "ID TIME partly failed 3 of 5 S",
        "ID TIME failed S",
    ]
    ran = trellis("loads", load_id, "--at", to)
    assert without_times(ran.out) == [
        "Load Started State Rows Seconds Retries",
        "ID TIME partly failed 3 of 5 S",
        "",
        "Table Rows State Error",
        "tracks 4 loaded",
        "sale 2 loaded",
        "pages 1 loaded",
        "rudder_discards 1 loaded",
        f"wide 2 failed {TOO_WIDE}",
    ]


def test_a_table_that_comes_close_to_the_most_columns(trellis: Trellis, tmp_path: Path) -> None:
    file, to = tmp_path / "events.jsonl", f"parquet:{tmp_path}/lake"
    file.write_text(json.dumps(track("1", "Wide", **{f"p{number}": number for number in range(9_000)})))
    sentence = "table wide: it has 9,008 columns, and 10,000 is the most"
    assert sentence in trellis("load", str(file), "--dialect", "rudderstack", "--to", to).out
    assert trellis("loads", "--at", to, "--json").json["alerts"] == [sentence]
    assert trellis("loads", "--at", to, "--exit-code").code == 1
