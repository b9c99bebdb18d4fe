"""`trellis load` and `trellis plan`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ORDERS = (
    '{"id":1,"user":{"name":"Ann"},"items":[{"sku":"a","qty":1},{"sku":"b","qty":2}]}',
    '{"id":2,"user":{"name":"Bo"},"items":[]}',
)
LATER = (
    '{"id":"x3","user":{"name":"Cy","tier":"gold"},"items":[{"sku":"c","qty":1}],"coupon":"TEA"}',
    '{"id":4,"user":{"name":"Di"},"User":{"name":"Dido"}}',
    '{"id":5,',
)


@pytest.fixture
def loaded(trellis, lines):
    lines("orders-2024-01.jsonl", *ORDERS)
    lines("orders-2024-02.jsonl", *LATER)
    assert trellis("load", "orders-2024-01.jsonl", "--to", "duckdb:shop.duckdb").code == 0
    return trellis


def without_names(text: str) -> str:
    text = re.sub(r"hash \S+", "hash HASH", text)
    return re.sub(r"(load|plan) \d+\.\d+ in [\d.]+ s", r"\1 ID in T s", text)


def test_a_first_load_is_told_in_one_screen(trellis, lines):
    lines("orders.jsonl", *ORDERS)
    ran = trellis("load", "orders.jsonl", "--to", "duckdb:shop.duckdb")
    assert (ran.code, ran.err) == (0, "")
    assert (
        without_names(ran.out)
        == """\
Loaded orders.jsonl into duckdb:shop.duckdb, dataset main

  Table            Rows  New
  orders              2  table, 4 columns: id, user__name and 2 more
    orders__items     2  table, 5 columns

rows in 2 = loaded 2 + rejected 0 + dropped 0
schema shop, version 2, hash HASH
load ID in T s"""
    )


def test_a_second_load_tells_what_changed_and_what_was_left_out(loaded):
    ran = loaded("load", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb")
    assert ran.code == 0
    assert (
        without_names(ran.out)
        == """\
Loaded orders-2024-02.jsonl into duckdb:shop.duckdb, dataset main

  Table            Rows  New
  orders              2  3 columns: id__v_text, coupon, user__tier
    orders__items     1

What changed
  +  orders.coupon is new: text
  +  orders.user__tier is new: text

Variant columns, for values that do not fit the type of their column
  orders.id__v_text  text values of id, which is bigint

1 value discarded; see table _trellis_discards for source position and reason
  1  collision: another key of the record has the same column name

1 row rejected; see table _trellis_rejects for source position and reason
  1  not JSON

rows in 3 = loaded 2 + rejected 1 + dropped 0
schema shop, version 3, hash HASH
load ID in T s"""
    )


def test_a_plan_writes_nothing(loaded, folder):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    ran = loaded("plan", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb")
    assert ran.code == 0
    assert ran.out.startswith(
        "Plan of loading orders-2024-02.jsonl into duckdb:shop.duckdb, dataset main; nothing was"
    )
    assert '  ALTER TABLE "main"."orders" ADD COLUMN "coupon" VARCHAR' in ran.out
    assert "1 row would be rejected" in ran.out
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_plan_of_something_new_makes_no_file(trellis, lines, folder):
    lines("orders.jsonl", *ORDERS)
    assert trellis("plan", "orders.jsonl").code == 0
    assert [path.name for path in folder.iterdir()] == ["orders.jsonl"]


KEYS = [
    "load_id", "dataset", "destination", "dialect", "dry_run", "already_loaded", "rows", "tables",
    "failures", "changes", "statements", "ddl", "discards", "truncated", "rejects", "notes", "alerts",
    "schema", "seconds",
]  # fmt: skip


@pytest.mark.parametrize("command", ["load", "plan"])
def test_json_is_the_report_and_nothing_else(process, lines, command):
    lines("orders.jsonl", *ORDERS, "no")
    ran = process(command, "orders.jsonl", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert list(report) == KEYS
    assert report["rows"] == {"in": 3, "loaded": 2, "rejected": 1, "dropped": 0}
    assert report["dry_run"] is (command == "plan")


def test_wide_tables_are_shortened(trellis, lines):
    lines("wide.jsonl", json.dumps({f"column_{number}": number for number in range(40)}))
    out = trellis("load", "wide.jsonl").out
    assert "column_0, column_1, column_2, column_3, column_4," in out
    assert "column_8" not in out
    assert "and 34 more" in " ".join(out.split())


def test_a_load_id_is_loaded_once(loaded):
    first = loaded("load", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb", "--load-id", "monday")
    again = loaded("load", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb", "--load-id", "monday")
    assert (first.code, again.code) == (0, 0)
    assert again.out == "load monday is already in the destination; nothing was loaded again"


def rows(url: str, table: str) -> list[dict[str, object]]:
    from trellis.destinations import open_destination

    return open_destination(url).query("main", table)


def test_merge_by_a_key(trellis, lines):
    lines("a.jsonl", '{"id":1,"v":"old"}', '{"id":2,"v":"kept"}')
    lines("b.jsonl", '{"id":1,"v":"new"}')
    merge = ("--mode", "merge", "--key", "id", "--strategy", "upsert", "--table", "t")
    for file in ("a.jsonl", "b.jsonl"):
        ran = trellis("load", file, *merge)
        assert ran.code == 0, ran.err
    assert sorted((row["id"], row["v"]) for row in rows("duckdb:trellis.duckdb", "t")) == [
        (1, "new"),
        (2, "kept"),
    ]


def test_options(trellis, lines):
    lines("a.jsonl", '{"theId":1,"deep":{"deeper":{"x":1}}}')
    ran = trellis("load", "a.jsonl", "--option", "max_nesting=1", "--option", "naming=sql_cs_v1", "--json")
    assert ran.code == 0, ran.err
    assert {"theId", "deep__deeper"} <= {*ran.json["tables"][0]["columns_added"]}


def test_a_naming_convention_cannot_change(loaded):
    ran = loaded("load", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb", "--option", "naming=direct")
    assert ran.code == 2
    assert ran.err.startswith("error: schema shop: identifiers frozen: orders, orders__items hold data")


def test_a_schema_file(trellis, lines):
    lines("s.yaml", "name: any", "tables:", "  a:", "    columns:", "      price: {data_type: decimal}")
    lines("a.jsonl", '{"price":1}')
    assert trellis("load", "a.jsonl", "--schema", "s.yaml").code == 0
    shown = trellis("schema", "show", "--at", "duckdb:trellis.duckdb").out
    assert re.search(r"price +decimal", shown)


NEW_COLUMN = (
    "error: orders-2024-02.jsonl:1: shop.orders.coupon: the data needs a new column for coupon, first seen "
    'with "TEA", and the contract has columns: freeze'
)
CONTRACTS = {
    "freeze": 'error: orders-2024-02.jsonl:1: shop.orders.id: "x3" at id does not fit its column, which is',
    "columns=freeze, data_type=evolve": NEW_COLUMN,
    "contract.yaml": NEW_COLUMN,
}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_broken_ends_with_1(loaded, lines, contract):
    lines("contract.yaml", "columns: freeze")
    ran = loaded("load", "orders-2024-02.jsonl", "--to", "duckdb:shop.duckdb", "--contract", contract)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(CONTRACTS[contract])


def test_discarded_rows_are_in_the_balance(loaded):
    to = ("--to", "duckdb:shop.duckdb", "--contract", "columns=discard_row,data_type=discard_row")
    ran = loaded("load", "orders-2024-02.jsonl", *to)
    assert ran.code == 0
    assert "rows in 3 = loaded 1 + rejected 1 + dropped 1" in ran.out


def test_no_colour_outside_a_terminal(trellis, lines):
    lines("orders.jsonl", *ORDERS)
    assert "\x1b" not in trellis("load", "orders.jsonl").out


def test_names_follow_the_destination(trellis, lines, folder):
    lines("orders.jsonl", *ORDERS)
    (folder / "data").mkdir()
    assert "schema my_shop," in trellis("load", "orders.jsonl", "--to", "duckdb:data/my-shop.duckdb").out
    assert (
        "schema other," in trellis("load", "orders.jsonl", "--to", "duckdb:x.duckdb", "--name", "other").out
    )
    assert Path("data/my-shop.duckdb").exists()
