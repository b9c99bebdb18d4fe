"""The command `yt`, unmodified, against the server."""

from __future__ import annotations

import re

import pytest

from dialects.ytsaurus.server.conftest import Yt
from dialects.ytsaurus.test_commands import ID, SCHEMA_OF_A_AND_B

A_AND_B = "[{name = a; type = int64}; {name = b; type = string}]"


@pytest.fixture
def store_url(tmp_path: object) -> str:
    return f"yt:{tmp_path}/store"


def lines(text: str) -> str:
    """Without blanks at the ends of lines, which `yt` prints after brackets."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_seed_y40_seed_y45_seed_y80_seed_y82_tables_with_and_without_a_schema(yt: Yt) -> None:
    assert re.fullmatch(ID, yt("create", "table", "//tmp/table_1").stdout.strip())
    assert yt("get", "//tmp/table_1/@schema_mode").stdout.strip() == '"weak"'
    weak = yt("get", "//tmp/table_1/@schema").stdout
    assert lines(weak) == '<\n    "unique_keys" = %false;\n    "strict" = %false;\n> []'
    created = yt("create", "table", "//tmp/table_2", "--attributes", f"{{schema = {A_AND_B}}}")
    assert re.fullmatch(ID, created.stdout.strip())
    assert yt("get", "//tmp/table_2/@schema_mode").stdout.strip() == '"strong"'
    assert lines(yt("get", "//tmp/table_2/@schema").stdout) == SCHEMA_OF_A_AND_B


def test_seed_y85_seed_y86_seed_y87_a_schema_in_the_path_and_another_layout(yt: Yt) -> None:
    written = yt("write", f"<schema={A_AND_B}>//tmp/table", "--format", "yson", stdin="{a=1;b=x};{a=2;b=y};")
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    assert yt("set", "//tmp/table/@optimize_for", "scan").returncode == 0
    target = (
        "<schema=[{name = a; type = int64; sort_order = ascending}; {name = b; type = string}]>//tmp/table"
    )
    spec = "{schema_inference_mode = from_output; force_transform = %true}"
    merged = yt("merge", "--mode", "ordered", "--src", "//tmp/table", "--dst", target, "--spec", spec)
    assert merged.returncode == 0, merged.stderr
    assert yt("get", "//tmp/table/@optimize_for").stdout.strip() == '"scan"'
    assert yt("read", "//tmp/table{b}[2]", "--format", "json").stdout == '{"b":"y"}\n'


def test_other_verbs(yt: Yt) -> None:
    yt("write", "<sorted_by=[k]>//tmp/a", "--format", "json", stdin='{"k":"a","v":2}\n{"k":"b","v":1}\n')
    assert yt("sort", "--src", "//tmp/a", "--dst", "//tmp/s", "--sort-by", "v").returncode == 0
    assert yt("read", "//tmp/s", "--format", "dsv").stdout == "v=1\tk=b\nv=2\tk=a\n"
    merged = yt("merge", "--src", "//tmp/a", "--src", "//tmp/a", "--dst", "//tmp/m", "--mode", "sorted")
    assert merged.returncode == 0, merged.stderr
    assert yt("get", "//tmp/m/@row_count").stdout.strip() == "4"
    assert yt("erase", "//tmp/m[#1:]").returncode == 0
    assert yt("read", "//tmp/m", "--format", "json").stdout == '{"k":"a","v":2}\n'
    assert yt("list", "//tmp").stdout.split() == ["a", "m", "s"]
    assert yt("copy", "//tmp/a", "//tmp/c").returncode == 0
    assert yt("move", "//tmp/c", "//tmp/d").returncode == 0
    assert (yt("exists", "//tmp/c").stdout.strip(), yt("exists", "//tmp/d").stdout.strip()) == (
        "false",
        "true",
    )
    assert yt("remove", "//tmp/d").returncode == 0


def test_alter_table(yt: Yt) -> None:
    yt("create", "table", "//tmp/t", "--attributes", f"{{schema={A_AND_B}}}")
    yt("write", "//tmp/t", "--format", "json", stdin='{"a":1}\n')
    wider = "[{name=a;type=int64};{name=b;type=string};{name=c;type=utf8}]"
    assert yt("alter-table", "//tmp/t", "--schema", wider).returncode == 0
    assert yt("read", "//tmp/t", "--format", "json").stdout == '{"a":1,"b":null,"c":null}\n'
    refused = yt("alter-table", "//tmp/t", "--schema", "[{name=a;type=int8}]")
    assert (refused.returncode, "int64 becomes" in refused.stderr or "316" in refused.stderr) == (1, True)


def test_transactions_of_scripts(yt: Yt) -> None:
    transaction = yt("start-tx", "--timeout", "60000").stdout.strip()
    assert re.fullmatch(ID.replace("191", "001"), transaction)
    yt("--tx", transaction, "write", "//tmp/t", "--format", "json", stdin='{"a":1}\n')
    assert yt("exists", "//tmp/t").stdout.strip() == "false"
    assert yt("--tx", transaction, "lock", "//tmp/t").returncode == 0
    assert yt("ping-tx", transaction).returncode == 0
    assert yt("commit-tx", transaction).returncode == 0
    assert yt("read", "//tmp/t", "--format", "json").stdout == '{"a":1}\n'
    other = yt("start-tx").stdout.strip()
    yt("--tx", other, "remove", "//tmp/t")
    assert yt("abort-tx", other).returncode == 0
    assert yt("exists", "//tmp/t").stdout.strip() == "true"


def test_a_write_that_fails(yt: Yt) -> None:
    failed = yt("write", f"<schema={A_AND_B}>//tmp/t", "--format", "json", stdin='{"a":1}\n{"a":"x"}\n')
    assert failed.returncode == 1
    assert 'row 1, column "a": expected int64, not string "x"' in failed.stderr
    assert yt("exists", "//tmp/t").stdout.strip() == "false"
