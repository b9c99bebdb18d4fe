"""`-q` and `-v`, which every command takes."""

from __future__ import annotations

import re

TO = ("--to", "duckdb:shop.duckdb")


def test_a_quiet_load_says_nothing(trellis, lines):
    lines("orders.jsonl", '{"id":1}')
    ran = trellis("load", "orders.jsonl", *TO, "-q")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert trellis("schema", "show", *TO).out.startswith("schema shop, version 2")


def test_a_quiet_load_still_says_what_is_wrong(trellis):
    ran = trellis("load", "none.jsonl", *TO, "--quiet")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: none.jsonl")


def test_what_was_asked_for_is_printed_all_the_same(trellis, lines):
    lines("orders.jsonl", '{"id":1}')
    assert trellis("load", "orders.jsonl", *TO, "-q", "--json").json["rows"]["loaded"] == 1
    ran = trellis("schema", "convert", "--at", TO[1], "--to", "spark-ddl", "-q")
    assert (ran.code, ran.out, ran.err) == (0, "`id` BIGINT", "")


def test_a_verbose_load_lists_every_change_and_what_each_step_took(trellis, lines):
    lines("orders.jsonl", '{"id":1}')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    names = [f"column_{number}" for number in range(20)]
    lines("orders.jsonl", f"{{{', '.join(f'{chr(34)}{name}{chr(34)}: 1' for name in names)}}}")
    assert "and 9 more changes; -v lists all" not in trellis("plan", "orders.jsonl", *TO, "-v").out
    short = trellis("plan", "orders.jsonl", *TO).out
    assert "and 8 more changes; -v lists all" in short
    out = trellis("load", "orders.jsonl", *TO, "-v").out
    assert [name for name in names if f"orders.{name} is new: bigint" in out] == names
    assert re.search(r"(?m)^discover \d+\.\d s, conform \d+\.\d s, .*load \d+\.\d s", out)


def test_the_help_of_each_command_has_both(trellis):
    shown = trellis("load", "--help").out
    assert "--quiet" in shown and "--verbose" in shown
