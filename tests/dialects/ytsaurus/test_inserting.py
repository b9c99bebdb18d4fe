"""Rows inserted by their keys."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.ytsaurus.test_commands import Run, table
from dialects.ytsaurus.test_tables import T, code_of, create, read, write
from trellis.dialects.ytsaurus.client import YtClient
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.values.aggregation import aggregate_values
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64

__all__ = ["table"]

TOTALS = (
    "<unique_keys=%true>[{name=k;type=string;sort_order=ascending};{name=n;type=int64;aggregate=sum};"
    "{name=f;type=int64;aggregate=first};{name=note;type=string}]"
)


NOT_UNIQUE = (
    "rows are inserted by their keys, and those of //tmp/other are not unique; expected a table whose schema "
    "has unique_keys=%true"
)


def insert(store: Store, rows: str, *, update: bool = False, aggregate: bool = False) -> int:
    parsed = loads(rows, yson_type="list_fragment", raw=True)
    return insert_rows(store, T, parsed, update=update, aggregate=aggregate)


@pytest.fixture
def totals(store: Store) -> Store:
    store.create("table", T, {"schema": loads(TOTALS)}, recursive=True)
    write(store, f"<append=%true>{T}", "{k=b;n=3;f=3;note=x};{k=d;n=1;f=#}")
    return store


def test_c109_sums_and_first_values(totals: Store) -> None:
    insert(totals, "{k=b;n=#;f=4}", aggregate=True)
    assert read(totals, f"{T}[b]") == "{k=b;n=3;f=3}"
    insert(totals, "{k=b;n=4}", aggregate=True)
    assert read(totals, f"{T}[b]") == "{k=b;n=7;f=3}"


def test_rows_of_equal_keys_are_replaced_or_changed(totals: Store) -> None:
    assert insert(totals, "{k=b;n=5};{k=a;note=new};{k=e;n=9};{k=e;n=10}") == 4
    assert read(totals) == "{k=a;note=new}{k=b;n=5}{k=d;n=1}{k=e;n=10}"
    insert(totals, "{k=a;n=1};{k=b;n=#;note=y}", update=True)
    assert read(totals) == "{k=a;n=1;note=new}{k=b;note=y}{k=d;n=1}{k=e;n=10}"
    insert(totals, "{k=a;n=1};{k=a;n=2};{k=f;n=1};{k=f;n=2}", update=True, aggregate=True)
    assert read(totals) == "{k=a;n=4;note=new}{k=b;note=y}{k=d;n=1}{k=e;n=10}{k=f;n=3}"


def chunks(store: Store) -> list[tuple[str, int]]:
    return [(part.chunk.id, part.rows) for part in store.catalog.slices(store.node(T).id)]


def test_chunks_without_the_keys_stay(totals: Store) -> None:
    write(totals, f"<append=%true>{T}", "{k=m;n=1};{k=p;n=1}")
    first, _ = chunks(totals)
    insert(totals, "{k=n;n=1}")
    assert [rows for _, rows in chunks(totals)] == [2, 3]
    assert chunks(totals)[0] == first
    assert read(totals, f"{T}[e:]") == "{k=m;n=1}{k=n;n=1}{k=p;n=1}"


def test_what_cannot_be_inserted(totals: Store) -> None:
    before = read(totals)
    assert code_of(insert, totals, "{k=a;n=1};{k=b;n=x}") == (
        307,
        '//tmp/t: row 1, column "n": expected int64, not string "x"',
    )
    create(totals, "[k:string^, v]", "//tmp/other")
    code, message = code_of(insert_rows, totals, "//tmp/other", [{"k": "a"}])
    assert (code, message) == (1, NOT_UNIQUE)
    assert read(totals) == before


@pytest.mark.parametrize(
    ("aggregate", "state", "delta", "result"),
    [
        ("sum", 2**63 - 1, 1, -(2**63)),
        ("sum", Uint64(2**64 - 1), Uint64(2), Uint64(1)),
        ("sum", 0.5, 0.25, 0.75),
        ("sum", None, 4, 4),
        ("min", b"b", b"a", b"a"),
        ("max", 1.0, float("nan"), float("nan")),
        ("first", None, [1], [1]),
        ("dict_sum", {"a": {"x": 1}, "b": 2}, {"a": {"x": 2, "y": 1}, "b": -2}, {"a": {"x": 3, "y": 1}}),
    ],
)
def test_aggregates(aggregate: str, state: Any, delta: Any, result: Any) -> None:
    assert repr(aggregate_values(aggregate, state, delta)) == repr(result)


def test_aggregates_that_cannot_be_applied() -> None:
    assert code_of(aggregate_values, "xdelta", b"a", b"b") == (
        1,
        "values with the aggregate xdelta cannot be inserted; write the table anew",
    )
    assert code_of(aggregate_values, "dict_sum", {"a": 1}, {"a": "x"}) == (
        307,
        "dict_sum adds maps of integers, not int64 and string",
    )


def test_the_command_and_the_client(table: Run) -> None:
    table(f"create table {T} -r --attributes '{{schema={TOTALS}}}'")
    assert table(f"insert-rows {T} --format json --aggregate --json", '{"k":"a","n":2}\n').json == {
        "path": T,
        "rows": 1,
    }
    with YtClient("yt:store") as client:
        client.insert_rows(T, [{"k": "a", "n": 3}, {"k": "b"}], aggregate=True)
        assert [*client.read_table(f"{T}{{k,n}}")] == [{"k": "a", "n": 5}, {"k": "b", "n": None}]
        client.insert_rows(T, b'{"k":"b","n":1}', format="json", update=True)
        assert [*client.read_table(f"{T}{{n}}[b]")] == [{"n": 1}]
