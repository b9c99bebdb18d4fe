"""Transactions and locks, in a catalogue of each kind."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator

import pytest

from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of, write
from trellis.dialects.ytsaurus.store.attributes import exists, get, list_children, set_attribute
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.transaction_commands import (
    abort_transaction,
    commit_transaction,
    lock_node,
    ping_transaction,
    start_transaction,
    unlock_node,
)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


def begin(store: Store, title: str = "") -> Store:
    """The store in a new transaction."""
    return store.within(start_transaction(store, attributes={"title": title} if title else None))


def test_changes_are_seen_outside_after_the_commit(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    inner = begin(store)
    write(inner, "<append=%true>//tmp/t", "{k=2}")
    create(inner, None, "//tmp/new", rows="{z=1}")
    set_attribute(inner, f"{T}/@note", "x")
    inner.remove("//home")
    assert (read(inner), read(store)) == ("{k=1}{k=2}", "{k=1}")
    assert (list_children(inner, "//tmp"), list_children(store, "//tmp")) == (["new", "t"], ["t"])
    assert (exists(inner, "//home"), exists(store, "//home")) == (False, True)
    assert (get(inner, f"{T}/@row_count"), get(store, f"{T}/@row_count")) == (2, 1)
    commit_transaction(store, inner.lineage[0])
    assert (read(store), read(store, "//tmp/new"), get(store, f"{T}/@note")) == ("{k=1}{k=2}", "{z=1}", "x")
    assert not exists(store, "//home")
    assert store.transactions.list_ids() == []


def test_an_aborted_transaction_leaves_nothing(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    inner = begin(store)
    write(inner, T, "{k=2}")
    create(inner, None, "//tmp/new")
    inner.move(T, "//tmp/u")
    assert read(inner, "//tmp/u") == "{k=2}"
    abort_transaction(store, inner.lineage[0])
    assert (read(store), list_children(store, "//tmp")) == ("{k=1}", ["t"])
    code, message = code_of(write, inner, "//tmp/t", "{k=3}")
    assert (code, message) == (
        11000,
        f"there is no transaction {inner.lineage[0]}; it was committed or aborted, or its time was over",
    )


def test_nested_transactions(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    outer = begin(store)
    write(outer, f"<append=%true>{T}", "{k=2}")
    first = begin(outer)
    write(first, f"<append=%true>{T}", "{k=3}")
    assert (read(first), read(outer), read(store)) == ("{k=1}{k=2}{k=3}", "{k=1}{k=2}", "{k=1}")
    commit_transaction(store, first.lineage[0])
    second = begin(outer)
    write(second, T, "{k=9}")
    abort_transaction(store, second.lineage[0])
    third = begin(outer)
    write(third, T, "{k=5}")
    assert read(outer) == "{k=1}{k=2}{k=3}"
    commit_transaction(store, outer.lineage[0])  # what is nested and not committed is lost
    assert read(store) == "{k=1}{k=2}{k=3}"
    assert code_of(store.within, third.lineage[0])[0] == 11000


def test_a_table_that_is_created_and_removed_in_nested_transactions(store: Store) -> None:
    outer = begin(store)
    create(outer, "[k]", rows="{k=1}")
    inner = begin(outer)
    inner.remove(T)
    create(inner, "[z]", rows="{z=1}")
    assert (schema_of(inner), schema_of(outer)) == ("[z] strong", "[k] strong")
    commit_transaction(store, inner.lineage[0])
    assert read(outer) == "{z=1}"
    commit_transaction(store, outer.lineage[0])
    assert read(store) == "{z=1}"


def test_two_appends_in_transactions_both_succeed(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    first, second = begin(store), begin(store)
    write(first, f"<append=%true>{T}", "{k=2}")
    write(second, f"<append=%true>{T}", "{k=3}")
    write(store, f"<append=%true>{T}", "{k=4}")
    commit_transaction(store, second.lineage[0])
    commit_transaction(store, first.lineage[0])
    assert read(store) == "{k=1}{k=4}{k=3}{k=2}"


def test_an_exclusive_lock_names_its_holder(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    holder = begin(store, "nightly job")
    lock_node(holder, T)
    name = f"the transaction {holder.lineage[0]} (nightly job)"
    code, message = code_of(write, store, T, "{k=2}")
    assert (code, message) == (
        402,
        f"cannot write {T}: it is locked by {name}; wait for it and run this again",
    )
    for verb, action in (
        ("set an attribute of //tmp/t", lambda: set_attribute(store, f"{T}/@x", 1)),
        ("remove //tmp/t", lambda: store.remove(T)),
        ("move //tmp/t", lambda: store.move(T, "//tmp/u")),
        ("lock //tmp/t", lambda: lock_node(begin(store), T, "shared")),
    ):
        code, message = code_of(action)
        assert (code, message.partition(":")[0]) == (402, f"cannot {verb}")
    assert read(store) == "{k=1}"
    abort_transaction(store, holder.lineage[0])
    write(store, T, "{k=2}")
    assert read(store) == "{k=2}"


def test_a_name_that_a_transaction_creates_is_locked(store: Store) -> None:
    inner = begin(store)
    create(inner, None)
    create(store, None, "//tmp/u")
    code, message = code_of(create, store, None)
    assert (code, message) == (
        402,
        (
            f"cannot create {T}: it is locked by the transaction {inner.lineage[0]}; "
            "wait for it and run this again"
        ),
    )


def test_a_snapshot_lock_keeps_what_was_there(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    reader = begin(store)
    lock = lock_node(reader, T, "snapshot")
    write(store, T, "{k=2}")
    assert (read(reader), read(reader, f"#{lock.node}{{k}}[#0]"), read(store)) == ("{k=1}", "{k=1}", "{k=2}")
    assert get(reader, f"#{lock.node}/@row_count") == 1
    store.remove(T)
    store.collect_garbage(age=-1)
    assert read(reader, f"#{lock.node}") == "{k=1}"
    code, message = code_of(write, reader, f"#{lock.node}", "{k=3}")
    assert (code, message.partition(": ")[2]) == (
        402,
        f"the transaction {reader.lineage[0]} has a snapshot lock on it, and may only read it",
    )
    commit_transaction(store, reader.lineage[0])
    assert not exists(store, T)


def test_locks_that_can_be_held_together(store: Store) -> None:
    create(store, "[k]")
    first, second = begin(store), begin(store)
    lock_node(first, T, "shared")
    lock_node(second, T, "shared")
    lock_node(first, "//tmp", "shared", child_key="a")
    lock_node(second, "//tmp", "shared", child_key="b")
    assert code_of(lambda: lock_node(second, "//tmp", "shared", child_key="a"))[0] == 402
    assert [lock["mode"] for lock in get(store, f"{T}/@locks")] == ["shared", "shared"]
    unlock_node(first, T)
    lock_node(second, T, "exclusive")
    assert code_of(lock_node, first, T, "shared")[0] == 402
    assert code_of(lock_node, store, "//home") == (
        1,
        "//home can be locked in a transaction only; start one first",
    )
    assert code_of(lock_node, first, T, "wide")[1] == (
        "there is no lock of the mode 'wide'; expected one of snapshot, shared, exclusive"
    )


def test_a_waitable_lock_is_acquired_later(store: Store) -> None:
    create(store, "[k]")
    first, second = begin(store), begin(store)
    lock_node(first, T)
    pending = lock_node(second, T, waitable=True)
    assert get(store, f"#{pending.id}/@state") == "pending"
    commit_transaction(store, first.lineage[0])
    assert get(store, f"#{pending.id}/@state") == "acquired"
    assert code_of(write, store, T, "{k=1}")[0] == 402


def test_a_transaction_without_pings_ends(store: Store) -> None:
    create(store, "[k]", rows="{k=1}")
    ids = [start_transaction(store, timeout=0.3) for _ in range(2)]
    write(store.within(ids[0]), T, "{k=2}")
    for _ in range(4):
        time.sleep(0.15)
        ping_transaction(store, ids[1])
    assert code_of(ping_transaction, store, ids[0])[0] == 11000
    write(store, T, "{k=3}")
    assert (read(store), store.transactions.list_ids()) == ("{k=3}", ids[1:])
    assert get(store, f"#{ids[1]}/@timeout") == 300


def test_a_ping_reaches_those_around_if_asked(store: Store) -> None:
    outer = start_transaction(store, timeout=0.4)
    inner = start_transaction(store.within(outer), timeout=60)
    for _ in range(4):
        time.sleep(0.15)
        ping_transaction(store, inner, ancestors=True)
    assert exists(store, f"#{outer}")
    time.sleep(0.6)
    assert code_of(ping_transaction, store, inner)[0] == 11000


def test_a_write_that_fails_leaves_no_table(store: Store) -> None:
    assert code_of(write, store, "<schema=[{name=k;type=int64}]>//tmp/new", "{k=1};{k=x}")[0] == 307
    assert list_children(store, "//tmp") == []


def test_commands_of_many_threads_exclude_each_other(store: Store, store_url: str) -> None:
    """Appends of ten threads all arrive, and of overwrites each is whole."""
    create(store, "[k]")
    create(store, "[k]", "//tmp/u")
    refusals: list[str] = []

    def run(number: int) -> None:
        with Store.open(store_url) as other:
            for turn in range(3):
                write(other, f"<append=%true>{T}", f"{{k={number}{turn}}}")
                try:
                    write(other, "//tmp/u", f"{{k={number}}};{{k={number}}}")
                except Exception as error:
                    refusals.append(str(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(1, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = sorted(int(key) for key in re.findall(r"\d+", read(store)))
    assert keys == sorted(int(f"{number}{turn}") for number in range(1, 11) for turn in range(3))
    first, second = re.findall(r"\d+", read(store, "//tmp/u"))
    assert first == second
    assert all(
        re.match(r"cannot write //tmp/u: it is locked by write \(process \d+", text) for text in refusals
    )


def test_what_is_nested_cannot_be_moved_into_itself(store: Store) -> None:
    create(store, "[k]", "//tmp/a")
    store.create("map_node", "//tmp/m/n", recursive=True)
    message = "both are one node, or one is in the other"
    for source, target in (("//tmp/m", "//tmp/m/n/x"), ("//tmp/a", "//tmp/a"), ("//tmp/m/n", "//tmp/m")):
        code, text = code_of(lambda s=source, t=target: store.copy(s, t, force=True))
        assert (code, text.partition(": ")[2]) == (1, message)
    assert list_children(store, "//tmp/m") == ["n"]
