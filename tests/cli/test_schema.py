"""`trellis schema ...`"""

from __future__ import annotations

import re

import pytest

AT = ("--to", "duckdb:shop.duckdb")


@pytest.fixture
def plain(trellis, lines):
    lines("orders.jsonl", '{"id":1,"at":"2024-01-01T00:00:00Z","items":[{"sku":"a"}]}')
    lines("later.jsonl", '{"id":"x","note":"hi"}')
    for file in ("orders.jsonl", "later.jsonl"):
        assert trellis("load", file, "--to", "duckdb:shop.duckdb", "--table", "orders").code == 0
    return trellis


def test_show(plain):
    ran = plain("schema", "show", *AT)
    assert ran.code == 0
    assert (
        re.sub(r"hash \S+", "hash HASH", ran.out)
        == """\
schema shop, version 3, 2 tables
hash HASH

orders  append
  Column        Type       Hints
  id            bigint
  at            timestamp
  _dlt_load_id  text       required
  _dlt_id       text       required, unique
  id__v_text    text       variant of id
  note          text

  orders__items  below orders
    Column          Type    Hints
    sku             text
    _dlt_parent_id  text    required
    _dlt_list_idx   bigint  required
    _dlt_id         text    required, unique

and 3 tables of Trellis' own bookkeeping; --yaml shows them"""
    )


def test_show_as_a_document(plain):
    import json

    shown = plain("schema", "show", *AT, "--json").out
    assert json.loads(shown)["name"] == "shop"
    assert plain("schema", "show", *AT, "--yaml").out.startswith("version: 3\nversion_hash: ")


def test_show_a_file(trellis, lines):
    lines("s.yaml", "name: shop", "tables:", "  t: {columns: {id: {data_type: bigint, nullable: false}}}")
    assert (
        trellis("schema", "show", "s.yaml").out
        == """\
schema shop, 1 table

t  append
  Column  Type    Hints
  id      bigint  required"""
    )


def steady(out: str) -> str:
    out = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "WHEN", out)
    return re.sub(r"  \d{10}\.\d{6}  ", "  LOAD  ", out)


def test_history_says_which_load_and_line_brought_each_change(plain):
    assert (
        steady(plain("schema", "history", *AT).out)
        == """\
schema shop, 2 versions

  Version  When (UTC)           Load               What changed                            Came from
        2  WHEN  LOAD  + orders is new, with 4 columns         orders.jsonl:1
                                                   + orders__items is new, with 4 columns  orders.jsonl:1
        3  WHEN  LOAD  + orders.id__v_text is new: text        later.jsonl:1
                                                   + orders.note is new: text              later.jsonl:1"""
    )


def test_history_of_a_column(plain):
    (version,) = plain("schema", "history", *AT, "--column", "id", "--json").json["versions"]
    (cause,) = version["causes"]
    assert (version["version"], version["changes"]) == (2, ["orders.id is new: bigint"])
    assert cause == {
        "change": "orders.id is new: bigint",
        "load_id": version["load_id"],
        "pipeline": "shop",
        "file": "orders.jsonl",
        "line": 1,
    }
    (version,) = plain("schema", "history", *AT, "--table", "orders__items", "--json").json["versions"]
    assert version["changes"] == ["orders__items is new, with 4 columns"]
    assert plain("schema", "history", *AT, "--table", "other", "--json").json["versions"] == []


def test_history_is_not_cut(trellis, lines):
    import json

    lines("wide.jsonl", '{"id":1}')
    assert trellis("load", "wide.jsonl", *AT).code == 0
    lines("wide.jsonl", json.dumps({f"column_{number}": number for number in range(50)}))
    assert trellis("load", "wide.jsonl", *AT).code == 0
    assert trellis("schema", "history", *AT).out.count("wide.jsonl:1") == 51


def test_history_of_an_imported_schema(trellis, lines):
    lines("s.yaml", "name: shop", "tables:", "  orders: {columns: {id: {data_type: bigint}}}")
    assert trellis("schema", "import", "s.yaml", *AT).code == 0
    (version,) = trellis("schema", "history", *AT, "--json").json["versions"]
    (cause,) = version["causes"]
    assert (cause["file"], cause["line"]) == ("s.yaml", None)


def test_show_of_one_table(plain):
    out = plain("schema", "show", *AT, "--table", "orders__items").out
    assert "orders__items" in out and "id__v_text" not in out
    assert plain("schema", "show", *AT, "--table", "order").err == (
        "error: schema shop has no table 'order': did you mean 'orders'?"
    )


def test_diff_of_versions(plain):
    ran = plain("schema", "diff", "2", "3", *AT)
    assert (ran.code, ran.out) == (0, """\
  +  orders.id__v_text is new: text
  +  orders.note is new: text

2 changes, none breaking""")  # fmt: skip
    assert plain("schema", "diff", "2", *AT, "--exit-code").code == 1
    same = plain("schema", "diff", "3", *AT, "--exit-code")
    assert (same.code, same.out) == (0, "no differences")


def test_diff_of_files_marks_what_breaks(trellis, lines):
    lines(
        "a.yaml", "name: shop", "tables:", "  t: {columns: {id: {data_type: bigint}, old: {data_type: text}}}"
    )
    lines(
        "b.yaml", "name: shop", "tables:", "  t: {columns: {id: {data_type: text}, new: {data_type: text}}}"
    )
    ran = trellis("schema", "diff", "a.yaml", "b.yaml")
    assert (ran.code, ran.out) == (0, """\
  -  t.old is gone  BREAKING
  ~  t.id: data_type was bigint, is text  BREAKING
  +  t.new is new: text

3 changes, 2 breaking""")  # fmt: skip
    changes = trellis("schema", "diff", "a.yaml", "b.yaml", "--json").json["changes"]
    assert changes[1] == {
        "change": "ChangeColumn", "table": "t", "column": "id", "breaking": True,
        "text": "t.id: data_type was bigint, is text",
    }  # fmt: skip


def test_diff_of_unknown_version(plain):
    ran = plain("schema", "diff", "9", *AT)
    assert (ran.code, ran.err) == (2, "error: duckdb:shop.duckdb: schema shop has no version 9; it has 2, 3")


@pytest.mark.parametrize("file", ["s.yaml", "s.json"])
def test_what_is_exported_can_be_imported_elsewhere(plain, folder, file):
    ran = plain("schema", "export", *AT, "--out", file)
    assert (ran.code, ran.out, ran.err) == (0, "", f"schema shop, version 3, is in {file}")
    assert plain("schema", "lint", file).out == f"{file}: right, schema shop with 5 tables and 29 columns"
    assert plain("schema", "import", file, *AT).out == "no differences"
    ran = plain("schema", "import", file, "--at", "duckdb:new.duckdb")
    assert (ran.code, ran.out) == (0, """\
  +  orders is new, with 6 columns
  +  orders__items is new, with 4 columns

2 changes, none breaking

schema new is at version 1 in duckdb:new.duckdb now""")  # fmt: skip
    assert plain("schema", "diff", file, "--at", "duckdb:new.duckdb").out == "no differences"
    again = plain("load", "later.jsonl", "--table", "orders", "--to", "duckdb:new.duckdb", "--json").json
    assert (again["changes"], again["rows"]["loaded"]) == ([], 1)


def test_export_declared_only(plain):
    out = plain("schema", "export", *AT, "--declared-only").out
    assert "note:" in out
    assert "id__v_text" not in out
    assert "x-normalizer" not in out


def test_export_of_an_earlier_version(plain, lines):
    assert "note" not in plain("schema", "export", *AT, "--version", "2", "--table", "orders").out
    lines("returns.jsonl", '{"id": 1}')
    assert plain("load", "returns.jsonl", *AT).code == 0
    assert "returns:" in plain("schema", "export", *AT, "--table", "returns").out
    ran = plain("schema", "export", *AT, "--table", "returns", "--version", "2")
    assert (ran.code, ran.err) == (
        2,
        "error: schema shop, version 2, has no table 'returns'; choose a --version that has it: 5",
    )
    assert plain("schema", "export", *AT, "--version", "7").err == (
        "error: duckdb:shop.duckdb: schema shop has no version 7; it has 2, 3, 5"
    )


def test_import_makes_the_next_version(plain, lines):
    lines(
        "s.yaml",
        plain("schema", "export", *AT).out.replace(
            "      note:", "      extra:\n        data_type: date\n      note:"
        ),
    )
    ran = plain("schema", "import", "s.yaml", *AT)
    assert (ran.code, ran.out) == (0, """\
  +  orders.extra is new: date

1 change, none breaking

schema shop is at version 4 in duckdb:shop.duckdb now""")  # fmt: skip
    assert plain("schema", "show", *AT).out.startswith("schema shop, version 4")
    ran = plain("load", "later.jsonl", "--table", "orders", "--to", "duckdb:shop.duckdb")
    assert ran.code == 0, ran.err


def test_breaking_changes_need_force(plain, lines):
    lines("s.yaml", "name: shop", "tables:", "  orders: {columns: {id: {data_type: bigint}}}")
    ran = plain("schema", "import", "s.yaml", *AT)
    assert ran.code == 2
    assert ran.err.startswith(
        "error: s.yaml: breaking changes are not imported without --force (orders__items is gone"
    )
    assert plain("schema", "show", *AT).out.startswith("schema shop, version 3")
    assert plain("schema", "import", "s.yaml", *AT, "--force").code == 0
    assert plain("schema", "show", *AT).out.startswith("schema shop, version 4")


def test_a_schema_written_by_hand_is_the_first_version(trellis, lines):
    lines("s.yaml", "name: shop", "tables:", "  orders: {columns: {id: {data_type: bigint}}}")
    ran = trellis("schema", "import", "s.yaml", *AT)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("schema shop is at version 1 in duckdb:shop.duckdb now")
    lines("orders.jsonl", '{"id":1}')
    assert trellis("load", "orders.jsonl", *AT).code == 0


def test_a_file_keeps_the_columns_that_trellis_added(plain, lines):
    lines("s.yaml", "name: shop", "tables:", "  orders: {columns: {id: {data_type: bigint}}}")
    changes = plain("schema", "import", "s.yaml", *AT, "--force", "--json").json["changes"]
    assert [c["text"] for c in changes if c["change"] == "DropColumn"] == [
        "orders.at is gone",
        "orders.id__v_text is gone",
        "orders.note is gone",
    ]


def test_a_file_without_settings_keeps_those_there_are(plain, lines):
    import json

    before = json.loads(plain("schema", "show", *AT, "--json").out)
    lines("s.yaml", "name: any", "tables:", "  more: {columns: {id: {data_type: bigint}}}")
    assert plain("schema", "import", "s.yaml", *AT, "--force").code == 0
    after = json.loads(plain("schema", "show", *AT, "--json").out)
    assert [after[key] for key in ("name", "settings", "normalizers")] == [
        before[key] for key in ("name", "settings", "normalizers")
    ]


def test_another_name_is_found_where_it_is_the_only_one(trellis, lines):
    lines("a.jsonl", '{"id":1}')
    trellis("load", "a.jsonl", *("--to", "duckdb:shop.duckdb", "--name", "events"))
    assert trellis("schema", "show", *AT).out.startswith("schema events, version")
    ran = trellis("schema", "show", *AT, "--name", "event")
    assert (ran.code, ran.err) == (
        2,
        (
            "error: duckdb:shop.duckdb, dataset main: holds no schema 'event': did you mean 'events'? "
            "(--name chooses)"
        ),
    )
