"""Value rules: what a load makes of values that break them, whichever way their records go."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trellis
from trellis.engine.conform.choose import conformer_of
from trellis.engine.conform.outcome import Conformed
from trellis.engine.conform.value_rules import RuleEnforcer
from trellis.engine.input.blocks import Block, Split
from trellis.engine.plan import Plan
from trellis.errors import SchemaError, UsageError
from trellis.evolution.contract import ContractViolation
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column, Table
from trellis.schema.value_rules import RULES

ORDERS = [
    {"id": 1, "qty": 5, "state": "new", "lines": [{"price": 2}, {"price": -4}]},
    {"id": 2, "qty": -3, "state": "paid", "lines": [{"price": 3}]},
    {"id": 3, "qty": None, "state": "lost", "lines": []},
]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text("".join(json.dumps(order) + "\n" for order in ORDERS))
    return trellis.pipeline("shop", "duckdb:shop.duckdb", engine="inline")


def stored(shop: Pipeline, table: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in shop.destination.query("main", table)]


def test_a_dropped_row_takes_along_the_rows_below_it_and_can_be_replayed(shop: Pipeline) -> None:
    rules = {"qty": {"minimum": 0}, "orders__lines.price": {"minimum": 0}}
    report = shop.load("orders.jsonl", "orders", rules=rules, contract={"values": "discard_row"})
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (3, 2, 1)
    assert report.discards.by_reason == {"contract on values (minimum)": 2}
    assert stored(shop, "orders", "id") == [(1,), (3,)]
    assert stored(shop, "orders__lines", "price") == [(2,)]
    places = ("file", "position", "table_name", "column_name", "value", "reason", "row")
    assert stored(shop, "_trellis_discards", *places) == [
        (
            "orders.jsonl", 1, "orders__lines", "price", "-4",
            "contract on values (minimum): discard_row", '{"price":-4}',
        ),
        (
            "orders.jsonl", 2, "orders", "qty", "-3",
            "contract on values (minimum): discard_row", json.dumps(ORDERS[1]),
        ),
    ]  # fmt: skip
    document = shop.schema.with_tables(
        shop.schema.tables["orders"].with_hints(schema_contract={"values": "evolve"})
    )
    shop.load([], "orders", schema=document)
    assert trellis.replay_discards(shop).rows == {"orders": 1}
    assert stored(shop, "orders__lines", "price") == [(2,), (3,)]


def test_freeze_names_file_line_and_rule(shop: Pipeline) -> None:
    rules = {
        "qty": {"minimum": 0, "not_null": True},
        "state": {"accepted_values": ["new", "paid"], "pattern": "^[a-z]+$"},
    }
    with pytest.raises(ContractViolation) as bad:
        shop.load("orders.jsonl", "orders", rules=rules, contract={"values": "freeze"})
    assert str(bad.value).splitlines() == [
        (
            "orders.jsonl:2: shop.orders.qty: the value is below the minimum 0, and the contract has values: "
            "freeze; correct the value, or load with the contract values: evolve"
        ),
        "  orders.jsonl:3: shop.orders.qty: the value is null",
        "  orders.jsonl:3: shop.orders.state: the value is not one of 'new', 'paid'",
    ]
    assert "orders" not in shop.destination.catalog("main")


def test_evolve_loads_and_counts(shop: Pipeline) -> None:
    report = shop.load("orders.jsonl", "orders", rules={"qty": {"maximum": -1}})
    assert report.rows.loaded == 3
    assert report.notes == ("1 record: orders.qty: the value is above the maximum -1",)


def test_a_value_that_a_row_needs_cannot_be_left_out_alone(shop: Pipeline) -> None:
    rules = {"id": {"maximum": 1}, "qty": {"minimum": 0}}
    report = shop.load(
        "orders.jsonl", "orders", keys="id", mode="merge", rules=rules, contract={"values": "discard_value"}
    )
    assert (report.rows.loaded, report.rows.dropped) == (1, 2)
    report = shop.load([{"id": 0, "qty": -1}], "orders")
    assert report.rows.loaded == 1
    assert stored(shop, "orders", "id", "qty") == [(1, 5), (0, None)]


def test_rules_stay_with_their_column(shop: Pipeline) -> None:
    shop.load([{"Qty": 1}], "orders", rules={"Qty": {"maximum": 9}}, contract={"values": "discard_row"})
    assert shop.load([{"Qty": 10}, {"Qty": 9}], "orders").rows.dropped == 1
    assert shop.schema.tables["orders"].columns["qty"].hint(RULES) == {"maximum": 9}


def test_rules_in_the_hints_of_a_resource(shop: Pipeline) -> None:
    columns = {"day": {"data_type": "date", "rules": {"minimum": "2024-01-01"}}}
    rows = [{"day": date(2023, 12, 31)}, {"day": date(2024, 1, 1)}]
    resource = trellis.resource(rows, name="days", columns=columns, schema_contract={"values": "discard_row"})
    assert shop.run(resource).rows.dropped == 1
    assert stored(shop, "days", "day") == [(date(2024, 1, 1),)]


def test_events_lose_the_row_that_breaks_a_rule_and_no_other(tmp_path: Path) -> None:
    events = trellis.pipeline("shop", f"duckdb:{tmp_path}/e.duckdb", dialect="rudderstack", engine="inline")
    records = [
        {
            "type": "track",
            "event": "Order Done",
            "messageId": f"m{number}",
            "properties": {"total": number},
            "originalTimestamp": "2024-01-01T00:00:00Z",
        }
        for number in range(600)
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    rules = {"order_done.total": {"maximum": 595}, "tracks.id": {"pattern": "^m[0-9]*[0-8]$"}}
    contract = {"values": "discard_row"}
    report = events.load(str(tmp_path / "events.jsonl"), rules=rules, contract=contract)
    tables = {table.name: table.rows for table in report.tables}
    assert (tables["tracks"], tables["order_done"]) == (540, 596)
    assert (report.rows.loaded, report.rows.dropped) == (599, 1)  # m599 lost both of its rows


@pytest.mark.parametrize(
    ("column", "rules", "sentence"),
    [
        ({"data_type": "text"}, {"minimum": 1}, "table t, column a: the rule minimum is not for text"),
        ({"data_type": "date"}, {"maximum": "x"}, "table t, column a: 'x' in its rules is no date"),
        ({"data_type": "text"}, {"pattern": "(?=a)"}, "table t, column a: '(?=a)' is not a pattern of RE2"),
        ({"data_type": "bigint"}, {"least": 1}, "column a.x-rules.least: unknown key"),
        ({"data_type": "text"}, {"pattern": "("}, "column a.x-rules.pattern: expected a regular expression"),
    ],
)
def test_rules_that_no_column_can_have(column: Any, rules: Any, sentence: str, shop: Pipeline) -> None:
    with pytest.raises(SchemaError) as bad:
        shop.run([{"a": None}], table_name="t", columns={"a": {**column, "rules": rules}})
    assert sentence in str(bad.value)


@pytest.mark.parametrize(
    ("dialect", "setting", "sentence"),
    [
        ("pinot", "rules", "rules: a table of Pinot has its own from its schema; leave it out"),
        ("pinot", "contract", "a contract: a table of Pinot has its own from its schema; leave it out"),
        ("snowplow", "rules", "rules: tables of Snowplow follow their registry; leave it out"),
        ("snowplow", "contract", "a contract: tables of Snowplow follow their registry; leave it out"),
        ("ytsaurus", "rules", "rules: a table of YTsaurus has its own from its schema; leave it out"),
        (
            "ytsaurus",
            "contract",
            "contract values: a table of YTsaurus has its own from its schema; leave it out",
        ),
    ],
)
def test_dialects_whose_schemas_hold_values_take_no_rules(
    tmp_path: Path, dialect: str, setting: str, sentence: str
) -> None:
    values: dict[str, Any] = {"rules": {"a": {"minimum": 1}}, "contract": {"values": "freeze"}}
    target = trellis.pipeline("rides", f"duckdb:{tmp_path}/r.duckdb", dialect=dialect, engine="inline")
    table = "//home/t" if dialect == "ytsaurus" else None
    with pytest.raises(UsageError) as refused:
        target.load([{"a": 1}], table=table, **{setting: values[setting]})
    assert str(refused.value) == sentence


# --- The exact and the columnar way ----------------------------------------------------------------------

RULES_OF_T: Mapping[str, Mapping[str, Any]] = {
    "n": {"minimum": -2, "maximum": 2},
    "s": {"accepted_values": ["a", "bb"], "pattern": "^[a-z]"},
    "b": {"not_null": True},
}
SOUND: Mapping[str, Callable[[Any], bool]] = {
    "n": lambda value: value is None or -2 <= value <= 2,
    "s": lambda value: value is None or value in ("a", "bb"),
    "b": lambda value: value is not None,
}
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "n": st.none() | st.integers(-4, 4) | st.sampled_from(["1", "-3"]),
        "s": st.none() | st.sampled_from(["a", "bb", "c", "A", ""]),
        "b": st.none() | st.booleans(),
    },
)
ROWS = st.lists(st.tuples(VALUES, st.lists(st.integers(0, 3), max_size=2)), min_size=1, max_size=40)


def planned(tmp_path: Path, mode: str) -> Plan:
    types: Mapping[str, Any] = {"n": "bigint", "s": "text", "b": "bool"}
    columns = {
        name: Column(name, type_, nullable=True).with_hints(**{RULES: RULES_OF_T[name]})
        for name, type_ in types.items()
    }
    pipe = trellis.pipeline("farm", f"duckdb:{tmp_path}/farm.duckdb", engine="inline")
    schema = pipe.schema.with_tables(Table("t", columns).with_hints(schema_contract={"values": mode}))
    record = {"n": 1, "s": "a", "b": True, "k": [1]}
    schema = pipe.load([record], "t", schema=schema, load_id="0").schema
    return Plan(schema, "t", "dlt", "1", str(tmp_path))


def contents(plan: Plan, lines: bytes, fast: bool) -> tuple[Any, ...]:
    split = Split(0, 0, "t.jsonl")
    block = Block(lines, 0, 0)
    conformed: Conformed = conformer_of(plan, fast).block(split, block)
    RuleEnforcer(plan).enforce(split, conformed, block.record_text)
    rows = {
        batch.table: pa.table(batch.columns).select(sorted(batch.columns)).to_pylist()
        for batch in conformed.batches
        if batch.rows
    }
    discards = sorted(map(repr, conformed.discards))
    violations = sorted((v.column, v.reason, v.position, v.count) for v in conformed.violations)
    return rows, discards, violations, conformed.warnings, conformed.counts


def filled(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row.get(name) for name in RULES_OF_T} for row in rows]


@pytest.mark.parametrize("mode", ["evolve", "freeze", "discard_row", "discard_value"])
def test_both_ways_agree(mode: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, mode)

    @given(ROWS)
    def agree(rows: Any) -> None:
        records = [{**values, "k": items} for values, items in rows]
        lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
        exact = contents(plan, lines, fast=False)
        assert contents(plan, lines, fast=True) == exact
        sound = [
            {**r, "n": None if r.get("n") is None else int(r["n"])}
            for r in records
            if all(
                SOUND[name](int(v) if name == "n" and v is not None else v)
                for name, v in ((name, r.get(name)) for name in RULES_OF_T)
            )
        ]
        if mode == "discard_row":
            assert filled(exact[0].get("t", [])) == filled(sound)
            assert len(exact[0].get("t__k", [])) == sum(len(r["k"]) for r in sound)
            assert exact[4].loaded == len(sound) and exact[4].dropped == len(records) - len(sound)

    agree()
