"""Two writers of one table, for each pair of verbs: the second comes just before the first commits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import trellis
from dialects.ytsaurus.jobs import on_rows
from dialects.ytsaurus.schemas import document
from dialects.ytsaurus.test_tables import T, code_of, create, read, write
from trellis.dialects.ytsaurus.destination.table_load import LOADS
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.attributes import get, set_attribute
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.jobs.operations import map_rows
from trellis.dialects.ytsaurus.store.operations import erase, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.yson.writer import dumps

Verb = Callable[[Store, str], Any]
"""What takes a store and its URL."""
OTHER = "//tmp/other"
KEYED = "[k:string^, v]u"


def same(row: Any) -> Any:
    yield row


def load(url: str, row: dict[str, Any], schema: str) -> None:
    """Append a row."""
    pipeline = trellis.pipeline("t", url, dialect="ytsaurus")
    pipeline.load([row], table=T, schema=dumps(document(schema)).decode())


LONG_VERBS: dict[str, tuple[Verb, str]] = {
    "write": (lambda store, _: write(store, T, "{k=w}"), "{k=w}"),
    "append": (lambda store, _: write(store, f"<append=%true>{T}", "{k=z}"), "{k=a;v=1}{k=b;v=2}{k=z}"),
    "insert rows into": (
        lambda store, _: insert_rows(store, T, [{"k": b"b", "v": 7}]),
        "{k=a;v=1}{k=b;v=7}",
    ),
    "merge into": (lambda store, _: merge(store, [OTHER], T, "sorted"), "{k=o;v=3}"),
    "sort into": (lambda store, _: sort(store, [OTHER], T, [SortColumn("k")]), "{k=o;v=3}"),
    "map into": (lambda store, _: map_rows(store, on_rows(same), [OTHER], [T]), "{k=o;v=3}"),
    "copy into": (lambda store, _: remote_copy(store, store, OTHER, T), "{k=o;v=3}"),
    "erase rows of": (lambda store, _: erase(store, f"{T}[a]"), "{k=b;v=2}"),
    "load into": (lambda _, url: load(url, {"k": "z"}, KEYED), "{k=a;v=1}{k=b;v=2}{k=z}"),
}
"""Verbs that work before they commit, as errors name them, and the rows that they leave."""
SHORT_VERBS: dict[str, Verb] = {
    "alter": lambda store, _: alter_table(store, T, document("[k:string^, v, w]u")),
    "set an attribute of": lambda store, _: set_attribute(store, f"{T}/@note", 1),
    "remove": lambda store, _: store.remove(T),
    "move": lambda store, _: store.move(T, "//tmp/moved"),
    "replace": lambda store, _: store.copy(OTHER, T, force=True),
}
EXCLUSIVE: dict[str, Verb] = {**{name: verb for name, (verb, _) in LONG_VERBS.items()}, **SHORT_VERBS}


def run_both(
    store_url: str, first: Verb, second: Verb, monkeypatch: pytest.MonkeyPatch, step: str = "commit"
) -> None:
    """The second verb runs in a store of its own, when the first has done all but its commit.

    A load, whose commit is a part of a longer step, has then done no more than to `lock` the table.
    """
    method = getattr(Store, step)

    def run_second() -> None:
        monkeypatch.setattr(Store, step, method)
        with Store.open(store_url) as other:
            second(other, store_url)

    def commit(self: Store) -> None:
        run_second()
        method(self)

    def lock(self: Store, *arguments: Any, **options: Any) -> Any:
        table = method(self, *arguments, **options)
        run_second()
        return table

    monkeypatch.setattr(Store, step, {"commit": commit, "lock": lock}[step])
    with Store.open(store_url) as store:
        first(store, store_url)


@pytest.fixture
def store(store_url: str) -> Any:
    with Store.open(store_url) as opened:
        create(opened, KEYED, rows="{k=a;v=1};{k=b;v=2}")
        create(opened, KEYED, OTHER, "{k=o;v=3}")
        yield opened


@pytest.mark.parametrize("first", LONG_VERBS)
def test_b12_the_later_of_two_writers_is_refused(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    errors: dict[str, tuple[int, str]] = {}

    def try_every_verb(other: Store, url: str) -> None:
        errors.update({name: code_of(verb, other, url) for name, verb in EXCLUSIVE.items()})

    verb, rows = LONG_VERBS[first]
    run_both(store_url, verb, try_every_verb, monkeypatch, step_of(first))
    verbs = {"append": "write", "replace": "remove"}
    holder = rf"{verbs.get(first, first)} \(process \d+ on \S+, .* UTC\)"
    for name, (code, message) in errors.items():
        verb_again = verbs.get(name, name)
        text = rf"cannot {verb_again} //tmp/t: it is locked by {holder}; wait for it and run this again"
        assert (code, bool(re.fullmatch(text, message))) == (402, True), message
    assert errors.keys() == EXCLUSIVE.keys()
    assert (read(store), read(store, OTHER)) == (rows, "{k=o;v=3}")
    assert store.locks.of_node(store.node(T).id) == []


@pytest.mark.parametrize("first", LONG_VERBS)
def test_b12_readers_beside_a_writer(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Who only reads a table is not kept waiting, and has the rows before the commit."""
    verb, rows = LONG_VERBS[first]

    def read_in_every_way(other: Store, _: str) -> None:
        assert read(other) == "{k=a;v=1}{k=b;v=2}"
        assert get(other, f"{T}/@row_count") == 2
        other.copy(T, "//tmp/copied")
        merge(other, [T], "//tmp/merged", "ordered")

    run_both(store_url, verb, read_in_every_way, monkeypatch, step_of(first))
    assert [read(store, path) for path in ("//tmp/copied", "//tmp/merged")] == ["{k=a;v=1}{k=b;v=2}"] * 2
    assert read(store) == rows


def append(store: Store, _: str) -> None:
    write(store, f"<append=%true>{T}", "{v=2}")


APPENDS: dict[str, Verb] = {"write": append, "load into": lambda _, url: load(url, {"v": 2}, "[v]")}


@pytest.mark.parametrize("second", APPENDS)
@pytest.mark.parametrize("first", APPENDS)
def test_b12_two_appends_to_an_unsorted_table(
    store_url: str, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    with Store.open(store_url) as store:
        create(store, "[v]", rows="{v=1}")
        run_both(store_url, APPENDS[first], APPENDS[second], monkeypatch, step_of(first))
        assert read(store) == "{v=1}{v=2}{v=2}"
        errors: list[tuple[int, str]] = []
        run_both(
            store_url,
            APPENDS[first],
            lambda other, _: errors.append(code_of(write, other, T, "{v=0}")),
            monkeypatch,
            step_of(first),
        )
        assert (errors[0][0], read(store)) == (402, "{v=1}{v=2}{v=2}{v=2}")
        loads = [first, second, first].count("load into")
        assert len(store.table(T).node.attributes.get(LOADS, ())) == loads


def step_of(verb: str) -> str:
    return "lock" if verb == "load into" else "commit"
