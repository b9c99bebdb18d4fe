"""Every bad usage: one line on stderr, nothing on stdout, the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"

LOAD = "load orders.jsonl"
USAGE = {
    "load": "missing argument 'SOURCE'; trellis load --help lists the options",
    "load nix.jsonl": "nix.jsonl: no such file",
    "load orderz.jsonl": "orderz.jsonl: no such file; did you mean orders.jsonl?",
    "load a*.jsonl": "a*.jsonl: no file matches this pattern",
    "load notes.md": "notes.md: files of kind '.md' are not read",
    "load orders.jsonl --to dukdb:x": "'dukdb:x' names no destination: did you mean 'duckdb'?",
    "load orders.jsonl --to shop": "'shop' names no destination; write one of delta:PATH, duckdb:PATH",
    "load orders.jsonl --to duckdb:": "'duckdb:' has no path; write duckdb:PATH",
    "load orders.jsonl --dialect dtl": "there is no dialect 'dtl': did you mean 'dlt'?",
    "load orders.jsonl --mode apend": "there is no mode 'apend': did you mean 'append'?",
    "load orders.jsonl --strategy upser": "there is no strategy 'upser': did you mean 'upsert'?",
    f"{LOAD} --mode upsert": "upsert is a strategy, not a mode; choose mode merge with strategy upsert",
    f"{LOAD} --mode append --strategy upsert": "strategy upsert is for the mode merge, and the",
    "load orders.jsonl --option max_nestin=1": "there is no option 'max_nestin': did you mean 'max_nesting'?",
    "load orders.jsonl --option max_nesting=x": "option max_nesting takes a whole number, 0 or more, not 'x'",
    f"{LOAD} --option max_nesting": "--option 'max_nesting': write NAME=VALUE, for example max_nesting=2",
    "load orders.jsonl --option naming=snake": "no naming convention 'snake': did you mean 'snake_case'?",
    f"{LOAD} --contract freez": "--contract 'freez' is neither a mode nor a file: did you mean 'freeze'?",
    f"{LOAD} --contract colums=freeze": "--contract: there is no entity 'colums': did you mean 'columns'?",
    f"{LOAD} --contract columns=frez": "--contract: schema_contract.columns: there is no mode 'frez'",
    f"{LOAD} --contract c.yaml": "--contract c.yaml: no such file; a contract is one of evolve, freeze",
    "load orders.jsonl --contract bad.yaml": "bad.yaml: there is no entity 'tabels': did you mean 'tables'?",
    "load orders.jsonl --schema nix.yaml": "nix.yaml: no such file",
    f"{LOAD} --schema typo.yaml": "typo.yaml, line 3, tables.t.colums: unknown key: did you mean 'columns'?",
    f"{LOAD} --schema typo.json": "typo.json, line 1, tables.t.colums: unknown key: did you mean 'columns'?",
    f"{LOAD} --config nix.yaml": "nix.yaml: no such file; --config takes the path of a trellis.yaml",
    "load orders.jsonl --name 2a": "--name: schema name '2a' is not an identifier",
    "load orders.jsonl --master a --remote b": "--master and --remote name two different Sparks; give one",
    "load orders.jsonl --engine inlin": "engine: there is no engine 'inlin': did you mean 'inline'?",
    "load orders.jsonl --engine inline --master yarn": "the engine inline runs without Spark, and yarn is a",
    "load orders.jsonl --master local[2": "--master 'local[2' is no address of Spark; write local[2], spark:",
    "load orders.jsonl --keyy id": "no such option: --keyy: did you mean --key?",
    "load orders.jsonl --to": "option '--to' requires an argument; trellis load --help lists the options",
    "lod orders.jsonl": "no such command 'lod': did you mean 'load', 'loads'?",
    "inspect nix.jsonl": "nix.jsonl: no such file",
    "inspect orders.jsonl --limit -1": "invalid value for '--limit'",
    "generate --rows -1": "rows must be 0 or more and columns 1 or more, not -1 and 300",
    "generate --profile shp": "no profile 'shp': did you mean 'shop'?",
    "generate --rows 1 --to nix/x.jsonl": "nix/x.jsonl: no such file or directory",
    "schema shw": "no such command 'shw': did you mean 'show'?",
    "schema show": "missing schema: give a FILE, or a destination with --to, such as --to duckdb:shop.duckdb",
    "schema show typo.yaml --at duckdb:x": "typo.yaml and --to duckdb:x are two schemas; give one",
    "schema show --at duckdb:nix.duckdb": "duckdb:nix.duckdb, dataset main: holds no schema yet",
    "schema show nix.yaml": "nix.yaml: no such file",
    "schema diff right.yaml": "missing second schema: give a second file, or a destination with --to",
    "schema diff 1 2": "version 1 needs a destination: add --to, such as --to duckdb:shop.duckdb",
    "schema lint typo.yaml": "typo.yaml, line 3, tables.t.colums: unknown key: did you mean 'columns'?",
    "schema import empty.yaml --at duckdb:x.duckdb": "empty.yaml: holds no table",
    "schema import right.yaml": "missing schema: give a FILE, or a destination with --to",
}


@pytest.fixture
def files(lines):
    lines("orders.jsonl", '{"id":1}')
    lines("notes.md", "# Notes")
    lines("bad.yaml", "tabels: freeze")
    lines("typo.yaml", "name: shop", "tables:", "  t: {colums: {}}")
    lines("typo.json", '{"name": "shop", "tables": {"t": {"colums": {}}}}')
    lines("right.yaml", "name: shop", "tables:", "  t: {columns: {id: {data_type: bigint}}}")
    lines("empty.yaml", "name: shop")


@pytest.mark.parametrize("command", USAGE)
def test_bad_usage_ends_with_2(trellis, files, folder, command):
    before = sorted(folder.iterdir())
    ran = trellis(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {USAGE[command]}"), ran.err
    assert "Traceback" not in ran.err
    assert sorted(folder.iterdir()) == before


def test_every_fault_of_a_document_at_once(trellis, lines):
    lines(
        "s.yaml",
        "name: shop",
        "tables:",
        "  t:",
        "    colums: {}",
        "    columns:",
        "      a: {data_typ: text}",
    )
    ran = trellis("schema", "lint", "s.yaml")
    assert ran.code == 2
    assert (
        ran.err
        == """\
error: s.yaml: 2 faults
  line 4, tables.t.colums: unknown key: did you mean 'columns'?
  line 6, tables.t.columns.a.data_typ: unknown key: did you mean 'data_type'?"""
    )


def test_a_file_that_is_no_database_ends_with_3(trellis, files, lines):
    lines("x.duckdb", "not a database " * 500)
    ran = trellis("load", "orders.jsonl", "--to", "duckdb:x.duckdb")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: x.duckdb: DuckDB cannot open it")


def test_a_fault_of_ours_is_said_in_one_sentence(trellis, files, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("trellis.pipelines.pipeline.Pipeline._load", broken)
    ran = trellis("load", "orders.jsonl")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "error: internal error in Trellis (KeyError: 'oops'); "
        "run it again with --debug and report what that shows"
    )
    assert "Traceback" in trellis("load", "orders.jsonl", "--debug").err
    assert "Traceback" not in trellis("load", "orders.jsonl").err


def test_debug_shows_the_traceback_of_any_error(trellis, files):
    assert "Traceback (most recent call last)" in trellis("load", "nix.jsonl", "--debug").err


@pytest.mark.parametrize(
    ("command", "message"), [("load", "stopped; nothing was loaded"), ("plan", "stopped")]
)
def test_stopped_by_the_user(trellis, files, monkeypatch, command, message):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trellis.pipelines.pipeline.Pipeline._load", stopped)
    ran = trellis(command, "orders.jsonl")
    assert (ran.code, ran.out, ran.err) == (130, "", message)


def test_nobody_reads_to_the_end(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "trellis.cli", "generate", "--rows", "50000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith(b'{"event_id"')
    process.stdout.close()
    assert (process.stderr.read(), process.wait(30)) == (b"", 0)
    process.stderr.close()
