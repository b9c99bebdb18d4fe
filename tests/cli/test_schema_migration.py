"""`trellis schema plan` and `apply`."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

TO = ("--to", "duckdb:shop.duckdb")


@pytest.fixture
def shop(trellis, lines, folder):
    """A stored schema, and a function that edits its document."""
    lines("orders.jsonl", '{"id":1,"qty":2,"note":"a"}', '{"id":2,"note":"b"}')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    assert trellis("schema", "export", *TO, "--out", "shop.yaml").code == 0
    return trellis


@pytest.fixture
def edit(folder):
    def edited(*pairs: tuple[str, str]) -> None:
        text = (folder / "shop.yaml").read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new, 1)
        (folder / "shop.yaml").write_text(text)

    return edited


def rows(query: str) -> list[tuple]:
    with duckdb.connect("shop.duckdb") as db:
        return db.execute(query).fetchall()


QUANTITY = ("      qty:\n", "      quantity:\n")


def test_a_plan_changes_nothing_and_proposes_renames(shop, edit):
    edit(QUANTITY)
    ran = shop("schema", "plan", "shop.yaml", *TO)
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
  orders.qty is gone  BREAKING
      ALTER TABLE "main"."orders" DROP COLUMN "qty"
  orders.quantity is new: bigint
      ALTER TABLE "main"."orders" ADD COLUMN "quantity" BIGINT

2 changes, 1 breaking
if a column is only renamed, add --rename orders.qty=quantity"""
    )
    assert rows("SELECT id, qty FROM orders ORDER BY id") == [(1, 2), (2, None)]
    assert shop("schema", "show", *TO).out.startswith("schema shop, version 2")


def test_apply_renames_a_column_and_its_values_stay(shop, edit):
    edit(QUANTITY)
    words = ("shop.yaml", *TO, "--rename", "orders.qty=quantity")
    ran = shop("schema", "apply", *words)
    assert ran.code == 2
    assert ran.err == (
        "error: shop.yaml: breaking changes are not applied without --force "
        "(orders.qty is renamed to quantity)"
    )
    ran = shop("schema", "apply", *words, "--force")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("1 change, 1 breaking\n\nschema shop is at version 3 in duckdb:shop.duckdb now")
    assert rows("SELECT id, quantity FROM orders ORDER BY id") == [(1, 2), (2, None)]
    assert "quantity" in shop("schema", "show", *TO).out
    assert shop("schema", "apply", "shop.yaml", *TO).out == "no differences"


def changes_of(version: dict) -> list[tuple]:
    causes = {cause["change"]: cause["file"] for cause in version["causes"]}
    return [(change, causes[change]) for change in version["changes"]]


def test_history_says_what_was_renamed_and_by_which_file(shop, edit):
    with duckdb.connect("shop.duckdb") as db:  # as Trellis before kept it
        db.execute("ALTER TABLE _trellis_schema_changes DROP COLUMN renamed_from")
    edit(QUANTITY, ("  orders:\n", "  purchases:\n"))
    renames = ("--rename", "orders.qty=quantity", "--rename", "orders=purchases")
    ran = shop("schema", "apply", "shop.yaml", *TO, *renames, "--force")
    assert (ran.code, ran.err) == (0, "")
    history = shop("schema", "history", *TO)
    assert "~ orders is renamed to purchases" in history.out
    assert "~ purchases.qty is renamed to quantity" in history.out
    assert "is gone" not in history.out
    for column in ("qty", "quantity"):
        versions = shop("schema", "history", *TO, "--column", column, "--json").json["versions"]
        assert changes_of(versions[-1]) == [("purchases.qty is renamed to quantity", "shop.yaml")]
    *_, version = shop("schema", "history", *TO, "--table", "orders", "--json").json["versions"]
    assert changes_of(version) == [("orders is renamed to purchases", "shop.yaml")]
    assert shop("docs", *TO, "--out", "site").code == 0
    page = Path("site/history.html").read_text()
    assert "purchases.qty is renamed to quantity" in page and "shop.yaml" in page and "is gone" not in page


def test_apply_drops_retypes_and_fills_in_one_commit(shop, edit):
    text = (
        "      qty:\n        data_type: bigint\n        nullable: true",
        "      qty:\n        data_type: text\n        nullable: false",
    )
    edit(text)
    ran = shop("schema", "apply", "shop.yaml", *TO, "--force", "--fill", "orders.qty=none")
    assert (ran.code, ran.err) == (0, "")
    assert rows("SELECT id, qty FROM orders ORDER BY id") == [(1, "2"), (2, "none")]
    columns = dict(rows("SELECT column_name, is_nullable FROM duckdb_columns() WHERE table_name = 'orders'"))
    assert columns["qty"] is False


REQUIRED = (
    "      qty:\n        data_type: bigint\n        nullable: true",
    "      qty:\n        data_type: bigint\n        nullable: false",
)


def test_a_change_that_fails_leaves_all_as_it_was(shop, edit):
    edit(REQUIRED, ("      note:\n", "      remark:\n"))
    ran = shop("schema", "apply", "shop.yaml", *TO, "--rename", "orders.note=remark", "--force")
    assert ran.code == 2
    assert ran.err == (
        "error: table orders, column qty: it is to be NOT NULL, and rows have no value for it (1); "
        "give them one with --fill orders.qty=VALUE, or leave the column nullable; nothing was changed"
    )
    assert rows("SELECT note FROM orders ORDER BY id") == [("a",), ("b",)]
    assert shop("schema", "show", *TO).out.startswith("schema shop, version 2")


def test_a_plan_fails_as_apply_would(shop, edit):
    edit(REQUIRED)
    ran = shop("schema", "plan", "shop.yaml", *TO)
    assert ran.code == 2
    assert ran.err.startswith("error: table orders, column qty: it is to be NOT NULL, and rows have no value")
    assert shop("schema", "plan", "shop.yaml", *TO, "--fill", "orders.qty=0").code == 0


def test_a_new_required_column_with_a_value(shop, edit):
    edit(("      note:\n", "      paid:\n        data_type: bool\n        nullable: false\n      note:\n"))
    ran = shop("schema", "apply", "shop.yaml", *TO, "--force", "--fill", "orders.paid=false")
    assert (ran.code, ran.err) == (0, "")
    assert rows("SELECT paid FROM orders") == [(False,), (False,)]


def test_a_script_for_another_warehouse(shop, edit):
    edit(QUANTITY)
    ran = shop(
        "schema",
        "plan",
        "shop.yaml",
        *TO,
        "--rename",
        "orders.qty=quantity",
        "--sql",
        "--warehouse",
        "redshift",
    )
    assert ran.out == (
        "-- schema shop, from version 2, for Redshift\n"
        "BEGIN;\n"
        "-- orders.qty is renamed to quantity\n"
        'ALTER TABLE "main"."orders" RENAME COLUMN "qty" TO "quantity";\n'
        "COMMIT;"
    )


def test_exit_codes(shop, edit):
    assert shop("schema", "plan", "shop.yaml", *TO, "--exit-code").code == 0
    edit(("      note:\n", "      more:\n        data_type: date\n      note:\n"))
    assert shop("schema", "plan", "shop.yaml", *TO, "--exit-code").code == 1
    assert shop("schema", "plan", "shop.yaml", *TO, "--exit-code=breaking").code == 0
    assert shop("schema", "diff", "2", "shop.yaml", *TO, "--exit-code").code == 1
    assert shop("schema", "diff", "2", "shop.yaml", *TO, "--exit-code=breaking").code == 0
    edit(QUANTITY)
    assert shop("schema", "plan", "shop.yaml", *TO, "--exit-code=breaking").code == 1
    assert shop("schema", "diff", "2", "shop.yaml", *TO, "--exit-code=breaking").code == 1


def test_an_imported_contract_is_planned_too(shop, folder):
    fields = [{"name": "id", "type": ["null", "long"]}, {"name": "color", "type": ["null", "string"]}]
    (folder / "orders.avsc").write_text(json.dumps({"type": "record", "name": "orders", "fields": fields}))
    plan = shop("schema", "plan", "orders.avsc", *TO, "--json").json
    assert [step["change"] for step in plan["steps"] if step["statements"]] == [
        "orders.qty is gone",
        "orders.note is gone",
        "orders.color is new: text",
    ]


def test_files_are_written_anew(trellis, lines, folder):
    to = ("--to", "parquet:lake")
    lines("orders.jsonl", '{"id":1,"qty":2}')
    assert trellis("load", "orders.jsonl", *to).code == 0
    assert trellis("schema", "export", *to, "--out", "shop.yaml").code == 0
    text = (folder / "shop.yaml").read_text()
    (folder / "shop.yaml").write_text(text.replace("      qty:\n", "      quantity:\n"))
    renames = ("--rename", "orders.qty=quantity")
    assert trellis("schema", "plan", "shop.yaml", *to, *renames).out.startswith(
        "  orders.qty is renamed to quantity  BREAKING  (rewrites the table)\n"
    )
    ran = trellis("schema", "apply", "shop.yaml", *to, *renames, "--force")
    assert (ran.code, ran.err) == (0, "")
    assert duckdb.sql("SELECT id, quantity FROM 'lake/orders/**/*.parquet'").fetchall() == [(1, 2)]
