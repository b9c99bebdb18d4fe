"""A plan tells what the load does on the real tables, and ends as the load does. In every destination."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destinations.conftest import merging
from trellis.cli.app import run
from trellis.errors import ContractError, SchemaError, TrellisError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column, Schema, Table

RowsOf = Callable[..., list[dict[str, Any]]]


def refusal(call: Callable[..., Any], *arguments: Any, **options: Any) -> TrellisError:
    with pytest.raises(TrellisError) as bad:
        call(*arguments, **options)
    return bad.value


def test_a_type_that_the_table_does_not_have(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"id": 1, "qty": 2}], table="orders")
    stored = shop.schema
    retyped = stored.tables["orders"].with_columns(Column("qty", "text"))
    if not shop.destination.abilities.casts:
        assert "table orders, column qty: it is " in str(
            refusal(shop.save_schema, stored.with_tables(retyped))
        )
        return
    shop.save_schema(stored.with_tables(retyped))
    many = [{"id": 2, "qty": "many"}]
    planned, loaded = (refusal(call, many, table="orders") for call in (shop.plan, shop.load))
    assert (type(planned), str(planned)) == (SchemaError, str(loaded))
    assert "table orders, column qty: it is " in str(planned)
    assert rows_of(shop, "orders") == [{"id": 1, "qty": 2}]


def test_a_required_column_without_values(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"id": 1}], table="orders")
    declared = Schema("shop", {"orders": Table("orders", {"v": Column("v", "text", nullable=False)})})
    rows = [{"id": 2, "v": "a"}]
    planned, loaded = (
        refusal(call, rows, table="orders", schema=declared) for call in (shop.plan, shop.load)
    )
    assert str(planned) == str(loaded)
    assert "table orders, column v: it is required (NOT NULL)" in str(planned)
    assert rows_of(shop, "orders") == [{"id": 1}]


@merging
def test_a_key_that_comes_twice(shop: Pipeline) -> None:
    """Also where the destination does not exist yet."""
    options: Any = {"table": "orders", "mode": "merge", "strategy": "upsert", "keys": "id"}
    rows = [{"id": 1, "v": 1}, {"id": 1, "v": 2}]
    planned, loaded = (refusal(call, rows, **options) for call in (shop.plan, shop.load))
    assert (type(planned), str(planned)) == (ContractError, str(loaded))


def test_a_plan_leaves_nothing_behind(shop: Pipeline, tmp_path: Path, rows_of: RowsOf) -> None:
    assert shop.plan([{"id": 1}], table="orders").rows.loaded == 1
    assert shop.destination.catalog(shop.dataset) == {}
    assert not (tmp_path / "shop.duckdb").exists()
    shop.load([{"id": 1}], table="orders")
    before = shop.destination.catalog(shop.dataset)
    assert shop.plan([{"id": 2, "v": "new"}], table="orders", mode="replace").rows.loaded == 1
    assert shop.destination.catalog(shop.dataset) == before
    assert rows_of(shop, "orders") == [{"id": 1}]


def test_the_exit_code_tells_of_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text('{"id": 1}\n')
    command = ["orders.jsonl", "--to", "duckdb:shop.duckdb"]
    assert run(["plan", *command]) == 0
    assert run(["plan", *command, "--exit-code"]) == 1
    assert run(["load", *command]) == 0
    assert run(["plan", *command, "--exit-code"]) == 0


def test_statements_in_a_pipe_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    keys = ", ".join(f'"a_rather_long_name_of_a_column_{number}": {number}' for number in range(40))
    Path("wide.jsonl").write_text(f"{{{keys}}}\n")
    assert run(["plan", "wide.jsonl", "--to", "duckdb:shop.duckdb"]) == 0
    (statement,) = (line for line in capsys.readouterr().out.splitlines() if '"wide" (' in line)
    assert statement.endswith('"_dlt_id" VARCHAR NOT NULL)')
    assert '"a_rather_long_name_of_a_column_39" BIGINT' in statement
