"""The examples for orchestrators: the work of a night, tried again as Airflow and Dagster do."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchestrators"


@pytest.fixture
def nightly() -> Iterator[Any]:
    sys.path.insert(0, str(EXAMPLES))
    yield import_module("nightly")
    sys.path.remove(str(EXAMPLES))
    del sys.modules["nightly"]


@pytest.fixture
def load(nightly: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    monkeypatch.setenv("TRELLIS_ENGINE", "inline")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/a.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    return lambda run: nightly.load_orders(str(tmp_path / "raw"), f"duckdb:{tmp_path}/shop.duckdb", run)


def test_each_night_loads_what_is_new(load: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    assert load("monday") == {
        "load_id": "monday",
        "rows": 2,
        "rejected": 0,
        "changes": ["orders is new, with 3 columns"],
    }
    assert load("monday")["rows"] == 0
    (tmp_path / "raw/b.jsonl").write_text('{"id": 3}\n')
    assert load("tuesday") == {"load_id": "tuesday", "rows": 1, "rejected": 0, "changes": []}


def test_what_would_fail_again_is_given_up(
    load: Callable[[str], dict[str, Any]], nightly: Any, tmp_path: Path
) -> None:
    (tmp_path / "raw/b.jsonl").write_text("<html>\n")
    with pytest.raises(nightly.GiveUp, match="contract: 1 of 3 records rejected"):
        load("monday")


@pytest.mark.parametrize("name", ["airflow_dag.py", "dagster_assets.py"])
def test_the_definitions_call_it(name: str) -> None:
    calls = [
        node for node in ast.walk(ast.parse((EXAMPLES / name).read_text())) if isinstance(node, ast.Call)
    ]
    assert "load_orders" in [ast.unparse(call.func) for call in calls]
