"""Identity resolution: rules join pairs of kind and value, and the pairs that are joined share one id.

`resolve` is pure: it is told the rules in order and what the pairs had before, and answers with the least
that has to be written. `Linking` has the queries around it (see `Links`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from trellis.destinations.sql.names import quoted
from trellis.evolution.loading import Links

Pair = tuple[str, str]
"""Kind and value."""
Rule = tuple[int, Pair, Pair | None]
"""Its number in the load, and the pairs that belong together; with one pair it says that there is one."""

_NAMESPACE = UUID("5f3c0a9e-6f0b-4f0e-9d55-0d6a53f7c1b2")


@dataclass
class Changes:
    """`given`: the ids of pairs that had none; `merged`: what stands for an id that is no more."""

    given: dict[Pair, str] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)


def resolve(known: Mapping[Pair, str], rules: Iterable[Rule], new_id: Callable[[int], str]) -> Changes:
    """What the rules change, taken one after the other; `new_id` makes an id of the number of a rule.

    `known` has the ids of the pairs in the rules, as far as they have any.

    >>> a1, u1, a2, u2 = ("anonymous_id", "1"), ("user_id", "1"), ("anonymous_id", "2"), ("user_id", "2")
    >>> resolve({}, [(1, a1, u1), (2, a2, u2), (3, u1, u2)], lambda number: f"id {number}").given
    {('anonymous_id', '1'): 'id 1', ('user_id', '1'): 'id 1',
     ('anonymous_id', '2'): 'id 1', ('user_id', '2'): 'id 1'}
    >>> resolve({a1: "x", u2: "y"}, [(1, a1, u2)], str)
    Changes(given={}, merged={'y': 'x'})
    """
    given: dict[Pair, str] = {}
    above: dict[str, str] = {}

    def top(identity: str) -> str:
        found = identity
        while found in above:
            found = above[found]
        while identity != found:
            above[identity], identity = found, above[identity]
        return found

    def id_of(pair: Pair | None) -> str | None:
        found = None if pair is None else given.get(pair) or known.get(pair)
        return None if found is None else top(found)

    for number, one, other in rules:
        first, second = id_of(one), id_of(other)
        kept = first or second or new_id(number)
        if first is None:
            given[one] = kept
        if second is None and other is not None:
            given[other] = kept
        elif second is not None and second != kept:
            above[second] = kept
    had = {*known.values()}
    return Changes(
        {pair: top(identity) for pair, identity in given.items()},
        {identity: top(identity) for identity in above if identity in had},
    )


def ids_of_load(load_id: str) -> Callable[[int], str]:
    """New ids that a load gives again when it is run again.

    >>> ids_of_load("1700000000.5")(1)
    'd38efc49-16f4-5993-8e62-dae65d6c9469'
    """
    return lambda number: str(uuid5(_NAMESPACE, f"{load_id}\n{number}"))


def changes_of(rows: Iterable[Sequence[Any]], load_id: str) -> Changes:
    """What a load changes, from the rows of `Linking.open_rules`."""
    known: dict[Pair, str] = {}
    rules: list[Rule] = []
    for number, kind, value, identity, other_kind, other_value, other_identity in rows:
        one, other = (kind, value), None if other_value is None else (other_kind, other_value)
        rules.append((number, one, other))
        if identity is not None:
            known[one] = identity
        if other is not None and other_identity is not None:
            known[other] = other_identity
    return resolve(known, rules, ids_of_load(load_id))


@dataclass(frozen=True)
class Linking:
    """One load as SQL that runs unchanged on DuckDB and PostgreSQL; all it reads stands in a FROM clause.

    `staged` has the rules, in the order of `place`; `mappings` is the table. The answer of `changes_of` to
    `open_rules` is to be kept as `given` (kind, value, identity) and `merged` (gone, kept), all of them text.
    Then `statements` change the table in place; a destination of whole files takes out the rows for which
    `leaves` holds, and lets in what `changed` and `added` give.
    """

    links: Links
    staged: str
    mappings: str
    given: str
    merged: str
    now: datetime
    place: str = "place"

    def open_rules(self) -> str:
        """A query of the distinct rules that may change something, in order.

        Its columns: number, kind, value, known id, other kind, other value, other known id.
        """
        (kind, value), (other_kind, other_value) = (
            [f"CAST(s.{quoted(name)} AS VARCHAR)" for name in pair] for pair in self.links.pairs
        )
        both = f"{other_kind} IS NOT NULL AND {other_value} IS NOT NULL"
        named = (
            f"SELECT s.{quoted(self.place)} AS place, {kind} AS kind_1, {value} AS value_1, "
            f"CASE WHEN {both} THEN {other_kind} END AS kind_2, "
            f"CASE WHEN {both} THEN {other_value} END AS value_2 FROM {self.staged} s"
        )
        pairs = "kind_1, value_1, kind_2, value_2"
        distinct = (
            f"SELECT row_number() OVER (ORDER BY min(place)) AS number, {pairs} FROM ({named}) named "
            f"WHERE kind_1 IS NOT NULL AND value_1 IS NOT NULL GROUP BY {pairs}"
        )
        one, other = (f"{row}.{quoted(self.links.identity)}" for row in "ab")
        return (
            f"SELECT r.number, r.kind_1, r.value_1, {one}, r.kind_2, r.value_2, {other} FROM ({distinct}) r "
            f"LEFT JOIN {self.mappings} a ON {self._is('a', 1)} "
            f"LEFT JOIN {self.mappings} b ON {self._is('b', 2)} "
            f"WHERE {one} IS NULL OR (r.value_2 IS NOT NULL AND ({other} IS NULL OR {one} <> {other})) "
            "ORDER BY r.number"
        )

    def statements(self) -> Iterator[str]:
        """What is to be executed, in order."""
        identity, updated = quoted(self.links.identity), quoted(self.links.updated)
        set_ = f"{identity} = g.kept, {updated} = {self._now}"
        yield f"UPDATE {self.mappings} AS m SET {set_} FROM {self.merged} g WHERE m.{identity} = g.gone"
        columns = (self.links.kind, self.links.value, self.links.identity, self.links.updated)
        yield f"INSERT INTO {self.mappings} ({', '.join(map(quoted, columns))}) {self.added(columns)}"

    def leaves(self) -> str:
        """A condition on a row `m` of the mappings: its id is no more."""
        return f"EXISTS (SELECT 1 FROM {self.merged} g WHERE m.{quoted(self.links.identity)} = g.gone)"

    def changed(self, columns: Iterable[str]) -> str:
        """A query of these columns of the rows that leave, as they are with the id that is kept."""
        new = {self.links.identity: "g.kept", self.links.updated: self._now}
        picked = (f"{new.get(name, f'm.{quoted(name)}')} AS {quoted(name)}" for name in columns)
        on = f"m.{quoted(self.links.identity)} = g.gone"
        return f"SELECT {', '.join(picked)} FROM {self.mappings} m JOIN {self.merged} g ON {on}"

    def added(self, columns: Iterable[str]) -> str:
        """A query of these columns of the pairs that had no id."""
        links = self.links
        new = {links.kind: "g.kind", links.value: "g.value", links.identity: "g.identity"}
        new[links.updated] = self._now
        picked = (f"{new.get(name, 'NULL')} AS {quoted(name)}" for name in columns)
        return f"SELECT {', '.join(picked)} FROM {self.given} g"

    @property
    def _now(self) -> str:
        return f"CAST('{self.now.isoformat()}' AS TIMESTAMP WITH TIME ZONE)"

    def _is(self, row: str, number: int) -> str:
        kind, value = (f"{row}.{quoted(name)}" for name in (self.links.kind, self.links.value))
        return f"{kind} = r.kind_{number} AND {value} = r.value_{number}"
