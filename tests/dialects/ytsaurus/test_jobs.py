"""Map, reduce and map-reduce, with commands and functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dialects.ytsaurus.jobs import on_groups, on_rows
from dialects.ytsaurus.test_commands import Run, table
from dialects.ytsaurus.test_operations import files
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of
from trellis.dialects.ytsaurus.client import YtClient
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.jobs.job import Command
from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows, map_rows, reduce_rows
from trellis.dialects.ytsaurus.store.rewriting import planning
from trellis.dialects.ytsaurus.store.store import Store

__all__ = ["table"]

JSON = Format("json")
K = [SortColumn("k")]
GIVEN = "//tmp/t: a row that the job gave"


def command(text: str, **options: Any) -> Command:
    return Command(text, JSON, JSON, **options)


def add_one(row: Any) -> Iterator[Any]:
    yield {"k": row["k"], "v": row["v"] + 1}


def split_words(row: Any) -> Iterator[Any]:
    for word in row["line"].split():
        yield {"word": word, "n": 1}


def count_words(key: Any, rows: Iterable[Any]) -> Iterator[Any]:
    yield {"word": key["word"], "n": sum(row["n"] for row in rows)}


@pytest.fixture
def tables(store: Store) -> Store:
    create(store, "[k:string^, v]", "//tmp/a", "{k=a;v=1};{k=b;v=2};{k=b;v=3};{k=c;v=4}")
    create(store, "[k:string^, w]", "//tmp/b", "{k=b;w=7};{k=d;w=8}")
    return store


def test_a_map_with_a_command(tables: Store) -> None:
    map_rows(tables, command('sed \'s/"v"/"w"/\''), ["//tmp/a{v}[b:]"], [T])
    assert (read(tables), schema_of(tables)) == ("{w=2}{w=3}{w=4}", "~[] weak")


def test_formats_of_jobs_have_modes(store: Store) -> None:
    create(store, "[k:date^, v:string]", "//tmp/a", '{k=0u;v="5"};{k=1u;v="6"}')
    create(store, "[k:date^, v]")
    job = Command(
        "sed s/1970-01/2026-01/",
        Format.parse("<time_mode=text>json"),
        Format.parse("<time_mode=text;enable_string_to_all_conversion=%true>json"),
    )
    map_rows(store, job, ["//tmp/a"], [T])
    assert read(store) == "{k=20454u;v=5}{k=20455u;v=6}"
    reduce_rows(store, job, ["//tmp/a"], [T], K)
    assert read(store) == "{k=20454u;v=5}{k=20455u;v=6}"


def test_a_map_with_a_function_keeps_the_order_through_many_tasks(
    tables: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", 1)
    create(tables, "[k:string, v]")
    map_rows(tables, on_rows(add_one), ["//tmp/a"], [T])
    assert (read(tables), schema_of(tables)) == (
        "{k=a;v=2}{k=b;v=3}{k=b;v=4}{k=c;v=5}",
        "[k:optional<string>, v] strong",
    )
    map_rows(tables, on_rows(add_one), ["//tmp/a[a]"], [f"<append=%true>{T}"])
    assert read(tables, f"{T}[#4:]") == "{k=a;v=2}"


def test_several_outputs(tables: Store) -> None:
    create(tables, "[k:string^, v]", "//tmp/sorted")
    both = "tee /dev/fd/4 > /dev/null"
    map_rows(tables, command(both), ["//tmp/a"], [T, "//tmp/sorted"])
    assert (read(tables), read(tables, "//tmp/sorted[c]")) == ("", "{k=c;v=4}")

    def route(row: Any) -> Iterator[Any]:
        yield {"v": row["v"], "@table_index": row["v"] % 2}

    map_rows(tables, on_rows(route), ["//tmp/a"], [T, "//tmp/odd"])
    assert (read(tables), read(tables, "//tmp/odd")) == ("{v=2}{v=4}", "{v=1}{v=3}")


def test_a_reduce_has_all_rows_of_a_key_in_one_group(tables: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", 1)

    def list_rows(key: Any, rows: Iterable[Any]) -> Iterator[Any]:
        yield {**key, "values": [row.get("v") or row.get("w") for row in rows]}

    reduce_rows(tables, on_groups(list_rows), ["//tmp/a", "//tmp/b"], [T], K)
    assert read(tables) == "{k=a;values=[1]}{k=b;values=[2;3;7;]}{k=c;values=[4]}{k=d;values=[8]}".replace(
        "]}", ";]}"
    ).replace(";;", ";")
    reduce_rows(tables, command("uniq -w 8 -c | sed 's/.*{/{/'"), ["//tmp/a{k}"], [T], K)
    assert read(tables) == "{k=a}{k=b}{k=c}"


def test_seed_y73_rows_that_cannot_be_altered_are_mapped(tables: Store) -> None:
    create(tables, "[k:string^, v:double!]")
    as_double = 'sed \'s/"v":\\([0-9]*\\)/"v":\\1.0/\''
    map_rows(tables, command(as_double), ["//tmp/a"], [T])
    assert read(tables, f"{T}[b]") == "{k=b;v=2.}{k=b;v=3.}"


def test_words_are_counted(store: Store, tmp_path: Path) -> None:
    create(store, None, "//tmp/text", '{line="b a"};{line="a c a"}')
    create(store, "[word:string!^, n]")
    with YtClient(f"yt:{tmp_path}/store") as client:
        client.run_map_reduce(split_words, count_words, "//tmp/text", T, reduce_by="word")
        client.run_map_reduce(None, count_words, T, "//tmp/again", reduce_by=["word"])
    assert read(store) == "{word=a;n=3}{word=b;n=1}{word=c;n=1}"
    assert read(store, "//tmp/again") == "{word=a;n=3}{word=b;n=1}{word=c;n=1}"
    assert [node.name for node in store.catalog.children(store.node("/").id)] == ["home", "tmp"]
    assert len(files(tmp_path)) == 3


def test_functions_of_the_client(tables: Store, tmp_path: Path) -> None:
    with YtClient(f"yt:{tmp_path}/store") as client:
        client.run_map(add_one, "//tmp/a", T)
        assert [*client.read_table(f"{T}[#3]")] == [{"k": "c", "v": 5}]
        client.run_reduce(lambda key, rows: [dict(key)], "//tmp/a", T, reduce_by="k")
        assert [*client.read_table(T)] == [{"k": "a"}, {"k": "b"}, {"k": "c"}]
        client.run_map("head -n 1", "//tmp/a", T, format="json")
        assert [*client.read_table(T)] == [{"k": "a", "v": 1}]


def test_jobs_that_fail(tables: Store, tmp_path: Path) -> None:
    create(tables, "[k:string^, v]u", rows="{k=z;v=0}")
    before = files(tmp_path)
    assert code_of(map_rows, tables, command("echo no such thing >&2; exit 3"), ["//tmp/a"], [T]) == (
        1205,
        "the command 'echo no such thing >&2; exit 3' ended with code 3: no such thing",
    )
    code, message = code_of(map_rows, tables, on_rows(lambda row: [row["x"]]), ["//tmp/a"], [T])
    assert (code, message.partition("failed")[2]) == (1205, ": KeyError: 'x'")
    assert code_of(map_rows, tables, command("echo 5"), ["//tmp/a"], [T]) == (
        1205,
        "the output of the command 'echo 5': line 1 is not a JSON object; expected a row such as {\"k\": 1}",
    )
    assert code_of(map_rows, tables, command("cat"), ["//tmp/a"], [T]) == (
        306,
        f'{GIVEN}: the key ["b";] is that of the row before it, and keys of the table are unique',
    )
    assert code_of(map_rows, tables, command("sed 's/1/\"x\"/'"), ["//tmp/a"], [T]) == (
        307,
        f'{GIVEN}: column "v": expected int64, not string "x"',
    )
    assert code_of(reduce_rows, tables, command("cat"), ["//tmp/a"], [T], [SortColumn("v")]) == (
        1,
        "//tmp/a is sorted by k; reduce needs it sorted by v: sort it, or use map-reduce",
    )
    assert code_of(map_reduce_rows, tables, None, command("cat"), ["//tmp/a"], [T], K, [SortColumn("v")]) == (
        1,
        "sort_by is v, and reduce_by k; sort_by must begin with the columns of reduce_by",
    )
    assert code_of(map_rows, tables, command("cat"), ["//tmp/a"], [T, T])[0] == 1
    assert (read(tables), files(tmp_path)) == ("{k=z;v=0}", before)


def test_the_commands(table: Run, folder: Path) -> None:
    (folder / "double.py").write_text(
        "import sys\nfor line in sys.stdin: print(line, line, sep='', end='')\n"
    )
    table("create map_node //tmp")
    table(f"write {T} --format json", '{"k":"b"}\n{"k":"a"}\n{"k":"b"}\n')
    ran = table(
        f"map 'python3 double.py' --src {T} --dst //tmp/m --format json --local-file double.py --json"
    )
    assert ran.json == {"paths": ["//tmp/m"]}
    assert table("read //tmp/m --format json").out.count("\n") == 5
    uniq = "map-reduce --reducer 'uniq -c | sed s/.*{/{/' --reduce-by k --format json"
    assert table(f"{uniq} --src //tmp/m --dst //tmp/r").code == 0
    assert table("read //tmp/r --format json").out == '{"k":"a"}\n{"k":"b"}'
    assert table("sort --src //tmp/m --dst //tmp/s --sort-by k").code == 0
    assert table("reduce uniq --src //tmp/s --dst //tmp/u --reduce-by k --format json").code == 0
    assert table("read //tmp/u --format json").out == '{"k":"a"}\n{"k":"b"}'
    ran = table("map false --src //tmp/m --dst //tmp/m --format json")
    assert (ran.code, ran.err) == (2, "error: the command false ended with code 1: no message")


def test_commands_with_joins_and_combiners(table: Run) -> None:
    table("write '<sorted_by=[host]>//tmp/hosts'", "{host=a;name=x};{host=c;name=y}")
    table("write '<sorted_by=[host;url]>//tmp/urls'", "{host=a;url=1};{host=a;url=2};{host=b;url=3}")
    both = "--src '<foreign=%true>//tmp/hosts' //tmp/urls --dst //tmp/r --format json"
    ran = table(f"reduce cat {both} --reduce-by host --reduce-by url --join-by host")
    assert (ran.code, ran.err) == (0, "")
    assert table("read //tmp/r --format json").out.splitlines() == [
        '{"host":"a","name":"x"}',
        '{"host":"a","url":1}',
        '{"host":"a","url":2}',
        '{"host":"b","url":3}',
    ]
    assert table(f"reduce cat {both} --reduce-by host").err == (
        "error: //tmp/hosts has the attribute foreign; a reduce with such tables needs join_by"
    )
    combined = "map-reduce --reduce-combiner 'head -n 1' --reducer cat --reduce-by url --format json"
    assert table(f"{combined} --src //tmp/urls --dst //tmp/r").code == 0
    assert table("read //tmp/r{url} --format json").out == '{"url":1}'
