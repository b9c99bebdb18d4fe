"""Where rows that cannot be read are: the table, the row or line, and the column."""

from __future__ import annotations

import gzip
import io
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.conftest import Trellis
from cli.test_standard_output import run_in_shell
from dialects.ytsaurus.test_commands import Run, table
from dialects.ytsaurus.test_tables import T, code_of, create, read
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.operations import merge
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows

__all__ = ["table"]

SKIFF = (
    "<table_skiff_schemas=[{wire_type=tuple;children=[{name=k;wire_type=string32};{name=n;wire_type=variant8;"
    'children=[{wire_type=nothing};{wire_type=int64}]};{name="$other_columns";wire_type=yson32}]}]>skiff'
)


def arrow(**columns: pa.Array) -> bytes:
    batch = pa.RecordBatch.from_pydict(columns)
    with io.BytesIO() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue()


def parquet(columns: Any) -> bytes:
    with io.BytesIO() as sink:
        pq.write_table(columns, sink)
        return sink.getvalue()


YSON_COLUMN = pa.schema([pa.field("x", pa.binary(), metadata={"yt_type": "yson"})])
BROKEN: dict[str, tuple[str, bytes, str]] = {
    "yson, a value": (
        "yson",
        b"{k=a;v=1};{k=b;v=}",
        ("row 1, column \"v\": not YSON at byte 17: '}'; expected a value"),
    ),
    "yson, a key": (
        "yson",
        b"{k=a;5=1}",
        "row 0: not YSON at byte 5: '5=1}'; expected a key, which is a string",
    ),
    "yson, no row": (
        "yson",
        b"{};5",
        ("row 1: not YSON at byte 3: '5'; expected a row, which is a map such as {k=1}"),
    ),
    "yson, between rows": ("yson", b"{k=a}{", "row 1: not YSON at byte 5: '{'; expected ';' between rows"),
    "yson, the end": (
        "yson",
        b"{};{};{k=a;v=[1",
        ("row 2, column \"v\": not YSON at byte 15: the end; expected ';' or ']' after an item of a list"),
    ),
    "json": ("json", b'{"k": 1}\n{"k": ', "line 2 is not a JSON object: expecting value, character 7"),
    "json, a value": (
        "<encode_utf8=%false>json",
        b'{"k": 1}\n{"k": 2, "n": {"a": [18446744073709551616]}}',
        (
            'line 2, column "n": 18446744073709551616 is beyond 64 bits; YSON integers are from '
            "-2^63 to 2^64-1"
        ),
    ),
    "json, a key": (
        "json",
        '{"k€": 1}'.encode(),
        (
            "line 1: 'k€' has a character beyond U+00FF, where each "
            "stands for a byte; write UTF-8 texts with --format '<encode_utf8=%false>json'"
        ),
    ),
    "dsv": ("dsv", b"a=1\na=1\ta=2\n", "line 2: the column a is there twice"),
    "schemaful_dsv": (
        "<columns=[a;b]>schemaful_dsv",
        b"1\t2\n1\n",
        ("line 2 has 1 values; expected 2, between tabs"),
    ),
    "yaml": ("yaml", b"k: 1\n---\n- 1\n", "document 2: expected a row, which is a map such as 'k: 1'"),
    "yaml, a value": (
        "yaml",
        b"k: 1\n---\nn: [18446744073709551616]\n",
        (
            'document 2, column "n": '
            "18446744073709551616 is beyond 64 bits; YSON integers are from -2^63 to 2^64-1"
        ),
    ),
    "yaml, twice": ("yaml", b'1: a\n"1": b\n', "document 1: the column 1 is there twice"),
    "yaml, unsigned": (
        "yaml",
        b"k: !u x\n",
        ("document 1: !u x is not an unsigned integer; expected one such as !u 5"),
    ),
    "skiff, the end": (
        SKIFF,
        b"\0\0\1\0\0\0a\1\1\0",
        ('row 0, column "n": the data ends in the middle of a row; expected 8 bytes, not 2'),
    ),
    "skiff, a table": (
        SKIFF,
        b"\1\0",
        "row 0: the row begins with the bytes 0100; expected 0000, the table 0",
    ),
    "skiff, a tag": (
        SKIFF,
        b"\0\0\1\0\0\0a\7",
        ('row 0, column "n": there is no alternative 7; expected one of 2, counted from 0'),
    ),
    "skiff, others": (
        SKIFF,
        b"\0\0\1\0\0\0a\0\2\0\0\0\x02\x0a",
        ('row 0, column "$other_columns": expected a map of columns'),
    ),
    "skiff, twice": (SKIFF, b"\0\0\1\0\0\0a\0\5\0\0\0{k=1}", "row 0: the column k is there twice"),
    "arrow, a type": (
        "arrow",
        arrow(d=pa.array([timedelta(1)])),
        ('column "d": duration[us] of Arrow is a type that tables do not have; cast it'),
    ),
    "arrow, inside": (
        "arrow",
        arrow(l=pa.array([[None], [Decimal("1.5")]])),
        ('row 1, column "l": a Decimal inside is what tables do not have; cast it'),
    ),
    "arrow, times": (
        "arrow",
        arrow(t=pa.array([1], pa.timestamp("ns"))),
        (
            'column "t": the values cannot be '
            "converted: Casting from timestamp[ns] to timestamp[us] would lose data: 1"
        ),
    ),
    "arrow, nothing": (
        "arrow",
        b"",
        ("the rows are not an Arrow stream: Tried reading schema message, was null or length 0"),
    ),
    "parquet, yson": (
        "parquet",
        parquet(pa.table({"x": [b"1", None, b"[1"]}, schema=YSON_COLUMN)),
        ("row 2, column \"x\": not YSON at byte 2: the end; expected ';' or ']' after an item of a list"),
    ),
    "parquet": (
        "parquet",
        b"PAR1PAR1",
        (
            "the rows are not a Parquet file: Parquet file size is 8 bytes, smaller than the size "
            "reported by footer's (827474256bytes)"
        ),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_b08_rows_that_cannot_be_read_name_their_place(store: Store, name: str) -> None:
    form, data, message = BROKEN[name]
    create(store, None, rows="{k=before}")
    parsed = Format.parse(form)
    assert code_of(write_rows, store, f"<append=%true>{T}", parse_rows(parsed, data)) == (
        1,
        f"{T}: {message}",
    )
    create(store, "~[k:any^]u", "//tmp/u")
    assert code_of(insert_rows, store, "//tmp/u", parse_rows(parsed, data)) == (1, f"//tmp/u: {message}")
    assert read(store) == "{k=before}"


def test_columns_that_are_there_twice(store: Store) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert code_of(write_rows, store, T, parse_rows(Format("parquet"), parquet(twice))) == (
        1,
        f"{T}: the column a is there twice; rename one of them",
    )


def test_rows_without_columns_are_rows(store: Store) -> None:
    batch = pa.RecordBatch.from_pydict({"k": [1, 2]}).select([])
    with io.BytesIO() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        data = sink.getvalue()
    assert [*parse_rows(Format("arrow"), data)] == [{}, {}]


def test_errors_of_input_as_objects(table: Run) -> None:
    ran = table("write '<append=%true>//tmp/t' --format json --json", '{"k": 1}\n{"k": "€"}\n')
    error = json.loads(ran.out)
    assert (ran.code, error["code"], error["attributes"]) == (
        2,
        1,
        {"path": "//tmp/t", "format": "json", "line": 2, "column": "k"},
    )
    assert ran.err == f"error: {error['message']}"
    assert error["message"].startswith("//tmp/t: line 2, column \"k\": '€' has a character beyond U+00FF")


def test_input_of_infer(trellis: Trellis, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "rows.yson").write_text("{k=1};{k=")
    assert trellis("table", "infer", "rows.yson", "--format", "yson").err == (
        'error: rows.yson: row 1, column "k": not YSON at byte 9: the end; expected a value'
    )
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"5\n")))
    assert trellis("table", "infer", "-").err == (
        'error: standard input: line 1 is not a JSON object; expected a row such as {"k": 1}'
    )
    (folder / "rows.dsv").write_text("a=1\tb\n")
    learned = trellis("table", "infer", "rows.dsv", "--format", "dsv", "--json").json
    assert learned["warnings"] == [
        (
            "rows.dsv: 1 field without '=' skipped, as in YTsaurus, the first 'b' in line 1; expected fields "
            "such as name=value"
        )
    ]


# --- Fields that DSV skips -------------------------------------------------------------------------------

SKIPPED = (
    "2 fields without '=' skipped, as in YTsaurus, the first 'tskv' in line 1; expected fields such as "
    "name=value"
)


def test_fields_without_a_key_are_skipped_and_told(table: Run) -> None:
    ran = table("write //tmp/t --format dsv --json", "tskv\ta=1\t\nb=2\n\tz\n")
    assert (ran.code, ran.err) == (0, f"note: //tmp/t: {SKIPPED}")
    assert ran.json == {"path": "//tmp/t", "rows": 3, "warnings": [f"//tmp/t: {SKIPPED}"]}
    assert table("read //tmp/t --format json").out == '{"a":"1"}\n{"b":"2"}\n{}'
    again = table("write //tmp/t --format dsv", "tskv\ta=1\t\nb=2\n\tz\n")
    assert (again.out, again.err) == ("", f"note: //tmp/t: {SKIPPED}")
    assert "warnings" not in table("write //tmp/t --format dsv --json", "a=1\t\tb=2\n").json


# --- What is meant otherwise than it is written ----------------------------------------------------------


def test_compressed_rows(table: Run, store: Store) -> None:
    for form in ("json", "yson", "dsv", "yaml", "arrow"):
        rows = parse_rows(Format(form), gzip.compress(b"{}"))
        assert code_of(write_rows, store, T, rows) == (
            1,
            f"{T}: the rows are compressed by gzip; decompress them first: gunzip -c FILE | ...",
        )


def test_values_that_a_format_does_not_have(table: Run) -> None:
    table("write //tmp/t", "{a=1;b=[%nan]};{c=[1]}")
    assert table("read //tmp/t --format json").err == (
        'error: //tmp/t: column "b": a double is infinite or not a number, which JSON does not have; read it '
        "as yson"
    )
    assert table("read //tmp/t --format dsv").err == (
        "error: //tmp/t: the column b holds a list, which dsv does not have; read it as yson or json"
    )


@pytest.mark.parametrize("path", ["//tmp/a[b", "//tmp/a{b}", "//tmp/[#1]"])
def test_brackets_in_names(table: Run, path: str) -> None:
    ran = table(f"create table '{path}'")
    assert (ran.code, ran.err.startswith(f"error: the path {path} is not valid at ")) == (2, True)
    name = path.removeprefix("//tmp/")
    escaped = name.replace("[", "\\[").replace("{", "\\{")
    assert table(f"create table '//tmp/{escaped}'").code == 0
    assert table("list //tmp").out == name


def test_settings_of_operations_that_are_misspelt(table: Run, store: Store) -> None:
    table("write //tmp/t", "{k=1}")
    ran = table("merge --src //tmp/t --dst //tmp/m --spec '{combine_chunk=%true;pool=night}'")
    assert (ran.code, ran.err) == (
        0,
        "note: 'combine_chunk' of the spec has no effect; did you mean 'combine_chunks'?",
    )
    assert code_of(merge, store, [T], "//tmp/m", "fast") == (
        1,
        "the mode of the merge is 'fast'; expected one of unordered, ordered, sorted, auto",
    )
    assert table("set //tmp/t/@optimize_for fast").err == (
        "error: //tmp/t: optimize_for is 'fast'; expected lookup or scan"
    )


# --- Standard input and output that are closed -----------------------------------------------------------


def test_commands_without_standard_streams(folder: Path) -> None:
    ran = run_in_shell("table write //tmp/t --at yt:store", "<&-")
    assert (ran.returncode, ran.stderr) == (
        2,
        "error: standard input is closed; the command reads it: ... < FILE\n",
    )
    ran = run_in_shell("table set //tmp/@note 1 --at yt:store", ">&-")
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = run_in_shell("table get //tmp/@note --at yt:store", ">&-")
    assert (ran.returncode, ran.stderr) == (
        3,
        "error: standard output: it is closed; send the output to where it can be written\n",
    )
    assert run_in_shell("table get //tmp/@note --at yt:store", "").stdout == "1\n"
    run_in_shell("table write //tmp/t --at yt:store", '< <(for i in {1..20000}; do echo "{k=$i};"; done)')
    ran = run_in_shell("table read //tmp/t --at yt:store", "> /dev/full")
    assert (ran.returncode, ran.stderr.startswith("error: standard output: no space left")) == (3, True)
    ran = run_in_shell("table read //tmp/t --at yt:store", "| head -n 1; echo ${PIPESTATUS[0]}")
    assert (ran.stdout, ran.stderr) == ('{"k"=1;};\n0\n', "")


# --- Keys of schemas that mean nothing -------------------------------------------------------------------


def test_seed_y05_keys_of_a_schema_that_are_ignored_are_told(table: Run) -> None:
    ran = table("create table //tmp/t --attributes '{schema=[{name=k;type=int64;sort_orde=ascending}]}'")
    assert (ran.code, ran.err) == (
        0,
        "note: the schema: column k: 'sort_orde' is ignored: did you mean 'sort_order'?",
    )
    ran = table("write '<schema=<stict=%true>[{name=k;type=int64}]>//tmp/u'", "{k=1}")
    assert (ran.code, ran.err) == (0, "note: the schema: 'stict' is ignored: did you mean 'strict'?")
