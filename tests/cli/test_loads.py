"""`trellis loads`: the history of a dataset knows the loads that failed, too, wherever they were to go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trellis as front
from cli.conftest import Trellis
from trellis.errors import ContractError, DestinationError
from trellis.pipelines.history import HISTORY

UNREACHABLE = "postgresql://nobody@127.0.0.1:1/shop"


@pytest.fixture(autouse=True)
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HISTORY, str(tmp_path / "history"))
    return tmp_path / "history"


@pytest.mark.parametrize("to", ["duckdb:shop.duckdb", "parquet:lake"])
def test_a_good_load_and_a_failed_one(trellis: Trellis, folder: Path, to: str) -> None:
    (folder / "good.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    (folder / "bad.jsonl").write_text('{"id": 1, "new": 5}\n')
    assert trellis("load", "good.jsonl", "--to", to, "--table", "t", "--load-id", "one").code == 0
    frozen = ("--table", "t", "--load-id", "two", "--contract", "freeze")
    assert trellis("load", "bad.jsonl", "--to", to, *frozen).code == 1
    good, bad = trellis("loads", "--at", to, "--json").json["loads"]
    assert (good["load_id"], good["state"], good["error"]) == ("one", "loaded", "")
    assert good["rows"] == {"in": 2, "loaded": 2, "rejected": 0, "dropped": 0}
    assert good["tables"] == [{"name": "t", "rows": 2, "state": "loaded", "error": ""}]
    assert good["seconds"]["all"] > 0
    assert (bad["load_id"], bad["state"], bad["tables"]) == ("two", "failed", [])
    assert "new" in bad["error"]
    ran = trellis("loads", "--at", to)
    assert re.search(r"one +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +loaded +2 of 2 ", ran.out)
    assert re.search(r"two +\S+ +failed ", ran.out)
    assert f"Needs attention\n  load two failed: {bad['error']}" in ran.out


def test_a_load_that_did_not_reach_its_destination(trellis: Trellis, folder: Path) -> None:
    (folder / "good.jsonl").write_text('{"id": 1}\n')
    assert trellis("load", "good.jsonl", "--to", UNREACHABLE).code == 3
    (outcome,) = trellis("loads", "--at", UNREACHABLE, "--json").json["loads"]
    assert outcome["state"] == "failed"
    assert outcome["error"].startswith("postgresql://nobody@127.0.0.1:1/shop: ")


def test_what_needs_attention_ends_with_a_good_load(trellis: Trellis, folder: Path) -> None:
    shop = front.pipeline("shop", "duckdb:shop.duckdb")
    shop.load([{"id": 1}], "t")
    for _ in range(2):
        with pytest.raises(ContractError):
            shop.load([{"id": "x", "new": 1}], "t", contract="freeze", load_id="two")
    assert trellis("loads", "--at", "duckdb:shop.duckdb", "--exit-code").code == 1
    shop.load([{"id": 2}], "t", contract="evolve", load_id="two")
    ran = trellis("loads", "--at", "duckdb:shop.duckdb", "--exit-code")
    assert (ran.code, "Needs attention" in ran.out) == (0, False)
    assert [(o.load_id == "two", o.state, o.retries) for o in shop.loads()] == [
        (False, "loaded", 0),
        (True, "failed", 0),
        (True, "failed", 1),
        (True, "loaded", 2),
    ]
    assert trellis("loads", "two", "--at", "duckdb:shop.duckdb", "--json").json["loads"][-1]["retries"] == 2


def test_a_load_that_is_there_already_and_a_plan_are_no_loads(folder: Path) -> None:
    shop = front.pipeline("shop", "duckdb:shop.duckdb")
    shop.plan([{"id": 1}], "t")
    for _ in range(2):
        shop.load([{"id": 1}], "t", load_id="one")
    assert [outcome.load_id for outcome in shop.loads()] == ["one"]


def test_runs_of_sources_are_loads(folder: Path) -> None:
    shop = front.pipeline("shop", "duckdb:shop.duckdb")
    shop.run([{"id": 1}], table_name="t")

    def broken() -> object:
        yield {"id": 2}
        raise RuntimeError("the API is down")

    with pytest.raises(Exception, match="the API is down"):
        shop.run(front.resource(broken, name="t"))
    states = [(outcome.state, "the API is down" in outcome.error) for outcome in shop.loads()]
    assert states == [("loaded", False), ("failed", True)]


def test_a_history_that_cannot_be_written_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv(HISTORY, str(folder / "file" / "below"))
    with pytest.warns(UserWarning, match="the load is not in the history, which cannot be written"):
        front.pipeline("shop", "duckdb:shop.duckdb").load([{"id": 1}], "t")


def test_there_is_nothing_to_show(trellis: Trellis, folder: Path) -> None:
    ran = trellis("loads", "--at", "duckdb:none.duckdb")
    assert (ran.code, ran.out) == (0, "no loads recorded; each machine records the loads that it starts")
    ran = trellis("loads", "--at", "duckdb:none.duckdb", "7")
    assert (ran.code, ran.err) == (2, "error: no load '7'")
    with pytest.raises(DestinationError):
        front.pipeline("shop", UNREACHABLE).load([{"id": 1}], "t")
