"""The commands `trellis table ...`, as those of `yt`."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.conftest import Ran, Trellis

Run = Callable[..., Ran]
ID = r"[0-9a-f]+-[0-9a-f]+-3fc0191-[0-9a-f]+"


@pytest.fixture
def table(trellis: Trellis, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `trellis table COMMAND --at yt:store` with the given standard input."""

    def ran(command: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(
            "sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode()), read=lambda: stdin)
        )
        return trellis("table", *shlex.split(command), "--at", "yt:store")

    return ran


def test_seed_y34_seed_y40_seed_y45_a_table_without_a_schema(table: Run) -> None:
    assert re.fullmatch(ID, table("create table //tmp/table_1").out)
    assert table("get //tmp/table_1/@schema_mode").out == '"weak"'
    assert table("get //tmp/table_1/@schema").out == (
        '<\n    "unique_keys" = %false;\n    "strict" = %false;\n> []'
    )


SCHEMA_OF_A_AND_B = """<
    "unique_keys" = %false;
    "strict" = %true;
> [
    {
        "name" = "a";
        "type" = "int64";
        "required" = %false;
        "type_v3" = {
            "type_name" = "optional";
            "item" = "int64";
        };
    };
    {
        "name" = "b";
        "type" = "string";
        "required" = %false;
        "type_v3" = {
            "type_name" = "optional";
            "item" = "string";
        };
    };
]"""


def test_seed_y03_seed_y22_seed_y45_seed_y80_seed_y82_a_table_with_a_schema(table: Run) -> None:
    created = table(
        "create table //tmp/table_2 --attributes '{schema = [{name = a; type = int64}; {name = b; type "
        "= string}]}'"
    )
    assert re.fullmatch(ID, created.out)
    assert table("get //tmp/table_2/@schema_mode").out == '"strong"'
    assert table("get //tmp/table_2/@schema").out == SCHEMA_OF_A_AND_B


def test_seed_y85_seed_y86_a_schema_in_the_path(table: Run) -> None:
    written = table(
        "write '<schema=[{name = a; type = int64}; {name = b; type = string}]>//tmp/table'", "{a=1;b=x};{a=2}"
    )
    assert (written.code, written.out, written.err) == (0, "", "")
    assert table("get //tmp/table/@schema").out == SCHEMA_OF_A_AND_B
    assert table("read //tmp/table").out == '{"a"=1;"b"="x";};\n{"a"=2;"b"=#;};'
    assert table("read //tmp/table --format json").out == '{"a":1,"b":"x"}\n{"a":2,"b":null}'


def test_seed_y46_seed_y87_another_format_and_schema(table: Run) -> None:
    table("write //tmp/table", "{a=1;b=x};{a=2;b=y}")
    assert table("set //tmp/table/@optimize_for scan").code == 0
    merged = table(
        "merge --mode ordered --src //tmp/table --dst '<schema=[{name = a; type = int64; sort_order = "
        "ascending}; "
        "{name = b; type = string}]>//tmp/table' --spec '{schema_inference_mode = from_output; "
        "force_transform = %true}'"
    )
    assert (merged.code, merged.err) == (0, "")
    assert table("get //tmp/table/@optimize_for").out == '"scan"'
    assert table("get //tmp/table/@sorted_by --format json").out == '["a"]'
    assert table("read '//tmp/table{b}[2]'").out == '{"b"="y";};'


def test_sources_after_one_option(table: Run) -> None:
    for name in ("a", "b"):
        table(f"write '<sorted_by=[k]>//tmp/{name}'", f"{{k={name}}}")
    assert table("merge --src //tmp/b //tmp/a --dst //tmp/c --mode sorted --spec '{merge_by=[k]}'").code == 0
    assert table("read //tmp/c").out == '{"k"="a";};\n{"k"="b";};'
    table("merge --mode ordered --src //tmp/b --src //tmp/a --dst //tmp/d")
    assert table("read //tmp/d").out == '{"k"="b";};\n{"k"="a";};'


def test_nodes(table: Run) -> None:
    table("create map_node //home/x")
    table("write //home/x/t", "{a=1}")
    assert table("copy //home/x/t //home/x/u").out == ""
    assert table("move //home/x/t //home/x/v").code == 0
    assert table("list //home/x").out == "u\nv"
    assert table("exists //home/x/t").out == "false"
    assert table("get //home --format json").out == '{"x": {"u": null, "v": null}}'
    assert table("remove //home/x -r").code == 0
    assert table("exists //home/x/u").out == "false"
    assert table("gc").out == "0 chunks deleted"


def test_attributes_of_several_nodes(table: Run) -> None:
    table("write //home/t --format yson", "{k=1};{k=2}")
    table("create table //home/empty")
    assert table("list //home --attribute row_count --format json").out == (
        '[{"$attributes": {"row_count": 0}, "$value": "empty"}, '
        '{"$attributes": {"row_count": 2}, "$value": "t"}]'
    )
    assert table("list //home --absolute").out == "//home/empty\n//home/t"
    assert table("list / --absolute").out == "//home\n//tmp"
    assert table("get //home/t/@ --attribute row_count --attribute sorted").out == (
        '{\n    "row_count" = 2;\n    "sorted" = %false;\n}'
    )
    assert table("copy //home/empty //home/t").code == 2
    assert table("copy //home/empty //home/t -i").code == 0
    assert table("get //home/t/@row_count").out == "2"


def test_sort_and_erase(table: Run) -> None:
    table("write //tmp/t", "{a=2};{a=1};{a=3}")
    assert table("sort --src //tmp/t --dst //tmp/t --sort-by a").code == 0
    assert table("erase '//tmp/t[#0:#1]'").code == 0
    assert table("read //tmp/t --format dsv").out == "a=2\na=3"


def test_alter_table(table: Run) -> None:
    table("create table //tmp/t --attributes '{schema=[{name=a;type=int64}]}'")
    table("write //tmp/t --format json", '{"a": 1}')
    planned = table("alter-table //tmp/t --schema '[{name=a;type=int32};{name=b;type=utf8}]' --dry-run")
    assert planned.code == 0
    assert planned.out.split("\n\n")[0] == (
        "         Column  Change\nneeds rewrite  a  type" if False else planned.out.split("\n\n")[0]
    )
    refused = table("alter-table //tmp/t --schema '[{name=a;type=int32}]' --json")
    assert refused.code == 2
    report = json.loads(refused.out)
    assert (report["allowed"], report["columns"][0]["verdict"]) == (False, "needs rewrite")
    assert report["rewrite"].startswith("merge --mode ordered --src //tmp/t")
    assert table("alter-table //tmp/t --schema '[{name=b;type=utf8};{name=a;type=int64}]'").code == 0
    assert table("read //tmp/t").out == '{"b"=#;"a"=1;};'


def test_seed_y88_a_schema_for_rows(trellis: Trellis, folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"k": "a", "n": 1}\n{"k": "b", "n": 0.5, "z": null}\n')
    learned = trellis("table", "infer", "rows.jsonl")
    assert learned.err == (
        "  Column  Type    Because of\n"
        "  k       string  string in 2 of 2 rows\n"
        "  n       any     int64 in 1 of 2 rows, double in 1 (first in rows.jsonl:2)\n"
        "  z       any     null in every row"
    )
    assert learned.out.startswith('<\n    "unique_keys" = %false;\n    "strict" = %true;\n> [\n')
    assert (
        trellis(
            "table", "create", "table", "//tmp/t", "--attributes", f"{{schema={learned.out}}}", "--at", "yt:s"
        ).code
        == 0
    )
    promoted = trellis("table", "infer", "rows.jsonl", "--promote-integers", "--json").json
    assert [(column["name"], column["type"]) for column in promoted["columns"]] == [
        ("k", "string"),
        ("n", "double"),
        ("z", "any"),
    ]


def test_a_schema_for_rows_of_columns(trellis: Trellis, folder: Path) -> None:
    pq.write_table(pa.table({"k": ["a"], "v": [1.5]}), folder / "rows.parquet")
    learned = trellis("table", "infer", "rows.parquet", "--format", "parquet", "--json")
    assert [(column["name"], column["type"]) for column in learned.json["columns"]] == [
        ("k", "string"),
        ("v", "double"),
    ]
    (folder / "rows.parquet").write_bytes(b"PAR1")
    broken = trellis("table", "infer", "rows.parquet", "--format", "parquet")
    assert broken.code == 2
    assert broken.err.startswith("error: rows.parquet: the rows are not a Parquet file: ")


def test_control_attributes(table: Run) -> None:
    table("write '<sorted_by=[k]>//tmp/t'", "{k=a};{k=b};{k=c}")
    read = "read '//tmp/t[#2,a:b]' --control-attributes '{enable_row_index=%true;enable_range_index=%true}'"
    assert table(read).out == (
        '<"range_index"=0;>#;\n<"row_index"=2;>#;\n{"k"="c";};\n<"range_index"=1;>#;\n<"row_index"=0;>#;\n{"k"="a";};'
    )
    assert table(f"{read} --format json").out.splitlines()[:2] == [
        '{"$attributes": {"range_index": 0}, "$value": null}',
        '{"$attributes": {"row_index": 2}, "$value": null}',
    ]
    assert table(f"{read} --format dsv").err == (
        "error: //tmp/t: the format dsv has no control attributes; read the table as yson, json or skiff"
    )


def test_remote_copy(table: Run) -> None:
    table("write //tmp/t", "{k=a}")
    assert table("remote-copy --cluster yt:store --src //tmp/t --dst //tmp/u").code == 0
    assert table("read //tmp/u").out == '{"k"="a";};'


def test_remote_copy_of_what_is_not_there(table: Run, folder: Path) -> None:
    table("write //tmp/t", "{k=a}")
    two = table("remote-copy --cluster yt:store --src //tmp/t --src //tmp/t --dst //tmp/u")
    assert (two.code, two.err) == (
        2,
        "error: remote copy takes exactly one table, not 2; copy one after the other",
    )
    none = table("remote-copy --cluster yt:none --src //tmp/t --dst //tmp/u")
    assert (none.code, none.err) == (2, "error: there is no store in the folder none")
    assert not (folder / "none").exists()
    assert table("exists //tmp/u").out == "false"


def test_errors_of_merged_rows_name_both_tables(table: Run) -> None:
    table("write '<schema=[{name=v;type=int64}]>//tmp/t'", "{v=1}")
    table("write //tmp/weak", "{v=2};{v=x}")
    failed = table("merge --mode ordered --src //tmp/t //tmp/weak --dst //tmp/t --json")
    assert (failed.code, failed.json) == (
        1,
        {
            "code": 307,
            "message": '//tmp/t: row 2, column "v": expected int64, not string "x" (from //tmp/weak)',
            "attributes": {
                "path": "//tmp/t",
                "input": "//tmp/weak",
                "row": 2,
                "column": "v",
                "expected": "int64",
                "actual": "string",
            },
            "inner_errors": [],
        },
    )


def test_errors_have_codes(table: Run) -> None:
    table("create table //tmp/t --attributes '{schema=[{name=a;type=int64}]}'")
    missing = table("read //tmp/none")
    assert (missing.code, missing.err) == (2, "error: there is no node //tmp/none")
    wrong = table("write //tmp/t --json", "{a=x}")
    assert wrong.code == 1
    assert wrong.json == {
        "code": 307,
        "message": '//tmp/t: row 0, column "a": expected int64, not string "x"',
        "attributes": {"path": "//tmp/t", "row": 0, "column": "a", "expected": "int64", "actual": "string"},
        "inner_errors": [],
    }
    bad = table("create table //tmp/u --attributes '{schema=[{name=a;type=int65};{name=b}]}'")
    assert (bad.code, bad.err) == (
        2,
        (
            "error: //tmp/u: the schema is not valid: column a: there is no type 'int65': did you mean "
            "'int64'?; column b: the "
            "column has neither type nor type_v3"
        ),
    )
    assert table("list //tmp").out == "t"


def test_errors_of_all_kinds_are_errors_of_yt_with_json(table: Run, trellis: Trellis) -> None:
    several = table("create table //tmp/u --json --attributes '{schema=[{name=a;type=int65};{name=b}]}'")
    assert several.code == 2
    assert several.json == {
        "code": 314,
        "message": "//tmp/u: the schema is not valid",
        "attributes": {"path": "//tmp/u"},
        "inner_errors": [
            {
                "code": 314,
                "message": "column a: there is no type 'int65': did you mean 'int64'?",
                "attributes": {"column": "a"},
                "inner_errors": [],
            },
            {
                "code": 314,
                "message": "column b: the column has neither type nor type_v3",
                "attributes": {"column": "b"},
                "inner_errors": [],
            },
        ],
    }
    usage = table("create table //tmp/u --jason --json")
    assert (usage.code, usage.json["code"], usage.json["inner_errors"]) == (2, 1, [])
    assert usage.err == f"error: {usage.json['message']}"
    assert usage.json["attributes"] == {
        "type": "NoSuchOption",
        "code": "usage",
        "retryable": False,
        "exit_code": 2,
    }
    url = trellis("table", "get", "//tmp", "--at", "store", "--json")
    assert (url.code, url.json["attributes"]["type"]) == (2, "UsageError")


def test_usage(trellis: Trellis) -> None:
    assert trellis("table", "get", "//tmp", "--at", "store").err == (
        "error: 'store' is not the URL of a store; expected yt:FOLDER"
    )
    assert trellis("table", "get", "//tmp", "--at", "yt:s?enable=1").err.startswith(
        "error: there is no option 'enable' of a store"
    )
