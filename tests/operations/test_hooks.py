"""Hooks and logs of loads: who is called with what, and what becomes of an exception."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.errors import ContractError, UsageError
from trellis.pipelines.operations import hooks
from trellis.pipelines.pipeline import Pipeline, pipeline

SRC = Path(trellis.__file__).parents[1]
Calls = list[tuple[str, Any]]
NAMES = ("before_load", "after_load", "on_drift", "on_reject")


@pytest.fixture
def shop(tmp_path: Path) -> Pipeline:
    return pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")


@pytest.fixture
def calls() -> Iterator[Calls]:
    """What the four hooks were called with, by name."""
    events: list[tuple[str, Any]] = []
    functions: dict[str, Callable[[Any], object]] = {
        name: lambda event, name=name: events.append((name, event)) for name in NAMES
    }
    for name, function in functions.items():
        getattr(hooks, name)(function)
    yield events
    for name, function in functions.items():
        getattr(hooks, name).remove(function)


def test_a_load_calls_its_hooks_in_order(
    shop: Pipeline, calls: list[tuple[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "orders.jsonl"
    path.write_text('{"id": 1}\nno json\n')
    report = shop.load(str(path))
    assert [name for name, _ in calls] == ["before_load", "on_drift", "on_reject", "after_load"]
    started, drift, reject, finished = (event for _, event in calls)
    assert (started.pipeline, started.dataset, started.dialect) == ("shop", "main", "dlt")
    assert (started.destination, started.sources) == (shop.destination.url, (str(path),))
    assert drift.report is reject.report is finished.report is report
    assert (finished.load, finished.load_id, finished.error) == (started, report.load_id, None)
    calls.clear()
    shop.load([{"id": 2}], table="orders")
    assert [name for name, _ in calls] == ["before_load", "after_load"]


def test_a_load_that_fails_is_told_with_its_error(shop: Pipeline, calls: Calls) -> None:
    shop.load([{"id": 1}], table="orders")
    calls.clear()
    with pytest.raises(ContractError):
        shop.load([{"id": 1, "new": 1}], table="orders", contract="freeze")
    (_, started), (name, finished) = calls
    assert (name, finished.load, finished.report) == ("after_load", started, None)
    assert isinstance(finished.error, ContractError)


def test_a_load_that_was_committed_before_is_no_drift(shop: Pipeline, calls: Calls) -> None:
    for _ in range(2):
        calls.clear()
        shop.load([{"id": 1}], table="orders", load_id="first")
    assert [name for name, _ in calls] == ["before_load", "after_load"]
    assert calls[-1][1].report.already_loaded


def test_before_load_can_stop_a_load(shop: Pipeline) -> None:
    @hooks.before_load
    def refuse(event: hooks.LoadStarted) -> None:
        raise UsageError(f"no loads into {event.dataset} before noon")

    try:
        with pytest.raises(UsageError, match="no loads into main before noon"):
            shop.load([{"id": 1}], table="orders")
    finally:
        hooks.before_load.remove(refuse)
    assert shop.destination.row_counts("main") == {}


def test_what_another_hook_raises_is_a_warning(shop: Pipeline) -> None:
    @hooks.after_load
    def break_down(event: hooks.LoadFinished) -> None:
        raise ValueError("no mail server")

    try:
        with pytest.warns(UserWarning, match=r"hook after_load: .*break_down failed: ValueError\('no mail"):
            assert shop.load([{"id": 1}], table="orders").rows.loaded == 1
    finally:
        hooks.after_load.remove(break_down)


def test_hooks_of_commands_are_named_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "my_hooks.py").write_text(
        "from trellis import hooks\n\n\n"
        "def register():\n"
        "    hooks.after_load(lambda finished: print('hook:', finished.report.rows.loaded))\n"
    )
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n')

    def load(names: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "trellis", "load", "a.jsonl", "--engine", "inline"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SRC), "TRELLIS_HOOKS": names},
        )

    assert "hook: 1" in load("my_hooks:register").stdout
    failed = load("no_hooks")
    assert failed.returncode == 2
    assert failed.stderr.startswith(
        "error: hook no_hooks: it cannot be imported (No module named 'no_hooks')"
    )


def test_loads_are_lines_of_a_log_with_fields(
    shop: Pipeline, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO, "trellis.load")
    shop.load([{"id": 1}], table="orders", load_id="first")
    with pytest.raises(ContractError):
        shop.load([{"id": "x"}], table="orders", contract="freeze", load_id="second")
    where = f"{shop.destination.url}, dataset main"
    balance = "rows in 1 = loaded 1 + rejected 0 + dropped 0"
    started, loaded, _, failed = caplog.records
    assert [record.getMessage() for record in (started, loaded)] == [
        f"load into {where} started",
        f"load first into {where}: {balance}",
    ]
    assert (failed.levelname, failed.getMessage().startswith(f"load into {where} failed: ")) == (
        "ERROR",
        True,
    )
    fields = vars(loaded)["load"]
    assert (fields["state"], fields["load_id"], fields["pipeline"]) == ("loaded", "first", "shop")
    assert fields["rows"] == {"in": 1, "loaded": 1, "rejected": 0, "dropped": 0}
    fields = vars(failed)["load"]
    assert (fields["state"], fields["load_id"], fields["code"], fields["retryable"]) == (
        "failed", "second", "contract", False
    )  # fmt: skip
