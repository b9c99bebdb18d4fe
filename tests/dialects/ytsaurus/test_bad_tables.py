"""Ranges, inputs and chunks that are wrong, empty or gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dialects.ytsaurus.jobs import on_groups, on_rows
from dialects.ytsaurus.schemas import document, schema
from dialects.ytsaurus.test_tables import ROWS, T, code_of, create, read, schema_of, write
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.jobs.operations import map_rows, reduce_rows
from trellis.dialects.ytsaurus.store.operations import erase, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.store import Store
from trellis.errors import StorageError

A, B = "//tmp/a", "//tmp/b"
KEY = (SortColumn("k"),)


def same(row: Any) -> Any:
    yield row


# --- Ranges ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranges", "rows"),
    [
        ("[#3:#1]", ""),
        ("[c:a]", ""),
        ("[#1:a]", ""),
        ("[#4:]", ""),
        ("[#99]", ""),
        ("[zz:]", ""),
        ("[:zz]", "{k=a;v=1}{k=b;v=2}{k=b;v=3}{k=c;v=4}"),
        ("[c:zz,#9:]", "{k=c;v=4}"),
        ("[5:]", "{k=a;v=1}{k=b;v=2}{k=b;v=3}{k=c;v=4}"),
        ("[:5]", ""),
        ("[%true:]", "{k=a;v=1}{k=b;v=2}{k=b;v=3}{k=c;v=4}"),
        ("[5]", ""),
        ("[(#):]", "{k=a;v=1}{k=b;v=2}{k=b;v=3}{k=c;v=4}"),
        ("[:(#)]", ""),
        ("[(a,1):(a,2)]", ""),
        ("[(c,1,2):]", ""),
    ],
)
def test_b09_ranges_that_hold_little_or_nothing(store: Store, ranges: str, rows: str) -> None:
    create(store, "[k:string^, v]", rows=ROWS)
    assert read(store, T + ranges) == rows


@pytest.mark.parametrize(
    ("key", "range", "rows"),
    [
        ("int64", "[1.5:]", ""),
        ("int64", "[a:]", ""),
        ("int64", "[:a]", "{k=1}{k=2}"),
        ("int64", "[18446744073709551615u:]", ""),
        ("int64", "[2u:]", "{k=2}"),
        ("uint64", "[-1:]", "{k=1u}{k=2u}"),
        ("uint64", "[:-1]", ""),
        ("double", "[2:]", "{k=2.}"),
        ("double", "[%nan:]", ""),
    ],
)
def test_b09_limits_of_another_kind_than_the_key(store: Store, key: str, range: str, rows: str) -> None:
    suffix = {"int64": "", "uint64": "u", "double": "."}[key]
    create(store, f"[k:{key}^]", rows=f"{{k=1{suffix}}};{{k=2{suffix}}}")
    assert read(store, T + range) == rows


def test_b09_limits_that_have_no_order(store: Store) -> None:
    create(store, "[k:string^, v]", rows=ROWS)
    assert code_of(read, store, f"<ranges=[{{lower_limit={{key=[{{a=1}}]}}}}]>{T}") == (
        324,
        "a map has no order, so it cannot be a key",
    )


# --- Inputs and outputs ----------------------------------------------------------------------------------

Operation = Callable[[Store, list[str], str], None]
OPERATIONS: dict[str, Operation] = {
    "merge": lambda store, sources, target: merge(store, sources, target, "ordered"),
    "unordered": lambda store, sources, target: merge(store, sources, target, "unordered"),
    "sorted": lambda store, sources, target: merge(store, sources, target, "sorted"),
    "sort": lambda store, sources, target: sort(store, sources, target, KEY),
    "map": lambda store, sources, target: map_rows(store, on_rows(same), sources, [target]),
    "reduce": lambda store, sources, target: reduce_rows(
        store, on_groups(lambda key, rows: rows), sources, [target], KEY
    ),
}


@pytest.mark.parametrize(
    ("operation", "rows", "after"),
    [
        ("merge", "{k=b;v=1}{k=a;v=2}{k=a;v=3}", "[k:optional<string>, v] strong"),
        ("unordered", "{k=b;v=1}{k=a;v=2}{k=a;v=3}", "[k:optional<string>, v] strong"),
        ("sort", "{k=a;v=2}{k=a;v=3}{k=b;v=1}", "[k:optional<string>^, v] strong"),
        ("map", "{k=b;v=1}{k=a;v=2}{k=a;v=3}", "[k:optional<string>, v] strong"),
    ],
)
def test_b10_an_output_that_is_an_input(store: Store, operation: str, rows: str, after: str) -> None:
    create(store, "[k:string, v]", A, "{k=b;v=1};{k=a;v=2}")
    create(store, "[k:string, v]", B, "{k=a;v=3}")
    OPERATIONS[operation](store, [A, B], A)
    assert (read(store, A), schema_of(store, A), read(store, B)) == (rows, after, "{k=a;v=3}")


def test_b10_a_sorted_output_that_is_an_input(store: Store) -> None:
    create(store, "[k:string^, v]", A, "{k=a;v=1};{k=c;v=2}")
    create(store, "[k:string^, v]", B, "{k=b;v=3}")
    OPERATIONS["sorted"](store, [A, B], A)
    assert (read(store, A), schema_of(store, A)) == (
        "{k=a;v=1}{k=b;v=3}{k=c;v=2}",
        "[k:optional<string>^, v] strong",
    )
    OPERATIONS["reduce"](store, [A, B], A)
    assert read(store, A) == "{k=a;v=1}{k=b;v=3}{k=b;v=3}{k=c;v=2}"
    assert code_of(merge, store, [A], f"<append=%true>{A}", "ordered")[0] == 301
    assert read(store, A) == "{k=a;v=1}{k=b;v=3}{k=b;v=3}{k=c;v=2}"


def test_b10_rows_appended_to_their_own_table(store: Store) -> None:
    create(store, "[v]", rows="{v=1};{v=2}")
    merge(store, [T, T], f"<append=%true>{T}", "ordered")
    assert read(store) == "{v=1}{v=2}" * 3


def test_b10_nodes_onto_themselves(store: Store) -> None:
    create(store, "[v]", rows="{v=1}")
    for verb in (store.copy, store.move):
        assert code_of(lambda: verb(T, T, force=True))[0] == 1  # noqa: B023 - called at once
    remote_copy(store, store, T, T)
    assert read(store) == "{v=1}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_b11_missing_inputs(store: Store, operation: str) -> None:
    run = OPERATIONS[operation]
    assert code_of(run, store, ["//tmp/zz"], T) == (500, "there is no node //tmp/zz")
    assert code_of(run, store, [], T)[0] == 1
    assert store.find(T) is None


@pytest.mark.parametrize("operation", OPERATIONS)
def test_b11_empty_inputs(store: Store, operation: str) -> None:
    create(store, "[k:string^, v]", A)
    create(store, "[k:string^, v]", rows=ROWS)
    OPERATIONS[operation](store, [A, A], T if operation in ("sorted", "sort", "reduce") else B)
    assert read(store, T if operation in ("sorted", "sort", "reduce") else B) == ""


def test_b11_verbs_of_one_table_without_rows(store: Store) -> None:
    for verb in (
        lambda: read(store),
        lambda: erase(store, T),
        lambda: insert_rows(store, T, []),
        lambda: alter_table(store, T, document("[v]")),
        lambda: remote_copy(store, store, T, A),
    ):
        assert code_of(verb) == (500, "there is no node //tmp/t")
    create(store, "[k:string^, v]u")
    erase(store, f"{T}[a:b]")
    insert_rows(store, T, [])
    write(store, f"<append=%true>{T}", "")
    alter_table(store, T, document("[k:string^, v, w]u"))
    remote_copy(store, store, T, A)
    assert [read(store), read(store, A), read(store, f"{T}[a:b,#0]")] == ["", "", ""]


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        ("merge", "~[] weak"),
        ("unordered", "~[] weak"),
        ("sort", "~[k:any^] weak"),
        ("map", "~[] weak"),
    ],
)
def test_b11_weak_inputs(store: Store, operation: str, after: str) -> None:
    create(store, None, A, "{k=b;v=1}")
    create(store, None, B, "{k=a;v=x};{k=5}")
    OPERATIONS[operation](store, [A, B], T)
    rows = "{k=5}{k=a;v=x}{k=b;v=1}" if operation == "sort" else "{k=b;v=1}{k=a;v=x}{k=5}"
    assert (read(store), schema_of(store)) == (rows, after)
    create(store, "[k:string, v]", "//tmp/strong", "{k=z;v=9}")
    code, message = code_of(OPERATIONS[operation], store, [A, B], "//tmp/strong")
    assert (code, "expected " in message) == (307, True), message
    assert read(store, "//tmp/strong") == "{k=z;v=9}"


@pytest.mark.parametrize("operation", ["sorted", "reduce"])
def test_b11_weak_inputs_that_are_not_sorted(store: Store, operation: str) -> None:
    create(store, None, A, "{k=b}")
    code, message = code_of(OPERATIONS[operation], store, [A], T)
    assert (code, "sorted" in message) == (1, True), message


# --- Chunks ----------------------------------------------------------------------------------------------


def copy_to_another_store(store: Store) -> None:
    with Store.open(f"yt:{store.folder}-2") as other:
        remote_copy(other, store, A, T)


@pytest.mark.parametrize(
    "verb",
    [
        lambda store: read(store, A),
        lambda store: sort(store, [A], T, (SortColumn("v"),)),
        lambda store: merge(store, [f"{A}{{k}}"], T, "ordered"),
        lambda store: merge(store, [A, B], T, "sorted"),
        lambda store: map_rows(store, on_rows(same), [A], [T]),
        lambda store: erase(store, f"{A}[#1]"),
        lambda store: insert_rows(store, A, [{"k": b"b"}]),
        copy_to_another_store,
    ],
    ids=["read", "sort", "merge-columns", "sorted-merge", "map", "erase", "insert-rows", "remote-copy"],
)
def test_b14_a_chunk_that_is_gone(store: Store, verb: Callable[[Store], Any]) -> None:
    create(store, "[k:string^, v]u", A, "{k=a;v=1};{k=b;v=2};{k=d;v=3}")
    create(store, "[k:string^, v]u", B, "{k=c;v=4}")
    (part,) = store.catalog.slices(store.node(A).id)
    path = store.files.path(part.chunk.id)
    path.rename(path.with_suffix(".lost"))
    with pytest.raises(StorageError) as error:
        verb(store)
    assert str(error.value) == f"{A}: {path} is gone; restore it from a backup"
    assert (read(store, B), store.find(T)) == ("{k=c;v=4}", None)
    path.with_suffix(".lost").rename(path)
    assert read(store, A) == "{k=a;v=1}{k=b;v=2}{k=d;v=3}"


def test_b14_verbs_that_need_no_chunk(store: Store) -> None:
    create(store, "[k:string^, v]u", A, "{k=a;v=1}")
    (part,) = store.catalog.slices(store.node(A).id)
    path = store.files.path(part.chunk.id)
    path.unlink()
    write(store, f"<append=%true>{A}", "{k=b;v=2}")
    alter_table(store, A, document("[k:string^, v, w]u"))
    store.copy(A, T)
    assert (read(store, f"{T}[b]"), schema("[k:string^, v, w]u") == store.table(T).schema) == (
        "{k=b;v=2}",
        True,
    )
    code, message = code_of(merge, store, [A], B, "ordered")
    assert (code, message) == (
        402,
        (
            f"{path} is gone: it was deleted while it was taken over, or it is lost; run this again, or "
            "restore it from a backup"
        ),
    )
