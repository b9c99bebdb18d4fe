"""How many records may be rejected: a file without any record does not pass for a load."""

from __future__ import annotations

from pathlib import Path

import pytest

import trellis
from trellis.cli.app import run
from trellis.errors import ContractError, UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline

PAGE = "<!DOCTYPE html>\n<html>503</html>\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.chdir(tmp_path)
    Path("page.jsonl").write_text(PAGE)
    Path("orders.jsonl").write_text('{"id": 1}\n{"id": 2}\nnone\n{"id": 3}\n')
    return pipeline("shop", "duckdb:shop.duckdb", engine="inline")


def test_a_file_without_a_record_is_refused(shop: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["page.jsonl", "--to", "duckdb:shop.duckdb", "--table", "orders"]
    assert [run(["plan", *command]), run(["load", *command])] == [1, 1]
    printed = capsys.readouterr()
    assert printed.out == ""
    sentence, first, second = printed.err.splitlines()[:3]
    assert sentence == (
        "error: 2 of 2 records rejected (2 not JSON), and fewer than all may be; nothing was loaded. Correct "
        "the input, or allow more with --max-rejected (max_rejected=)."
    )
    assert first == "  page.jsonl:1: not JSON: expecting value at column 1: '<!DOCTYPE html>'"
    assert second == "  page.jsonl:2: not JSON: expecting value at column 1: '<html>503</html>'"
    assert shop.schema.stored_hash is None


def test_all_may_be_rejected_if_that_is_said(shop: Pipeline) -> None:
    assert shop.load("page.jsonl", table="orders", max_rejected="100%").rows.rejected == 2
    assert shop.load(["page.jsonl", "orders.jsonl"], table="orders").rows.rejected == 3


@pytest.mark.parametrize(("limit", "refused"), [(0, True), (1, False), ("24.9%", True), ("25%", False)])
def test_a_limit_is_a_number_or_a_share(shop: Pipeline, limit: int | str, refused: bool) -> None:
    if refused:
        with pytest.raises(ContractError, match="1 of 4 records rejected"):
            shop.load("orders.jsonl", max_rejected=limit)
        assert shop.schema.stored_hash is None
    else:
        assert shop.load("orders.jsonl", max_rejected=limit).rows.loaded == 3


def test_the_limit_may_stand_in_the_configuration(shop: Pipeline) -> None:
    Path("trellis.yaml").write_text("to: duckdb:shop.duckdb\nmax_rejected: 0\n")
    assert run(["load", "orders.jsonl"]) == 1
    assert run(["load", "orders.jsonl", "--max-rejected", "30%"]) == 0


@pytest.mark.parametrize("limit", ["all", "-1", "101%", "5 %", True, ""])
def test_a_limit_that_is_neither_is_refused(shop: Pipeline, limit: str) -> None:
    with pytest.raises(UsageError) as bad:
        shop.load("orders.jsonl", max_rejected=limit)
    assert str(bad.value) == f"max_rejected takes a number of records or a share such as 5%, not {limit!r}"


def test_a_source_has_the_same_limit(shop: Pipeline) -> None:
    with pytest.raises(ContractError, match="2 of 2 records rejected"):
        shop.run(trellis.files("page.jsonl"), table_name="orders")
    assert shop.run(trellis.files("page.jsonl"), table_name="orders", max_rejected=2).rows.rejected == 2
