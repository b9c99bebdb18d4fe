"""Scripts for YTsaurus with their import changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

import trellis.dialects.ytsaurus.client as yt
from dialects.ytsaurus.test_tables import T
from trellis.errors import UsageError

SCHEMA = [{"name": "k", "type": "string", "sort_order": "ascending"}, {"name": "v", "type": "int64"}]
ROWS = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "b", "v": 3}, {"k": "c", "v": 4}]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[yt.YtClient]:
    with yt.YtClient(proxy=f"yt:{tmp_path}/store") as opened:
        yield opened


@pytest.fixture
def table(client: yt.YtClient) -> yt.YtClient:
    client.create("table", T, attributes={"schema": SCHEMA})
    client.write_table(T, ROWS)
    return client


def code_of(action: Any, *arguments: Any, **options: Any) -> tuple[int, str]:
    with pytest.raises(yt.YtError) as error:
        action(*arguments, **options)
    return int(error.value.code), str(error.value)


def test_seed_y81_seed_y83_a_table(client: yt.YtClient) -> None:
    schema = [{"name": "a", "type": "int64"}, {"name": "b", "type": "string"}]
    client.create_table("//tmp/table", attributes={"schema": schema})
    stored = client.get("//tmp/table/@schema")
    assert stored.attributes == {"strict": True, "unique_keys": False}
    assert [(column["name"], column["type"]) for column in stored] == [("a", "int64"), ("b", "string")]
    client.write_table("//tmp/table", [{"a": 1, "b": "x"}])
    assert list(client.read_table("//tmp/table")) == [{"a": 1, "b": "x"}]


def test_parts_of_tables(table: yt.YtClient) -> None:
    assert list(table.read_table(yt.TablePath(T, columns=["v"], start_index=1, end_index=3))) == [
        {"v": 2},
        {"v": 3},
    ]
    assert list(table.read_table(yt.TablePath(T, exact_key="b", rename_columns={"v": "n"}))) == [
        {"k": "b", "n": 2},
        {"k": "b", "n": 3},
    ]
    assert code_of(yt.TablePath, T, lower_key="a", start_index=1) == (
        1,
        "//tmp/t: the lower limit has both a key and a row number; expected one of them",
    )
    assert str(yt.TablePath(T, append=True, sorted_by=["k"])) == '<"append"=%true;"sorted_by"=["k";];>//tmp/t'


def test_raw_rows(table: yt.YtClient) -> None:
    table.write_table(yt.TablePath(T, append=True), '{"k": "d", "v": 5}\n', format="json", raw=True)
    assert table.read_table(f"{T}[#4]", format="json", raw=True).read() == b'{"k":"d","v":5}\n'
    assert list(table.read_table(f"{T}[#4]")) == [{"k": "d", "v": 5}]


def test_formats_are_objects(table: yt.YtClient) -> None:
    table.write_table(
        "//tmp/j", iter([b'{"k": "\xc3', b'\xa9"}\n']), yt.JsonFormat(encode_utf8=False), raw=True
    )
    assert list(table.read_table("//tmp/j")) == [{"k": "é"}]
    rows = table.read_table(f"{T}[#1:#3]", format=yt.SchemafulDsvFormat(columns=["v", "k"]), raw=True)
    assert (rows.readline(), list(rows)) == (b"2\tb\n", [b"3\tb\n"])
    dsv = table.read_table(f"{T}[#0]", format=yt.DsvFormat(), raw=True, unordered=True)
    assert (dsv.read(3), dsv.read()) == (b"k=a", b"\tv=1\n")
    text = table.read_table(f"{T}[#0]", format=yt.YsonFormat(format="text"), raw=True)
    assert text.read() == b'{"k"="a";"v"=1;};\n'


def test_raw_rows_are_formatted_as_they_are_read(table: yt.YtClient) -> None:
    table.write_table("//tmp/large", ({"n": number, "text": "x" * 100} for number in range(50_000)))
    with table.read_table("//tmp/large", format="json", raw=True) as rows:
        assert rows.readline() == b'{"n":0,"text":"' + b"x" * 100 + b'"}\n'
        assert sum(1 for _ in rows) == 49_999


def test_nodes(table: yt.YtClient) -> None:
    table.copy(T, "//home/a/copy", recursive=True)
    table.remove("//home/a/copy")
    first = table.copy(T, "//home/a/copy", ignore_existing=True)
    assert table.copy(T, "//home/a/copy", ignore_existing=True) == first
    table.set("//home/a/@note", 1)
    table.set_attribute("//home/a/copy", "note", 2)
    assert [*table.search("//home", node_type="table")] == ["//home/a/copy"]
    (table_path,) = table.search("/", path_filter=lambda path: path.endswith("copy"), attributes=["note"])
    assert table_path.attributes == {"note": 2}
    assert [*table.search("//home", node_type="map_node")] == ["//home", "//home/a"]
    assert (table.get_type("//home"), table.get_type(T)) == ("map_node", "table")
    table.remove_attribute("//home/a/copy", "note")
    assert not table.has_attribute("//home/a/copy", "note")
    assert (table.get_sorted_by(T), table.get_sorted_by(table.create_temp_table())) == (["k"], [])
    with table.TempTable("//tmp/temporary", prefix="day") as name:
        assert name.startswith("//tmp/temporary/day")
        table.write_table(name, [{"k": 1}])
    assert not table.exists(name)


def test_concatenate(table: yt.YtClient) -> None:
    table.concatenate([T, T], "//tmp/both")
    assert list(table.read_table("//tmp/both")) == [*ROWS, *ROWS]


def test_operations(table: yt.YtClient, tmp_path: Path) -> None:
    table.run_sort(T, "//tmp/s", sort_by=[yt.SortColumn("v"), "k"])
    assert table.get_sorted_by("//tmp/s") == ["v", "k"]
    table.run_merge([T, T], "//tmp/m", mode="sorted", merge_by="k")
    table.run_erase(yt.TablePath("//tmp/m", start_index=1))
    assert (list(table.read_table("//tmp/m")), table.row_count(T)) == ([ROWS[0]], 4)
    table.alter_table(T, schema=[*SCHEMA, {"name": "w", "type": "utf8"}])
    assert table.get_table_schema(T).columns[2].name == "w"
    with yt.YtClient(proxy=f"yt:{tmp_path}/other") as other:
        other.run_remote_copy(T, T, cluster_name=f"yt:{tmp_path}/store")
        assert other.row_count(T) == 4


def test_transactions(table: yt.YtClient, tmp_path: Path) -> None:
    with yt.YtClient(proxy=f"yt:{tmp_path}/store") as other:
        with table.Transaction(attributes={"title": "nightly"}):
            table.write_table(yt.TablePath(T, append=True), [{"k": "d", "v": 5}])
            assert (table.row_count(T), other.row_count(T)) == (5, 4)
            code, message = code_of(other.remove, T)
            assert (code, message.partition("nightly")[0]) == (402, f"cannot remove {T}: it is locked by ")
            with pytest.raises(ZeroDivisionError), yt.Transaction(client=table):
                table.remove(T)
                raise ZeroDivisionError
        assert other.row_count(T) == 5
        first, second = yt.Transaction(client=table), yt.Transaction(client=other)
        first.abort()
        second.commit()
        assert code_of(second.commit)[0] == 11000


def test_transactions_by_their_ids(table: yt.YtClient, tmp_path: Path) -> None:
    outer = table.start_transaction(timeout=60_000, attributes={"title": "nightly"})
    inner = table.start_transaction(parent_transaction=outer)
    with table.Transaction(transaction_id=inner):
        assert table.get_current_transaction_id() == inner
        table.write_table("//tmp/new", [{"k": 1}])
    table.ping_transaction(inner)
    table.commit_transaction(inner)
    assert not table.exists("//tmp/new")
    with table.Transaction(transaction_id=outer):
        assert table.exists("//tmp/new")
    table.abort_transaction(outer)
    assert code_of(table.commit_transaction, outer)[0] == 11000
    assert (table.exists("//tmp/new"), table.get_current_transaction_id()) == (False, "0-0-0-0")


def test_seed_y05_a_schema_that_is_built() -> None:
    schema = yt.TableSchema(unique_keys=True)
    schema.add_column("a", "int64").add_column("b", "string", sort_order="ascending").add_column("c", "any")
    document = schema.to_yson_type()
    assert document.attributes == {"strict": True, "unique_keys": True}
    assert document == [
        {"name": "a", "type_v3": "int64"},
        {"name": "b", "type_v3": "string", "sort_order": "ascending"},
        {"name": "c", "type_v3": {"type_name": "optional", "item": "yson"}},
    ]
    assert yt.TableSchema.from_yson_type(document) == schema
    by_c = schema.build_schema_sorted_by(["c", yt.SortColumn("b")])
    assert ([column.name for column in by_c.columns], by_c.unique_keys) == (["c", "b", "a"], True)
    assert not schema.build_schema_sorted_by("a").unique_keys
    assert yt.TableSchema(strict=False).is_empty_nonstrict()


@yt.yt_dataclass
class Point:
    x: int
    y: Optional[float]  # noqa: UP045 - as scripts of YTsaurus write it


@yt.yt_dataclass
class Visit:
    user: str
    raw: bytes
    small: yt.Uint8
    path: list[Point]
    tags: dict[str, int]
    any: yt.Yson = None


def test_rows_of_dataclasses(client: yt.YtClient) -> None:
    visits = [
        Visit("mia", b"\xff", 5, [Point(1, 0.5), Point(2, None)], {"a": 1}, {"z": [1]}),
        Visit("ada", b"", 0, [], {}),
    ]
    client.write_table_structured(yt.TablePath(T, sorted_by=["small"]), Visit, reversed(visits))
    assert [str(column.type) for column in client.get_table_schema(T).columns] == [
        "uint8",
        "utf8",
        "string",
        "list<struct<x:int64,y:optional<double>>>",
        "dict<utf8,int64>",
        "optional<yson>",
    ]
    assert list(client.read_table_structured(T, Visit)) == [visits[1], visits[0]]
    row = next(client.read_table_structured(f"{T}{{user,small}}"))
    assert (row.user, row.small) == ("ada", 0)


def test_functions_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(yt.config, "proxy", {"url": None})
    with pytest.raises(UsageError) as unnamed:
        yt.list("/")
    assert str(unnamed.value) == 'no store is named; set config["proxy"]["url"] or YT_PROXY to yt:FOLDER'
    monkeypatch.setitem(yt.config, "proxy", {"url": f"yt:{tmp_path}/store"})
    yt.write_table(T, [{"k": 1}])
    assert (yt.list("//tmp"), yt.row_count(T)) == (["t"], 1)
    with yt.Transaction():
        yt.remove(T)
    assert not yt.exists(T)
    assert code_of(yt.get, "//tmp/none") == (500, "there is no node //tmp/none")
    yt.default_client().close()


def test_operations_as_objects(table: yt.YtClient) -> None:
    operation = table.run_merge(T, "//tmp/m", mode="ordered", spec={"pool": "night"}, job_count=3)
    assert (operation.type, str(operation.get_state())) == ("merge", "completed")
    assert operation.get_state().is_finished()
    failed = table.run_sort("//tmp/none", "//tmp/s", sort_by="k", sync=False)
    assert failed.get_state().is_unsuccessfully_finished()
    assert code_of(failed.wait) == (500, "there is no node //tmp/none")
    failed.wait(check_result=False)
    with pytest.raises(yt.YtError) as several, yt.OperationsTracker() as tracker:
        tracker.add(table.run_erase("//tmp/m", sync=False))
        tracker.add(failed)
    assert [error.code for error in several.value.inner_errors] == [500]
    assert table.row_count("//tmp/m") == 0


def test_spec_builders(table: yt.YtClient) -> None:
    merge = yt.MergeSpecBuilder().input_table_paths([T, T]).output_table_path("//tmp/m").title("both")
    table.run_operation(merge.mode("sorted").merge_by(["k"]).combine_chunks())
    assert (table.row_count("//tmp/m"), table.get("//tmp/m/@chunk_count")) == (8, 1)
    table.run_operation(yt.EraseSpecBuilder().table_path("//tmp/m[#1:]"))
    assert list(table.read_table("//tmp/m")) == [ROWS[0]]
    table.run_operation(yt.SortSpecBuilder().input_table_paths(T).output_table_path("//tmp/s").sort_by("v"))
    assert table.get_sorted_by("//tmp/s") == ["v"]
    map_spec = yt.MapSpecBuilder().input_table_paths(T).output_table_paths("//tmp/first")
    map_spec = map_spec.begin_mapper().command('head -n "$COUNT"').format("json").memory_limit(1 << 30)
    map_spec = map_spec.environment({"COUNT": 1}).end_mapper()
    table.run_operation(map_spec)
    assert list(table.read_table("//tmp/first")) == [ROWS[0]]
    count_spec = yt.MapReduceSpecBuilder().input_table_paths(T).output_table_paths(["//tmp/counts"])
    count_spec = count_spec.begin_reducer().command(count_rows).end_reducer().reduce_by(["k"])
    table.run_operation(count_spec)
    counts = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "c", "n": 1}]
    assert list(table.read_table("//tmp/counts")) == counts
    reduce_spec = yt.ReduceSpecBuilder().input_table_paths(T).output_table_paths("//tmp/again").reduce_by("k")
    table.run_operation(reduce_spec.begin_reducer().command(count_rows).end_reducer())
    assert list(table.read_table("//tmp/again")) == counts
    assert code_of(table.run_operation, yt.MapSpecBuilder().input_table_paths(T)) == (
        1,
        "MapSpecBuilder has no output_table_paths",
    )


def count_rows(key: Any, rows: Any) -> Any:
    yield {"k": key["k"], "n": len([*rows])}


def test_batches(table: yt.YtClient) -> None:
    batch = table.create_batch_client()
    rows, missing = batch.row_count(T), batch.get("//tmp/none/@id")
    created = batch.create("map_node", "//tmp/folder")
    assert code_of(rows.get_result) == (1, "the batch has not been sent yet; call commit_batch")
    assert not table.exists("//tmp/folder")
    batch.commit_batch()
    assert (rows.get_result(), created.is_ok()) == (4, True)
    assert (missing.get_result(), missing.is_ok()) == (None, False)
    assert missing.get_error() == {
        "code": 500,
        "message": "there is no node //tmp/none/@id",
        "attributes": {"path": "//tmp/none/@id"},
        "inner_errors": [],
    }
    with pytest.raises(AttributeError, match="write_table cannot be in a batch"):
        batch.write_table(T, [])
    strict = table.create_batch_client(raise_errors=True)
    strict.remove("//tmp/none")
    kept = strict.exists(T)
    assert code_of(strict.commit_batch) == (1, "commands of the batch failed: there is no node //tmp/none")
    assert kept.get_result()
    assert yt.batch_apply(yt.row_count, [T, T], client=table) == [4, 4]
    assert yt.batch_apply(yt.exists, [T, "//tmp/x"], client=table) == [True, False]


def test_functions_of_many_rows(table: yt.YtClient) -> None:
    @yt.aggregator
    def total(rows: Any) -> Any:
        yield {"sum": sum(row["v"] for row in rows)}

    @yt.reduce_aggregator
    def largest(groups: Any) -> Any:
        key, rows = max(((key, [*rows]) for key, rows in groups), key=lambda group: len(group[1]))
        yield {"k": key["k"], "n": len(rows)}

    table.run_map(total, T, "//tmp/sum")
    assert list(table.read_table("//tmp/sum")) == [{"sum": 10}]
    table.run_reduce(largest, T, "//tmp/largest", reduce_by="k")
    assert list(table.read_table("//tmp/largest")) == [{"k": "b", "n": 2}]
