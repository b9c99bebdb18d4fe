"""The examples for orchestrators: the work of a night, tried again as Airflow and Dagster do."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchestrators"
DEFINITIONS = ("airflow_dag", "dagster_assets")


@pytest.fixture
def nightly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of the examples, for a folder with two orders and a new DuckDB file."""
    monkeypatch.setenv("TRELLIS_ENGINE", "inline")
    monkeypatch.setenv("ORDERS_FOLDER", str(tmp_path / "raw"))
    monkeypatch.setenv("ORDERS_TO", f"duckdb:{tmp_path}/shop.duckdb")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/a.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    monkeypatch.syspath_prepend(EXAMPLES)
    yield import_module("nightly")
    for name in ("nightly", *DEFINITIONS):
        sys.modules.pop(name, None)


@pytest.fixture
def load(nightly: Any) -> Callable[[str], dict[str, Any]]:
    return lambda run: nightly.load_orders(nightly.FOLDER, nightly.DESTINATION, run)


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


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_definitions_call_it(name: str) -> None:
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert "load_orders" in [ast.unparse(call.func) for call in calls]


# No orchestrator is a dependency of the tests, as their dependencies do not go with ours. Where one is
# installed, its definition is run.

if find_spec("dagster") is not None:

    def test_dagster_materializes_the_asset(nightly: Any, tmp_path: Path) -> None:
        from dagster import materialize

        orders = import_module("dagster_assets").orders
        result = materialize([orders])
        (event,) = result.get_asset_materialization_events()
        metadata = event.materialization.metadata
        assert (result.success, metadata["rows"].value) == (True, 2)
        assert metadata["load_id"].value == result.run_id
        (tmp_path / "raw/b.jsonl").write_text("<html>\n")
        failed = materialize([orders], raise_on_error=False)
        assert "contract: 1 of 1 records rejected" in str(
            failed.get_step_failure_events()[0].step_failure_data
        )


if find_spec("airflow") is not None:

    def test_airflow_runs_the_dag(nightly: Any) -> None:
        run = import_module("airflow_dag").shop().test()
        (task,) = run.get_task_instances()
        assert (run.state, task.state, task.xcom_pull(task_ids="orders")["rows"]) == ("success", "success", 2)
