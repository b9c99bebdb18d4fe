"""`trellis discards`: what did not fit, counted."""

from __future__ import annotations

import duckdb

AT = ("--at", "duckdb:shop.duckdb")


def test_values_without_a_row_are_listed_and_left(trellis, lines):
    lines("t.jsonl", '{"a":1,"A":2}')
    assert trellis("load", "t.jsonl", "--to", "duckdb:shop.duckdb").code == 0
    (discard,) = trellis("discards", "list", *AT, "--json").json["discards"]
    assert (discard["table"], discard["column"], discard["example"]) == ("t", "a", "1")
    assert trellis("discards", "replay", *AT).out == (
        "1 value left in the discards\n  1 kept without their record, which has to be loaded again"
    )


def test_discarded_rows_are_loaded_once_and_listed_no_more(trellis, lines):
    to = ("--to", "duckdb:shop.duckdb", "--table", "t")
    lines("a.jsonl", '{"id":1,"l":[{"x":1}]}')
    lines("b.jsonl", '{"id":2}', '{"id":3,"b":1,"c":1}', '{"id":4,"l":[{"x":1,"z":2}]}')
    assert trellis("load", "a.jsonl", *to).code == 0
    assert trellis("load", "b.jsonl", *to, "--contract", "columns=discard_row").code == 0
    assert trellis("discards", "replay", *AT).out.splitlines() == [
        "2 values left in the discards",
        "  1 without a place yet; widen the contract or the column first",
        "  1 kept without their record, which has to be loaded again",
    ]
    assert trellis("load", "a.jsonl", *to, "--contract", "evolve").code == 0
    assert trellis("discards", "replay", *AT, "--json").json == {
        "load_id": None,
        "restored": [],
        "rows": [{"table": "t", "count": 1}],
        "left": 1,
        "left_without_row": 1,
    }
    (discard,) = trellis("discards", "list", *AT, "--json").json["discards"]
    assert (discard["table"], discard["column"]) == ("t__l", "z")
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute('SELECT "id", "b", "c" FROM "t" ORDER BY "id", "b"').fetchall() == [
            (1, None, None),
            (1, None, None),
            (2, None, None),
            (3, 1, 1),
            (4, None, None),
        ]


def test_rejects_are_counted_by_file_and_reason(trellis, lines):
    lines("t.jsonl", '{"a":1}', "none", "nil", "[1]")
    assert trellis("load", "t.jsonl", "--to", "duckdb:shop.duckdb").code == 0
    rejects = trellis("rejects", "list", *AT, "--json").json["rejects"]
    assert [tuple(reject.values()) for reject in rejects] == [
        ("t.jsonl", "not JSON: expecting value at column 1", 2, "nil"),
        ("t.jsonl", "a record must be a JSON object, this line is an array", 1, "[1]"),
    ]
    _, first, _ = trellis("rejects", "list", *AT).out.splitlines()
    assert " ".join(first.split()) == "2 t.jsonl not JSON: expecting value at column 1 'nil'"


def test_a_destination_without_a_schema(trellis, folder):
    for command in ("list", "replay"):
        ran = trellis("discards", command, *AT)
        assert ran.code == 2
        assert ran.err.startswith("error: duckdb:shop.duckdb")
    assert [path.name for path in folder.iterdir()] == []


def test_without_a_command_the_help_is_shown(trellis):
    ran = trellis("discards")
    assert "replay" in ran.out and "list" in ran.out
