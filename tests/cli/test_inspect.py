"""`trellis inspect` and `trellis generate`."""

from __future__ import annotations

EVENTS = (
    '{"id":1,"at":"2024-01-01T00:00:00Z","price":1,"items":[{"sku":"a"},{"sku":2}]}',
    '{"id":"2","at":"soon","price":1.0,"note":null}',
    '{"id":123456789012345678901,"price":1.5,"price":2}',
    "no",
    "[1]",
)


def test_every_path_and_kind_on_one_screen(trellis, lines):
    lines("events.jsonl", *EVENTS)
    ran = trellis("inspect", "events.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
3 records in events.jsonl, 7 paths

  Path         Kind                    Count  Null  Missing  Line  Example
  id           int                         1                    1  1
               string                      1                    2  "2"
               integer beyond 64 bits      1                    3  123456789012345678901
  at           string, time (1)            2              1     1  "2024-01-01T00:00:00Z"
  price        int                         2                    1  1
               float                       1                    2  1.0
  items        array                       1              2     1  [2 items]
  items[]      object                      2                    1  {sku}
  items[].sku  int                         1                    1  2
               string                      1                    1  "a"
  note         null                        1     1        2     2  null

3 paths with values of several kinds: id, price, items[].sku

2 lines are no records
  1  not JSON                                               first on line 4
  1  a record must be a JSON object, this line is an array  first on line 5

1 duplicate key in an object
  1  price  first on line 3"""
    )


def test_a_narrow_terminal_gets_a_tree(trellis, lines, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines("a.jsonl", '{"customer":{"address":{"street":"High Street","lines":["x"],"postal.code":7}}}')
    assert (
        trellis("inspect", "a.jsonl").out
        == """\
1 record in a.jsonl, 6 paths

  Path               Kind    Count  Line  Example
  customer           object      1     1  {address}
    address          object      1     1  {street, lines,...
      street         string      1     1  "High Street"
      lines          array       1     1  [1 item]
        []           string      1     1  "x"
      "postal.code"  int         1     1  7"""
    )


def test_limit(trellis, lines):
    lines("a.jsonl", '{"a":1,"b":2,"c":3}')
    assert "and 1 more path; --limit 0 shows all" in trellis("inspect", "a.jsonl", "--limit", "2").out
    assert "more path" not in trellis("inspect", "a.jsonl", "--limit", "0").out


def test_several_files_are_told_apart(trellis, lines):
    lines("a.jsonl", '{"x":1}')
    lines("b.jsonl", '{"x":"y"}')
    out = trellis("inspect", "*.jsonl").out
    assert out.startswith("2 records in 2 files, 1 path")
    assert "a.jsonl:1  1" in out
    assert 'b.jsonl:1  "y"' in out


def test_json(trellis, lines):
    lines("events.jsonl", *EVENTS)
    inspection = trellis("inspect", "events.jsonl", "--json").json
    assert inspection["rows"] == {"in": 5, "read": 3, "rejected": 2}
    assert inspection["paths"][2] == {
        "path": "price", "count": 3, "nulls": 0, "missing": 0, "timestamps": 0,
        "kinds": [
            {"kind": "int", "count": 2, "first": {"file": "events.jsonl", "line": 1}, "example": "1"},
            {"kind": "float", "count": 1, "first": {"file": "events.jsonl", "line": 2}, "example": "1.0"},
        ],
    }  # fmt: skip


def test_generate_writes_what_inspect_reads(trellis, folder):
    ran = trellis("generate", "--rows", "30", "--seed", "7", "--profile", "flat", "--to", "flat.jsonl.gz")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("30 lines of profile flat in flat.jsonl.gz, ")
    assert trellis("inspect", "flat.jsonl.gz").out.startswith("30 records in flat.jsonl.gz, 12 paths")


def test_generate_on_stdout(trellis):
    one = trellis("generate", "--rows", "3", "--profile", "wide", "--columns", "2").out
    assert len(one.splitlines()) == 3
    assert trellis("generate", "--rows", "3", "--profile", "wide", "--columns", "2").out == one
