"""The example dialect of docs/add-a-dialect.md, installed as a distribution of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/dialect/ledger.py"
RECORDS = [
    {"orderId": 1, "price": 2.5, "lines": [{"sku": "a"}]},
    {"orderId": 2, "price": "n/a", "shipTo": {"city": "Bonn"}},
]

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def ledger(tmp_path: Path) -> Run:
    """The command line in a folder beside which the distribution is installed."""
    metadata = tmp_path / "site/ledger-1.0.dist-info"
    metadata.mkdir(parents=True)
    shutil.copy(EXAMPLE, tmp_path / "site")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ledger\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[trellis.dialects]\nledger = ledger:registration\n")
    (tmp_path / "orders.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    def trellis(*arguments: str, code: int = 0) -> dict[str, Any]:
        completed = subprocess.run(
            [sys.executable, "-m", "trellis.cli", *arguments, "--json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{tmp_path / 'site'}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == code, completed.stdout + completed.stderr
        document: dict[str, Any] = json.loads(completed.stdout) if code == 0 else {"error": completed.stderr}
        return document

    return trellis


def test_it_has_about_sixty_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 66


def test_records_load_by_its_rules(ledger: Run, tmp_path: Path) -> None:
    report = ledger("load", "orders.jsonl", "--to", "duckdb:shop.duckdb", "--dialect", "ledger")
    assert report["dialect"] == "ledger"
    assert report["rows"] == {"in": 2, "loaded": 2, "rejected": 0, "dropped": 0}
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
        rows = database.sql(
            "SELECT order_id, price, lines, price_as_text, ship_to, _ledger_noted_at IS NOT NULL "
            "FROM main.orders ORDER BY order_id"
        ).fetchall()
    assert rows == [
        (1, 2.5, '[{"sku":"a"}]', None, None, True),
        (2, None, None, "n/a", '{"city":"Bonn"}', True),
    ]


def test_what_it_does_not_say_is_answered_by_defaults(ledger: Run, tmp_path: Path) -> None:
    to = ("--to", "duckdb:shop.duckdb", "--dialect", "ledger")
    ledger("load", "orders.jsonl", *to)
    ledger("load", "orders.jsonl", *to)
    assert ledger("load", "orders.jsonl", *to, "--mode", "replace")["rows"]["loaded"] == 2
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
        assert database.sql("SELECT count(*) FROM main.orders").fetchall() == [(2,)]
    columns = ledger("schema", "show", "--at", "duckdb:shop.duckdb")["tables"]["orders"]["columns"]
    assert list(columns) == ["order_id", "price", "lines", "_ledger_noted_at", "price_as_text", "ship_to"]
    refused = ledger("load", "orders.jsonl", *to, "--mode", "merge", code=2)["error"]
    assert "mode merge: table orders has no primary key; declare one in a schema (--schema)" in refused
