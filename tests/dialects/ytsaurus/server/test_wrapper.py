"""The module `yt.wrapper`, unmodified, against the server."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any

import pytest
import yt.wrapper as yt_wrapper
import yt.yson as yson
from yt.wrapper import TablePath, YtClient, YtError, YtHttpResponseError
from yt.wrapper.errors import YtOperationFailedError

import trellis.dialects.ytsaurus.client as client_module
from dialects.ytsaurus.server.conftest import client_of, running_server
from trellis.dialects.ytsaurus.server.http import Server
from trellis.dialects.ytsaurus.store.store import Store
from trellis.errors import UsageError

SCHEMA = [{"name": "k", "type": "string", "sort_order": "ascending"}, {"name": "v", "type": "int64"}]
ROWS = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "b", "v": 3}, {"k": "c", "v": 4}]
T = "//tmp/t"
TABLE_OF_HOSTS = "<foreign=%true>//tmp/hosts"
NOT_ALLOWED = (
    "run commands of clients on the machine of the server, which does not allow it; "
    "start it with --allow-jobs"
)


@pytest.fixture
def table(client: YtClient) -> YtClient:
    client.create("table", T, attributes={"schema": SCHEMA})
    client.write_table(T, ROWS)
    return client


def error_of(action: Any, *arguments: Any, **options: Any) -> tuple[int, str]:
    with pytest.raises(YtError) as error:
        action(*arguments, **options)
    inner = error.value
    while inner.inner_errors:
        first = inner.inner_errors[0]
        inner = first if isinstance(first, YtError) else YtError(**first)
    message = inner.message
    return inner.code, message.decode() if isinstance(message, bytes) else message


def test_seed_y81_seed_y83_tables_are_created_written_and_read(client: YtClient) -> None:
    schema = [{"name": "a", "type": "int64"}, {"name": "b", "type": "string"}]
    client.create("table", "//tmp/table", attributes={"schema": schema})
    stored = client.get("//tmp/table/@schema")
    assert stored.attributes == {"strict": True, "unique_keys": False}
    assert [(column["name"], column["type"], column["required"]) for column in stored] == [
        ("a", "int64", False),
        ("b", "string", False),
    ]
    client.write_table("//tmp/table", [{"a": 1, "b": "x"}, {"a": None, "b": "y"}])
    assert list(client.read_table("//tmp/table")) == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]
    assert client.get("//tmp/table/@schema_mode") == "strong"
    assert client.row_count("//tmp/table") == 2


def test_seed_y85_a_schema_in_the_path(client: YtClient) -> None:
    client.write_table(TablePath(T, schema=SCHEMA), ROWS)
    assert client.get_table_schema(T).to_yson_type()[0]["name"] == "k"
    assert client.get_attribute(T, "sorted_by") == ["k"]


def test_c05_c07_c08_parts_of_tables(table: YtClient) -> None:
    assert list(table.read_table(TablePath(T, columns=["v"], start_index=1, end_index=3))) == [
        {"v": 2},
        {"v": 3},
    ]
    assert list(table.read_table(TablePath(T, exact_key=["b"]))) == ROWS[1:3]
    assert list(table.read_table(f"{T}[#3,#0]")) == [ROWS[3], ROWS[0]]
    assert list(
        table.read_table(TablePath(T, lower_key=["b"], upper_key=["c"], rename_columns={"v": "n"}))
    ) == [
        {"k": "b", "n": 2},
        {"k": "b", "n": 3},
    ]


@pytest.mark.parametrize("format", ["yson", "json", "dsv", "<columns=[k;v]>schemaful_dsv"])
def test_formats_of_raw_rows(client: YtClient, format: str) -> None:
    rows = {
        "yson": b'{"k"="a";"v"=1;};\n',
        "json": b'{"k":"a","v":1}\n',
        "dsv": b"k=a\tv=1\n",
        "<columns=[k;v]>schemaful_dsv": b"a\t1\n",
    }
    client.create("table", T, attributes={"schema": SCHEMA})
    convert = "enable_type_conversion=%true"
    named = f"<{convert};{format[1:]}" if format.startswith("<") else f"<{convert}>{format}"
    client.write_table(T, rows[format], format=yt_wrapper.create_format(named), raw=True)
    written = "<format=text>yson" if format == "yson" else format
    read = client.read_table(T, format=yt_wrapper.create_format(written), raw=True).read()
    assert read == rows[format]


def test_c52_values_come_back_as_they_went_in(client: YtClient) -> None:
    row = {
        "int": -5,
        "uint": yson.YsonUint64(2**64 - 1),
        "double": 1.5,
        "boolean": True,
        "bytes": b"\xff\x00",
        "text": "\u00e4",
        "list": [1, {"x": None}],
        "nothing": None,
    }
    client.write_table(T, [row, {}])
    first, second = client.read_table(T)
    assert second == {}
    assert type(first["uint"]) is yson.YsonUint64
    assert {name: first.get(name) for name in row} == {
        **row,
        "bytes": yson.get_bytes(first["bytes"]),
    } or first
    assert (yson.get_bytes(first["bytes"]), first["text"]) == (b"\xff\x00", "\u00e4")
    assert (first["int"], first["list"]) == (-5, [1, {"x": None}])


def test_control_attributes(table: YtClient) -> None:
    rows = table.read_table(
        TablePath(T, ranges=[{"exact": {"row_index": 3}}, {"exact": {"key": ["a"]}}]),
        control_attributes={"enable_row_index": True, "enable_range_index": True},
        format=yt_wrapper.YsonFormat(control_attributes_mode="row_fields"),
    )
    assert [(row["@range_index"], row["@row_index"], row["v"]) for row in rows] == [(0, 3, 4), (1, 0, 1)]


def test_seed_y85_c62_c63_writes_that_fail(table: YtClient) -> None:
    assert error_of(table.write_table, f"<append=%true>{T}", [{"k": "a", "v": 1}]) == (
        301,
        (
            '//tmp/t: row 0: the key ["a";] is less than that of the last row of the table; '
            "the table is sorted by k"
        ),
    )
    assert error_of(table.write_table, T, [{"k": "a", "v": "x"}]) == (
        307,
        '//tmp/t: row 0, column "v": expected int64, not string "x"',
    )
    assert list(table.read_table(T)) == ROWS


def test_paths_that_are_missing_or_exist(client: YtClient) -> None:
    with pytest.raises(YtHttpResponseError) as missing:
        client.get("//tmp/none/@id")
    assert missing.value.is_resolve_error()
    client.create("table", T)
    with pytest.raises(YtHttpResponseError) as existing:
        client.create("table", T)
    assert existing.value.is_already_exists()
    assert client.get_attribute(T, "note", default="none") == "none"


def test_nodes(client: YtClient) -> None:
    client.create("map_node", "//home/a/b", recursive=True)
    client.create("table", "//home/a/t", attributes={"note": "x"})
    assert client.copy("//home/a/t", "//home/a/u") != client.move("//home/a/t", "//home/a/v")
    assert client.list("//home/a", sort=False) == ["b", "u", "v"]
    listed = client.list("//home/a", attributes=["type", "note"])
    assert [(str(name), dict(name.attributes)) for name in listed] == [
        ("b", {"type": "map_node"}),
        ("u", {"type": "table", "note": "x"}),
        ("v", {"type": "table", "note": "x"}),
    ]
    client.set("//home/a/u/@note", {"n": [1, 2.5]})
    assert client.get("//home/a/u/@note/n/1") == 2.5
    assert client.get("//home", attributes=["type"])["a"]["u"].attributes == {"type": "table"}
    client.remove("//home/a", recursive=True)
    assert not client.exists("//home/a/u")


def test_c99_alter_table(table: YtClient) -> None:
    table.alter_table(T, schema=[*SCHEMA, {"name": "w", "type": "utf8"}])
    assert next(iter(table.read_table(T))) == {"k": "a", "v": 1, "w": None}
    assert error_of(table.alter_table, T, schema=[SCHEMA[0], {"name": "v", "type": "int8"}])[0] == 316


def test_transactions(table: YtClient) -> None:
    with table.Transaction(attributes={"title": "first"}):
        table.write_table(TablePath(T, append=True), [{"k": "d", "v": 5}])
        assert table.row_count(T) == 5
        assert client_row_count(table) == 4
        with pytest.raises(ZeroDivisionError), table.Transaction():
            table.remove(T)
            assert not table.exists(T)
            raise ZeroDivisionError
        assert table.exists(T)
    assert table.row_count(T) == 5
    with pytest.raises(ZeroDivisionError), table.Transaction():
        table.write_table(T, [])
        raise ZeroDivisionError
    assert table.row_count(T) == 5


def client_row_count(client: YtClient) -> Any:
    """As another client sees it."""
    return YtClient(proxy=client.config["proxy"]["url"]).row_count(T)


def test_locks(table: YtClient, server: Server) -> None:
    other = client_of(server)
    with table.Transaction(attributes={"title": "nightly"}) as transaction:
        lock = table.lock(T)
        assert table.get(f"#{lock['lock_id']}/@state") == "acquired"
        with pytest.raises(YtHttpResponseError) as refused:
            other.remove(T)
        assert refused.value.is_concurrent_transaction_lock_conflict()
        assert str(transaction.transaction_id) in str(refused.value)
        with other.Transaction():
            waiting = other.lock(T, waitable=True)
            assert table.get(f"#{waiting['lock_id']}/@state") == "pending"
        table.unlock(T)
    with other.Transaction():
        other.lock(T, mode="shared", waitable=True, wait_for=timedelta(seconds=5).seconds * 1000)
    assert table.get(f"{T}/@locks") == []


def test_a_transaction_whose_client_is_gone_ends(table: YtClient) -> None:
    transaction = table.start_transaction(timeout=500)
    with table.Transaction(transaction_id=transaction, ping=False):
        table.lock(T)
    time.sleep(0.8)
    table.write_table(T, [])
    with pytest.raises(YtHttpResponseError) as ended:
        table.commit_transaction(transaction)
    assert ended.value.is_no_such_transaction()


def test_readers_keep_the_version_that_they_began_with(table: YtClient, server: Server) -> None:
    rows = table.read_table(T)
    first = next(rows)
    client_of(server).write_table(T, [{"k": "z", "v": 0}])
    assert [first, *rows] == ROWS


def test_operations(table: YtClient) -> None:
    table.run_sort(T, "//tmp/by_v", sort_by=[{"name": "v", "sort_order": "ascending"}])
    table.run_merge([T, T], "//tmp/merged", mode="sorted", merge_by=["k"])
    assert table.row_count("//tmp/merged") == 8
    table.run_merge(T, "//tmp/auto")
    assert table.get_attribute("//tmp/auto", "sorted_by") == ["k"]
    table.run_erase(TablePath("//tmp/merged", start_index=0, end_index=7))
    assert list(table.read_table("//tmp/merged")) == [ROWS[3]]
    operation = table.run_merge(T, "//tmp/unordered", mode="unordered", spec={"combine_chunks": True})
    assert (str(operation.get_state()), operation.get_error()) == ("completed", None)
    assert [item["type"] for item in table.list_operations()["operations"]][-1] == "sort"


def test_an_operation_that_fails_says_why(table: YtClient) -> None:
    table.create("table", "//tmp/u", attributes={"schema": [{"name": "v", "type": "string"}]})
    with pytest.raises(YtOperationFailedError) as failed:
        table.run_merge(T, "//tmp/u", mode="ordered")
    error = failed.value.attributes["result"]["error"] if "result" in failed.value.attributes else None
    text = str(failed.value)
    assert ("v" in text, "string" in text, table.row_count("//tmp/u")) == (True, True, 0), error


def test_an_operation_in_a_transaction(table: YtClient) -> None:
    with pytest.raises(ZeroDivisionError), table.Transaction():
        table.run_sort(T, "//tmp/sorted", sort_by="v")
        assert table.row_count("//tmp/sorted") == 4
        raise ZeroDivisionError
    assert not table.exists("//tmp/sorted")


def test_aborted_operations_leave_nothing(
    table: YtClient, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trellis.dialects.ytsaurus.server import operations

    def wait(store: Store, *arguments: object) -> None:
        while store.transactions.find(store.lineage[0]):
            time.sleep(0.02)
        store.create("table", "//tmp/late")

    monkeypatch.setitem(operations._RUNS, "sort", wait)  # type: ignore[index]
    operation = table.run_sort(T, sort_by="v", sync=False)
    table.abort_operation(operation.id, "enough")
    assert str(operation.get_state()) == "aborted"
    assert operation.get_error().inner_errors[0]["message"] == "enough"
    assert not table.exists("//tmp/late")


def test_remote_copy_from_a_named_cluster(tmp_path: Any, store_url: str) -> None:
    from trellis.dialects.ytsaurus.store.writing import write_rows

    with Store.open(f"yt:{tmp_path}/other") as other:
        write_rows(other, T, [{"k": 1}])
    with running_server(store_url, clusters={"other": f"yt:{tmp_path}/other"}) as server:
        client = client_of(server)
        client.run_remote_copy(T, T, cluster_name="other")
        assert list(client.read_table(T)) == [{"k": 1}]
        with pytest.raises(YtOperationFailedError) as failed:
            client.run_remote_copy(T, "//tmp/u", cluster_name="third")
        assert "start the server with --cluster third=yt:FOLDER" in str(failed.value)


def test_batches(table: YtClient) -> None:
    batch = table.create_batch_client()
    exists, count, missing = batch.exists(T), batch.get(f"{T}/@row_count"), batch.get("//tmp/none")
    created = batch.create("map_node", "//tmp/m")
    batch.set("//tmp/t/@note", "x")
    batch.commit_batch()
    assert (exists.get_result(), count.get_result(), missing.get_error()["code"]) == (True, 4, 500)
    assert re.fullmatch("[0-9a-f]+(-[0-9a-f]+){3}", created.get_result())
    assert table.get(f"{T}/@note") == "x"


def test_a_token(store_url: str) -> None:
    with pytest.raises(UsageError) as unprotected:
        Server(store_url, "0.0.0.0", 0)
    assert str(unprotected.value) == (
        "--host 0.0.0.0: others can reach the store, and no token protects it; set one with --token"
    )
    with running_server(store_url, token="secret") as server:
        assert client_of(server, token="secret").list("/") == ["home", "tmp"]
        with pytest.raises(yt_wrapper.YtTokenError) as wrong:
            client_of(server, token="guess").list("/")
        assert "the token is wrong" in str(wrong.value)


def test_a_command_that_is_repeated_runs_once(client: YtClient) -> None:
    first = client.create("table", T)
    parameters = {"type": "table", "path": "//tmp/u", "mutation_id": "1-2-3-4"}
    from yt.wrapper.driver import make_formatted_request

    results = [
        make_formatted_request("create", dict(parameters), format=None, mutation_id="1-2-3-4", client=client)
        for _ in range(2)
    ]
    assert results[0] == results[1] != {"node_id": first}


def test_parallel_reads_and_writes(client: YtClient, server: Server) -> None:
    rows = [{"k": number} for number in range(500)]
    writer = client_of(server, write_parallel={"enable": True, "max_thread_count": 2})
    writer.write_table(T, rows)
    assert list(client.read_table(T, enable_read_parallel=True)) == rows


def test_clients_that_interrupt_a_read(table: YtClient) -> None:
    rows = table.read_table(T, format="yson", raw=True)
    assert [lock["mode"] for lock in table.get(f"{T}/@locks")] == ["snapshot"]
    rows.close()
    assert table.get(f"{T}/@locks") == []


@yt_wrapper.yt_dataclass
class Visit:
    user: str
    ms: int
    score: float | None
    pages: list[str]


def test_rows_of_dataclasses(client: YtClient) -> None:
    visits = [Visit("ada", 3, None, []), Visit("mia", -5, 0.5, ["/", "/cart"])]
    client.write_table_structured(T, Visit, visits)
    assert [str(column["type_v3"]) for column in client.get(f"{T}/@schema")][:2] == ["utf8", "int64"]
    assert list(client.read_table_structured(T, Visit)) == visits
    path = TablePath(T, ranges=[{"exact": {"row_index": 1}}, {"exact": {"row_index": 0}}])
    rows = client.read_table_structured(path, Visit).with_context()
    assert [(row.user, context.get_range_index(), context.get_row_index()) for row, context in rows] == [
        ("mia", 0, 1),
        ("ada", 1, 0),
    ]


def test_rows_are_inserted_by_their_keys(client: YtClient) -> None:
    schema = [{**SCHEMA[0]}, {"name": "n", "type": "int64", "aggregate": "sum"}]
    unique = yson.to_yson_type(schema, attributes={"unique_keys": True})
    client.create("table", T, attributes={"schema": unique})
    client.insert_rows(T, [{"k": "a", "n": 2}, {"k": "b", "n": 1}])
    client.insert_rows(T, [{"k": "a", "n": 3}], aggregate=True)
    assert list(client.read_table(T)) == [{"k": "a", "n": 5}, {"k": "b", "n": 1}]


def test_seed_y73_jobs_run_where_the_server_allows_it(store_url: str) -> None:
    with running_server(store_url, allow_jobs=True) as server:
        client = client_of(server)
        client.create("table", "//tmp/a", attributes={"schema": SCHEMA})
        client.write_table("//tmp/a", ROWS)
        client.run_map("sed s/[0-9]/7/", "//tmp/a[b]", "//tmp/m", format="json")
        assert list(client.read_table("//tmp/m")) == [{"k": "b", "v": 7}, {"k": "b", "v": 7}]
        client.run_reduce("head -n 1", "//tmp/a", "//tmp/r", reduce_by=["k"], format="json")
        assert list(client.read_table("//tmp/r")) == [{"k": "a", "v": 1}]
        client.run_map_reduce(
            "cat", "tail -n 1", "//tmp/m", "//tmp/mr", reduce_by=["k"], sort_by=["k", "v"], format="json"
        )
        assert list(client.read_table("//tmp/mr")) == [{"k": "b", "v": 7}]
        with pytest.raises(YtOperationFailedError) as failure:
            client.run_map("echo broken >&2; exit 1", "//tmp/a", "//tmp/m", format="json")
        assert "broken" in str(failure.value)
        assert client.row_count("//tmp/m") == 2


def test_a_server_runs_no_commands_unless_it_is_told_to(table: YtClient) -> None:
    code, message = error_of(table.run_map, "cat", T, "//tmp/m", format="json")
    assert (code, message) == (1, f"operations of the type map {NOT_ALLOWED}")


def test_b08_rows_that_cannot_be_read_name_the_table(table: YtClient) -> None:
    json_format = yt_wrapper.JsonFormat()
    assert error_of(table.write_table, T, b'{"k": "a"}\n{"k": ', format=json_format, raw=True) == (
        1,
        f"{T}: line 2 is not a JSON object: expecting value, character 7",
    )
    with pytest.warns(
        UserWarning, match=f"^{T}: 1 field without '=' skipped, as in YTsaurus, the first 'tskv'"
    ):
        table.write_table(T, b"tskv\tk=a\n", format="dsv", raw=True)
    assert list(table.read_table(T)) == [{"k": "a", "v": None}]


def join_urls(client: Any, out: str) -> None:
    client.run_reduce(
        *("cat", [TABLE_OF_HOSTS, "//tmp/urls"], out),
        format="json",
        reduce_by=["host", "url"],
        join_by="host",
    )


def count_words(client: Any, out: str) -> None:
    client.run_map_reduce(
        *("tr a b", "tail -n 1", "//tmp/urls", out),
        format="json",
        reduce_combiner="head -n 3",
        reduce_by="url",
    )


@pytest.mark.parametrize("run", [join_urls, count_words])
def test_operations_do_the_same_in_a_script_without_a_server(store_url: str, run: Any) -> None:
    with running_server(store_url, allow_jobs=True) as server, client_module.YtClient(store_url) as script:
        client = client_of(server)
        urls = [{"host": str(n // 2), "url": str(n)} for n in range(2, 10)]
        client.write_table(TablePath("//tmp/urls", sorted_by=["host", "url"]), urls)
        hosts = [{"host": str(n), "name": f"h{n}"} for n in (0, 1, 2, 4, 7)]
        client.write_table(TablePath("//tmp/hosts", sorted_by=["host"]), hosts)
        run(client, "//tmp/server")
        run(script, "//tmp/script")
        rows = list(client.read_table("//tmp/server"))
        assert rows == list(script.read_table("//tmp/script"))
        if run is join_urls:
            assert [row.get("name") or row["url"] for row in rows] == [
                *("h1", "2", "3", "h2", "4", "5", "6", "7", "h4", "8", "9")
            ]


def test_reads_do_the_same_in_a_script_without_a_server(table: YtClient, store_url: str) -> None:
    with client_module.YtClient(store_url) as script:
        controls = {"enable_row_index": True, "enable_range_index": True}
        path = f"{T}[#3,#0:#2]"
        rows = [
            list(client.read_table(path, control_attributes=controls, format=module.YsonFormat(
                control_attributes_mode="row_fields"
            )))
            for client, module in ((table, yt_wrapper), (script, client_module))
        ]  # fmt: skip
        assert rows[0] == rows[1]
        for client in (table, script):
            iterator = client.read_table(path, control_attributes=controls)
            assert [(row["v"], iterator.range_index, iterator.row_index) for row in iterator] == [
                (4, 0, 3),
                (1, 1, 0),
                (2, 1, 1),
            ]
        for name in ("get", "list"):
            target = f"{T}/@row_count" if name == "get" else "//tmp"
            formats = [getattr(client, name)(target, format="json") for client in (table, script)]
            assert formats[0] == formats[1]


def test_errors_of_reads_name_the_path(client: YtClient) -> None:
    """The client reads by the id of the table."""
    client.write_table(T, [{"a": float("nan")}])
    assert error_of(client.read_table, f"{T}[a]") == (
        1,
        f"{T} is not sorted, so it has no ranges of keys; use row numbers: [#0:#10]",
    )
    code, message = error_of(client.read_table, T, format="json")
    assert (code, message.partition(";")[0]) == (
        1,
        f'{T}: column "a": a double is infinite or not a number, which JSON does not have',
    )


def test_objects_that_are_not_there_are_named(client: YtClient) -> None:
    assert error_of(client.create, "table", T, attributes={"dynamic": True, "schema": SCHEMA}) == (
        1,
        f"{T}: dynamic is %true, and tables are static here; leave it away",
    )
    assert error_of(client.create, "user", attributes={"name": "mia"}) == (
        1,
        "nodes of the type 'user' are not supported; expected table or map_node",
    )
