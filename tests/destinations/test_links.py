"""Identity resolution: rules join pairs, and what is joined has one id, over any number of loads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destinations.commits import Row, Warehouse, table
from destinations.conftest import merging
from trellis.destinations.sql.identities import Pair, id_generator, resolve
from trellis.evolution.table_writes import IdentityRules, KeyedWrite

COLUMNS = ("kind_1", "value_1", "kind_2", "value_2")
RULES = table("rules", **dict.fromkeys(COLUMNS, "text"))
MAPPINGS = table("mappings", kind="text", value="text", identity="text", updated="timestamp")
LINKS = IdentityRules(
    "rules",
    "mappings",
    (("kind_1", "value_1"), ("kind_2", "value_2")),
    "kind",
    "value",
    "identity",
    "updated",
)
NOON, ONE = (datetime(2026, 1, 1, hour, tzinfo=timezone.utc) for hour in (12, 13))

# --- The laws --------------------------------------------------------------------------------------------

VALUES: list[Pair] = [(kind, str(number)) for kind in ("anonymous", "user") for number in range(5)]
PAIR = st.sampled_from(VALUES)
RULE_LISTS = st.lists(st.tuples(PAIR, st.none() | PAIR), max_size=12)
Rules = Sequence[tuple[Pair, Pair | None]]


def load(known: Mapping[Pair, str], rules: Rules, load_id: str) -> dict[Pair, str]:
    """The ids after one more load."""
    numbered = [(number, one, other) for number, (one, other) in enumerate(rules)]
    changes = resolve(known, numbered, id_generator(load_id))
    assert not {*changes.new_identities} & {*known}
    assert not {*changes.merged} & {*changes.merged.values()}
    return {pair: changes.merged.get(i, i) for pair, i in {**known, **changes.new_identities}.items()}


def groups(ids: Mapping[Pair, str]) -> set[frozenset[Pair]]:
    pairs_by_user: dict[str, set[Pair]] = defaultdict(set)
    for pair, identity in ids.items():
        pairs_by_user[identity].add(pair)
    return {frozenset(group) for group in pairs_by_user.values()}


def joined(rules: Rules) -> set[frozenset[Pair]]:
    """Pairs that rules lead from one to the other, by widening groups until nothing changes."""
    groups = {frozenset({one} if other is None else {one, other}) for one, other in rules}
    while True:
        wider = {frozenset().union(*(g for g in groups if g & group)) for group in groups}
        if wider == groups:
            return groups
        groups = wider


@given(RULE_LISTS)
def test_c79_what_is_joined_shares_an_id_and_nothing_else(rules: Rules) -> None:
    assert groups(load({}, rules, "a")) == joined(rules)


@given(RULE_LISTS, st.lists(st.integers(0, 12)))
def test_c79_loads_may_be_cut_anywhere(rules: Rules, cuts: list[int]) -> None:
    ids: dict[Pair, str] = {}
    ends = sorted({*cuts, 12})
    for start, end in zip([0, *ends], ends, strict=False):
        ids = load(ids, rules[start:end], f"load {start}")
    assert groups(ids) == groups(load({}, rules, "a"))


@given(RULE_LISTS, RULE_LISTS)
def test_an_id_stays_unless_it_is_merged(first: Rules, second: Rules) -> None:
    before = load({}, first, "a")
    after = load(before, second, "b")
    apart = joined([*first, *second])
    for group in apart & joined(first):
        assert {before[pair] for pair in group} == {after[pair] for pair in group}


@given(RULE_LISTS)
def test_a_rule_that_is_known_changes_nothing(rules: Rules) -> None:
    ids = load({}, rules, "a")
    assert load(ids, rules, "b") == ids
    assert load({}, rules, "a") == ids, "a load that is run again gives the same ids"


def test_the_first_pair_keeps_its_id() -> None:
    a, b, c = (("user", letter) for letter in "abc")
    changes = resolve({a: "A", b: "B"}, [(7, c, b), (8, a, c)], str)
    assert (changes.new_identities, changes.merged) == ({c: "A"}, {"B": "A"})


# --- In a warehouse --------------------------------------------------------------------------------------


@pytest.fixture
def warehouse(destination_url: str, tmp_path: Path) -> Warehouse:
    return Warehouse(destination_url, tmp_path)


def rule(*values: str | None) -> Row:
    return dict(zip(COLUMNS, values, strict=True))


def link(warehouse: Warehouse, *files: Iterable[Row], now: datetime = NOON, **more: Any) -> None:
    warehouse.run(
        [RULES, MAPPINGS],
        {"rules": [list(rows) for rows in files]},
        keyed=(KeyedWrite("rules"),),
        links=LINKS,
        now=now,
        **more,
    )


def identities(warehouse: Warehouse) -> dict[Any, str]:
    rows = warehouse.rows("mappings", "kind", "value", "identity")
    assert len(rows) == len({row[:2] for row in rows})
    return {(kind, value): identity for kind, value, identity in rows}


A1, A2, U1, U2 = ("anonymous_id", "a1"), ("anonymous_id", "a2"), ("user_id", "u1"), ("user_id", "u2")


@merging
def test_c79_three_rules(warehouse: Warehouse) -> None:
    link(warehouse, [rule(*A1, *U1), rule(*A2, *U2), rule(*U1, *U2)])
    users = identities(warehouse)
    assert {*users} == {A1, A2, U1, U2}
    assert {*users.values()} == {id_generator("load-0")(1)}


@merging
def test_c79_over_three_loads(warehouse: Warehouse) -> None:
    link(warehouse, [rule(*A1, *U1)])
    link(warehouse, [rule(*A2, *U2)])
    before = identities(warehouse)
    assert before[A1] == before[U1] != before[A2] == before[U2]
    link(warehouse, [rule(*U1, *U2)], now=ONE)
    assert identities(warehouse) == dict.fromkeys((A1, A2, U1, U2), before[U1])
    assert warehouse.rows("mappings", "value", "updated") == [
        ("a1", NOON),
        ("a2", ONE),
        ("u1", NOON),
        ("u2", ONE),
    ]


@merging
def test_a_known_id_spreads(warehouse: Warehouse) -> None:
    link(warehouse, [rule(*U1, None, None)])
    first = identities(warehouse)
    link(warehouse, [rule(*A1, *U1), rule(*A1, *A2)], now=ONE)
    assert identities(warehouse) == dict.fromkeys((A1, A2, U1), first[U1])
    assert ("u1", NOON) in warehouse.rows("mappings", "value", "updated")


@merging
def test_half_rules(warehouse: Warehouse) -> None:
    rows = [rule(*U1, None, None), rule(*U2, "anonymous_id", None), rule(None, None, *A1), rule(*U1, *U1)]
    link(warehouse, rows)
    users = identities(warehouse)
    assert {*users} == {U1, U2}
    assert users[U1] != users[U2]
    link(warehouse, rows, now=ONE)
    assert identities(warehouse) == users
    assert {row[0] for row in warehouse.rows("mappings", "updated")} == {NOON}


@merging
def test_rules_are_taken_in_the_order_of_the_input(warehouse: Warehouse) -> None:
    """The same rule again is the first one; ids are those of the numbers of the distinct rules."""
    first, second = rule(*A1, *U1), rule(*A2, *U2)
    link(warehouse, [first, first], [second, first], [first, rule(*A1, *A2)])
    assert {*identities(warehouse).values()} == {id_generator("load-0")(1)}
    other = [rule("user_id", f"x{n}", None, None) for n in range(3)]
    link(warehouse, other)
    new = id_generator("load-1")
    assert [identities(warehouse)["user_id", f"x{n}"] for n in range(3)] == [new(1), new(2), new(3)]


@merging
def test_the_rules_are_loaded_as_well(warehouse: Warehouse) -> None:
    link(warehouse, [rule(*A1, *U1)])
    link(warehouse)
    assert warehouse.rows("rules") == [(*A1, *U1)]


@merging
def test_columns_beside_the_mapping(warehouse: Warehouse) -> None:
    noted = MAPPINGS.with_columns(*table("x", note="text").columns.values())
    note = {"kind": "user_id", "value": "u2", "identity": "old", "updated": NOON, "note": "kept"}
    warehouse.run([noted], {"mappings": [[note]]}, keyed=(KeyedWrite("mappings"),))
    link(warehouse, [rule(*U1, None, None), rule(*U1, *U2)])
    expected = [("u1", None), ("u2", "kept")]
    assert warehouse.rows("mappings", "value", "note") == expected
    assert len({*identities(warehouse).values()}) == 1
