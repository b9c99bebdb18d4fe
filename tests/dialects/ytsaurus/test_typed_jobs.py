"""Jobs of scripts that know where rows come from, on rows as objects, and joins with foreign tables."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yt.wrapper as original

import trellis.dialects.ytsaurus.client as yt
from dialects.ytsaurus.test_client import ROWS, SCHEMA, client, code_of, table
from dialects.ytsaurus.test_tables import T
from trellis.dialects.ytsaurus.store.rewriting import planning
from trellis.dialects.ytsaurus.types.model import Type

__all__ = ["client", "table"]

OUT, SECOND = "//tmp/out", "//tmp/second"


def rows_of(opened: yt.YtClient, path: Any) -> list[Any]:
    return [*opened.read_table(path)]


# --- Places of rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1, planning.RANGE_WEIGHT])
def test_functions_with_context(table: yt.YtClient, monkeypatch: pytest.MonkeyPatch, weight: int) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", weight)
    table.write_table("//tmp/other", [{"k": "b", "v": 7}])
    table.run_sort("//tmp/other", sort_by="k")

    @yt.with_context
    def place(row: Any, context: Any) -> Iterator[Any]:
        yield {"v": row["v"], "at": [context.table_index, context.range_index, context.row_index]}

    sources = [f"{T}[#3,#0:#2]", "//tmp/other"]
    table.run_map(place, sources, OUT)
    assert [row["at"] for row in rows_of(table, OUT)] == [[0, None, None]] * 3 + [[1, None, None]]
    controls = {"control_attributes": {"enable_row_index": True, "enable_range_index": True}}
    table.run_map(place, sources, OUT, job_io=controls)
    assert rows_of(table, OUT) == [
        {"v": 4, "at": [0, 0, 3]},
        {"v": 1, "at": [0, 1, 0]},
        {"v": 2, "at": [0, 1, 1]},
        {"v": 7, "at": [1, 0, 0]},
    ]

    @yt.with_context
    def tables(key: Any, rows: Any, context: Any) -> Iterator[Any]:
        yield {**key, "tables": [context.table_index for _ in rows]}

    table.run_reduce(tables, [T, "//tmp/other"], OUT, reduce_by="k", spec={"job_io": controls})
    assert [row["tables"] for row in rows_of(table, OUT)] == [[0], [0, 0, 1], [0]]


def test_places_as_columns_and_as_control_attributes(table: yt.YtClient) -> None:
    controls = {"enable_row_index": True, "enable_table_index": True}
    fields = yt.YsonFormat(control_attributes_mode="row_fields")
    table.run_map(lambda row: [{"n": row["@row_index"], "t": row["@table_index"]}], [T, f"{T}[#2]"], OUT,
                  format=fields, job_io={"control_attributes": controls})  # fmt: skip
    assert rows_of(table, OUT) == [
        {"n": 0, "t": 0}, {"n": 1, "t": 0}, {"n": 2, "t": 0}, {"n": 3, "t": 0}, {"n": 2, "t": 1}
    ]  # fmt: skip
    keep = 'sed \'s/.*/{"line"="&"};/; s/"\\([a-z_]*\\)"=/\\1=/g; s/="\\([a-z]\\)"/=\\1/g; s/line=/"line"=/\''
    table.run_map(
        keep, [f"{T}{{v}}[#3,#0:#2]", f"{T}{{v}}[#1]"], OUT, job_io={"control_attributes": controls}
    )
    assert [row["line"] for row in rows_of(table, OUT)] == [
        "<table_index=0;>#;", "<row_index=3;>#;", "{v=4;};", "<row_index=0;>#;", "{v=1;};", "{v=2;};",
        "<table_index=1;>#;", "<row_index=1;>#;", "{v=2;};",
    ]  # fmt: skip
    assert code_of(table.run_map, "cat", T, OUT, format="dsv", job_io={"control_attributes": controls}) == (
        1,
        "the format dsv has no control attributes; expected yson or json",
    )
    wrong = {"control_attributes": {"enable_row_indx": True}}
    assert code_of(table.run_map, "cat", T, OUT, job_io=wrong) == (
        1,
        "there is no control attribute 'enable_row_indx': did you mean 'enable_row_index'?",
    )


def test_places_of_rows_that_are_read(table: yt.YtClient) -> None:
    controls = {"enable_row_index": True, "enable_range_index": True}
    path = f"{T}[#3,#0:#2]"
    rows = table.read_table(path, control_attributes=controls)
    assert [(row["v"], rows.range_index, rows.get_row_index()) for row in rows] == [
        (4, 0, 3),
        (1, 1, 0),
        (2, 1, 1),
    ]
    fields = yt.YsonFormat(control_attributes_mode="row_fields")
    rows = table.read_table(path, format=fields, control_attributes=controls)
    assert next(rows) == {"k": "c", "v": 4, "@table_index": None, "@range_index": 0, "@row_index": 3}
    structured = table.read_table_structured(path).with_context()
    assert [(row.v, context.get_range_index(), context.get_row_index()) for row, context in structured] == [
        (4, 0, 3),
        (1, 1, 0),
        (2, 1, 1),
    ]
    assert code_of(yt.YsonFormat, control_attributes_mode="columns") == (
        1,
        "control_attributes_mode is 'columns'; expected iterator, row_fields or none",
    )


def test_switches_between_outputs_and_classes_of_jobs(table: yt.YtClient) -> None:
    class Split:
        def start(self) -> Iterator[Any]:
            yield {"v": 0}

        def __call__(self, row: Any) -> Iterator[Any]:
            yield yt.create_table_switch(row["v"] % 2)
            yield {"v": row["v"]}

        def finish(self) -> Iterator[Any]:
            yield {"v": 9}

    table.run_map(Split(), T, [OUT, SECOND])
    assert [row["v"] for row in rows_of(table, OUT)] == [0, 2, 4, 9]
    assert [row["v"] for row in rows_of(table, SECOND)] == [1, 3]
    code, message = code_of(table.run_map, lambda row: [row["x"]], T, OUT)
    assert (code, message.partition("failed")[2]) == (1205, ": KeyError: 'x'")


# --- Joins and combiners ---------------------------------------------------------------------------------


@pytest.fixture
def joined(client: yt.YtClient) -> yt.YtClient:
    urls = [{"host": str(n // 2), "url": str(n), "v": n} for n in range(2, 10)]
    client.write_table(yt.TablePath("//tmp/urls", sorted_by=["host", "url"]), urls)
    hosts = [{"host": str(n), "name": f"h{n}"} for n in (0, 1, 2, 4, 7)]
    client.write_table(yt.TablePath("//tmp/hosts", sorted_by=["host"]), hosts)
    return client


def list_group(key: Any, rows: Iterable[Any]) -> Iterator[Any]:
    yield {**key, "rows": [row.get("name") or row["v"] for row in rows]}


@pytest.mark.parametrize("weight", [1, planning.RANGE_WEIGHT])
def test_a_reduce_with_foreign_tables(
    joined: yt.YtClient, monkeypatch: pytest.MonkeyPatch, weight: int
) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", weight)
    hosts = yt.TablePath("//tmp/hosts", foreign=True)
    expected = [
        {"host": "1", "rows": ["h1", 2, 3]},
        {"host": "2", "rows": ["h2", 4, 5]},
        {"host": "3", "rows": [6, 7]},
        {"host": "4", "rows": ["h4", 8, 9]},
    ]
    joined.run_reduce(list_group, [hosts, "//tmp/urls"], OUT, reduce_by=["host", "url"], join_by="host")
    assert rows_of(joined, OUT) == expected
    joined.run_join_reduce(list_group, ["//tmp/urls", hosts], OUT, join_by=["host"])
    assert [row["rows"] for row in rows_of(joined, OUT)] == [[2, 3, "h1"], [4, 5, "h2"], [6, 7], [8, 9, "h4"]]
    builder = yt.JoinReduceSpecBuilder().input_table_paths([hosts, "//tmp/urls"]).output_table_paths(OUT)
    joined.run_operation(builder.join_by("host").begin_reducer().command(list_group).end_reducer())
    assert rows_of(joined, OUT) == expected


def test_joins_that_are_wrong(joined: yt.YtClient) -> None:
    hosts = yt.TablePath("//tmp/hosts", foreign=True)
    run, both = joined.run_reduce, [hosts, "//tmp/urls"]
    assert code_of(run, list_group, both, OUT, reduce_by="host") == (
        1,
        "//tmp/hosts has the attribute foreign; a reduce with such tables needs join_by",
    )
    assert code_of(run, list_group, "//tmp/urls", OUT, reduce_by="host", join_by="host") == (
        1,
        "join_by joins foreign tables, and no input is one; mark some: <foreign=%true>//home/t",
    )
    assert code_of(run, list_group, hosts, OUT, reduce_by="host", join_by="host") == (
        1,
        "all inputs have the attribute foreign; leave one primary, whose rows they are joined to",
    )
    assert code_of(run, list_group, both, OUT, reduce_by=["host", "url"], join_by="url") == (
        1,
        "join_by is url, and reduce_by host, url; reduce_by must begin with the columns of join_by",
    )


def test_a_combiner(client: yt.YtClient) -> None:
    client.write_table(T, [{"line": "b a"}, {"line": "a c a"}])

    def words(row: Any) -> Iterator[Any]:
        yield from ({"word": word, "n": 1} for word in row["line"].split())

    def add(key: Any, rows: Any) -> Iterator[Any]:
        yield {**key, "n": sum(row["n"] for row in rows)}

    def count(key: Any, rows: Any) -> Iterator[Any]:
        yield {**key, "n": [row["n"] for row in rows]}

    client.run_map_reduce(words, count, T, OUT, reduce_by="word", reduce_combiner=add)
    assert rows_of(client, OUT) == [{"word": "a", "n": [3]}, {"word": "b", "n": [1]}, {"word": "c", "n": [1]}]
    builder = yt.MapReduceSpecBuilder().input_table_paths(T).output_table_paths(OUT).reduce_by("word")
    builder = builder.begin_mapper().command(words).format("json").end_mapper()
    builder = builder.begin_reduce_combiner().command(add).end_reduce_combiner()
    client.run_operation(builder.begin_reducer().command(count).end_reducer())
    assert [row["n"] for row in rows_of(client, OUT)] == [[3], [1], [1]]
    assert client.list("/") == ["home", "tmp"]


# --- Rows as objects -------------------------------------------------------------------------------------


@yt.yt_dataclass
class Visit:
    k: str
    v: int | None


@yt.yt_dataclass
class Count:
    k: str
    n: int


@yt.yt_dataclass
class Note:
    text: bytes
    places: list[int]


class CountVisits(yt.TypedJob):
    def __call__(self, visits: yt.schema.RowIterator[Visit]) -> Iterable[Count]:
        rows = [*visits]
        yield Count(rows[0].k, len(rows))


@yt.with_context
class Route(yt.TypedJob):
    """Counts to the first output, notes to the second."""

    def __call__(self, row: Visit, context: Any) -> Iterable[yt.OutputRow[yt.schema.Variant[Count, Note]]]:
        yield yt.OutputRow(Count(row.k, row.v or 0), table_index=0)
        places = [context.get_table_index(), context.get_range_index(), context.get_row_index()]
        yield yt.OutputRow(Note(b"\xff", places), table_index=1)


class Renamed(yt.TypedJob):
    def prepare_operation(self, context: Any, preparer: Any) -> None:
        assert [schema.columns[0].name for schema in context.get_input_schemas()] == ["k"]
        assert context.get_output_schemas() == [None]
        preparer.input(0, type=Count, column_renaming={"v": "n"}, column_filter=["k", "n"])
        preparer.outputs([0], type=Count, infer_strict_schema=False)

    def __call__(self, row: Any) -> Any:
        yield row


def types_of(opened: yt.YtClient, path: str) -> dict[str, str]:
    columns: dict[str, Type] = {column.name: column.type for column in opened.get_table_schema(path).columns}
    return {name: str(type) for name, type in columns.items()}


def test_typed_jobs(table: yt.YtClient) -> None:
    table.run_reduce(CountVisits(), T, yt.TablePath(OUT, sorted_by=["k"]), reduce_by="k")
    assert rows_of(table, OUT) == [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "c", "n": 1}]
    assert (types_of(table, OUT), table.get_sorted_by(OUT)) == ({"k": "utf8", "n": "int64"}, ["k"])
    table.run_map(Route(), f"{T}[#3,#0]", [SECOND, "//tmp/notes"])
    assert rows_of(table, SECOND) == [{"k": "c", "n": 4}, {"k": "a", "n": 1}]
    notes = [*table.read_table_structured("//tmp/notes", Note)]
    assert notes == [Note(b"\xff", [0, 0, 3]), Note(b"\xff", [0, 1, 0])]
    assert types_of(table, "//tmp/notes") == {"text": "string", "places": "list<int64>"}
    table.run_map(Renamed(), T, "//tmp/renamed")
    assert rows_of(table, "//tmp/renamed[#0]") == [{"k": "a", "n": 1}]
    assert not table.get("//tmp/renamed/@schema/@strict")
    table.run_map_reduce(Renamed2(), CountCounts(), T, "//tmp/reduced", reduce_by="k")
    assert rows_of(table, "//tmp/reduced") == [{"k": "a", "n": 1}, {"k": "b", "n": 5}, {"k": "c", "n": 4}]


class Renamed2(yt.TypedJob):
    def __call__(self, row: Visit) -> Iterable[Count]:
        yield Count(row.k, row.v or 0)


class CountCounts(yt.TypedJob):
    def __call__(self, rows: yt.schema.RowIterator[Count]) -> Iterable[Count]:
        (first, *others) = rows
        yield Count(first.k, first.n + sum(row.n for row in others))


class Untyped(yt.TypedJob):
    def __call__(self, row):  # type: ignore[no-untyped-def]
        yield row


class Streams(Renamed2):
    def get_intermediate_stream_count(self) -> int:
        return 2


def test_typed_jobs_that_are_wrong(table: yt.YtClient) -> None:
    assert code_of(table.run_map, Untyped(), T, OUT) == (
        1,
        (
            "Untyped.__call__ has no annotations of its first argument and of what it gives; expected some "
            "such as (self, row: Visit) -> Iterable[Count], or prepare_operation"
        ),
    )
    assert code_of(table.run_map, Route(), T, OUT) == (
        1,
        "Route.__call__ names 2 output types; the job has 1 tables",
    )
    assert code_of(table.run_map, Streams(), T, OUT)[1].startswith(
        "get_intermediate_stream_count of Streams is 2; "
    )
    code, message = code_of(table.run_map, CountVisits(), f"{T}{{k}}", OUT)
    assert (code, message) == (
        1205,
        "the function CountVisits failed: TypeError: Value after * must be an iterable, not Visit",
    )
    assert not table.exists(OUT)


# --- The same surface ------------------------------------------------------------------------------------


def test_arguments_come_in_the_order_of_the_original() -> None:
    for name in dir(yt.YtClient):
        function, method = getattr(original, name, None), getattr(yt.YtClient, name)
        if name.startswith("_") or not inspect.isfunction(function) or not inspect.isfunction(method):
            continue
        theirs = [*inspect.signature(function).parameters]
        for index, parameter in enumerate([*inspect.signature(method).parameters.values()][1:]):
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                assert theirs.index(parameter.name) == index, (name, parameter.name)


def test_what_a_store_does_not_have_is_named(table: yt.YtClient, tmp_path: Path) -> None:
    script = "//tmp/script.py"
    assert code_of(table.run_map, "cat", T, OUT, yt_files=[script]) == (
        1,
        "yt_files: a store has no files; name those of this machine with local_files",
    )
    assert code_of(table.run_map_reduce, "cat", "cat", T, OUT, map_yt_files=script, reduce_by="k") == (
        1,
        "map_yt_files: a store has no files; name those of this machine with map_local_files",
    )
    assert code_of(table.run_reduce, "cat", T, OUT, reduce_by="k", stderr_table="//tmp/errors") == (
        1,
        "stderr_table: a store keeps no errors of jobs; that of one that fails is in its message",
    )
    assert code_of(table.run_map, lambda row: [row], T, OUT, format="dsv") == (
        1,
        "the format dsv is for commands; a function takes and gives rows of yson or json",
    )
    assert code_of(table.run_map, "cat", T, OUT, format="arrow") == (
        1,
        "the format arrow is not one of jobs; expected one of yson, json, dsv, schemaful_dsv, yaml",
    )
    assert code_of(table.write_table, T, b"", format="json", raw=True, is_stream_compressed=True) == (
        1,
        "is_stream_compressed: rows are not decompressed here; open them with gzip.open",
    )
    assert rows_of(table, T) == ROWS


def test_values_in_formats(table: yt.YtClient) -> None:
    assert table.get(f"{T}/@row_count", format="json") == b"4"
    assert table.get(f"{T}/@schema/0/name", format=yt.YsonFormat(format="text")) == b'"k"'
    assert table.list("/", format="json") == b'["home", "tmp"]'
    table.set(f"{T}/@note", b'{"a": [1]}', format="json")
    assert table.get(f"{T}/@note") == {"a": [1]}
    assert [column["name"] for column in SCHEMA] == ["k", "v"]


def test_fields_without_a_key_in_scripts_and_jobs(tmp_path: Path) -> None:
    with yt.YtClient(f"yt:{tmp_path}/store") as client:
        with pytest.warns(UserWarning, match=f"^{T}: 2 fields without '=' skipped"):
            client.write_table(yt.TablePath(T, append=True), b"tskv\ta=1\t\nb=2\n\tz\n", format="dsv")
        with pytest.warns(
            UserWarning, match="^the output of the command 'echo x': 1 field without '=' skipped"
        ):
            client.run_map("echo x", T, "//tmp/m", format="dsv")
        assert [*client.read_table("//tmp/m")] == [{}]
