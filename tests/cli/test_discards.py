"""`trellis discards`: what did not fit, counted."""

from __future__ import annotations

AT = ("--at", "duckdb:shop.duckdb")


def test_discards_of_dlt_are_listed_and_not_replayed(trellis, lines):
    lines("t.jsonl", '{"a":1,"A":2}')
    assert trellis("load", "t.jsonl", "--to", "duckdb:shop.duckdb").code == 0
    discards = trellis("discards", "list", *AT, "--json").json["discards"]
    assert [(discard["table"], discard["column"], discard["example"]) for discard in discards] == [
        ("t", "a", "1")
    ]
    ran = trellis("discards", "replay", *AT)
    assert ran.code == 2
    assert "discards of dialect dlt do not name their rows, so they cannot be replayed" in ran.err


def test_a_destination_without_a_schema(trellis, folder):
    for command in ("list", "replay"):
        ran = trellis("discards", command, *AT)
        assert ran.code == 2
        assert ran.err.startswith("error: duckdb:shop.duckdb")
    assert [path.name for path in folder.iterdir()] == []


def test_without_a_command_the_help_is_shown(trellis):
    ran = trellis("discards")
    assert "replay" in ran.out and "list" in ran.out
