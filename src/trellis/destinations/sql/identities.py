"""Identity resolution: rules join pairs of kind and value, and the pairs that are joined share one id.

`resolve` is pure: of the rules in order and the ids that the pairs have it makes the least changes to write.
`IdentityStatements` has the queries around it (see `IdentityRules`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from trellis.destinations.sql.names import RowAliases, quoted
from trellis.evolution.table_writes import IdentityRules

Pair = tuple[str, str]
"""Kind and value."""
Rule = tuple[int, Pair, Pair | None]
"""Its number in the load, and the pairs that belong together; a rule of one pair registers it."""

_NAMESPACE = UUID("5f3c0a9e-6f0b-4f0e-9d55-0d6a53f7c1b2")


@dataclass
class IdentityChanges:
    """`new_identities`: the ids of pairs that had none; `merged`: the id that replaces another."""

    new_identities: dict[Pair, str] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)


def resolve(
    known: Mapping[Pair, str], rules: Iterable[Rule], new_id: Callable[[int], str]
) -> IdentityChanges:
    """What the rules change, taken one after the other; `new_id` makes an id of the number of a rule.

    `known` has the ids of the pairs in the rules, as far as they have any.

    >>> a1, u1, a2, u2 = ("anonymous_id", "1"), ("user_id", "1"), ("anonymous_id", "2"), ("user_id", "2")
    >>> resolve({}, [(1, a1, u1), (2, a2, u2), (3, u1, u2)], lambda number: f"id {number}").new_identities
    {('anonymous_id', '1'): 'id 1', ('user_id', '1'): 'id 1',
     ('anonymous_id', '2'): 'id 1', ('user_id', '2'): 'id 1'}
    >>> resolve({a1: "x", u2: "y"}, [(1, a1, u2)], str)
    IdentityChanges(new_identities={}, merged={'y': 'x'})
    """
    new_identities: dict[Pair, str] = {}
    above: dict[str, str] = {}

    def top(identity: str) -> str:
        root = identity
        while root in above:
            root = above[root]
        while identity != root:
            above[identity], identity = root, above[identity]
        return root

    def id_of(pair: Pair | None) -> str | None:
        identity = None if pair is None else new_identities.get(pair) or known.get(pair)
        return None if identity is None else top(identity)

    for number, one, other in rules:
        first, second = id_of(one), id_of(other)
        kept = first or second or new_id(number)
        if first is None:
            new_identities[one] = kept
        if second is None and other is not None:
            new_identities[other] = kept
        elif second is not None and second != kept:
            above[second] = kept
    had = {*known.values()}
    return IdentityChanges(
        {pair: top(identity) for pair, identity in new_identities.items()},
        {identity: top(identity) for identity in above if identity in had},
    )


def id_generator(load_id: str) -> Callable[[int], str]:
    """New ids that a load gives again when it is run again.

    >>> id_generator("1700000000.5")(1)
    'd38efc49-16f4-5993-8e62-dae65d6c9469'
    """
    return lambda number: str(uuid5(_NAMESPACE, f"{load_id}\n{number}"))


def resolve_rows(rows: Iterable[Sequence[Any]], load_id: str) -> IdentityChanges:
    """What a load changes, from the rows of `IdentityStatements.open_rules`."""
    known: dict[Pair, str] = {}
    rules: list[Rule] = []
    for number, kind, value, identity, other_kind, other_value, other_identity in rows:
        one, other = (kind, value), None if other_value is None else (other_kind, other_value)
        rules.append((number, one, other))
        if identity is not None:
            known[one] = identity
        if other is not None and other_identity is not None:
            known[other] = other_identity
    return resolve(known, rules, id_generator(load_id))


@dataclass(frozen=True)
class IdentityStatements(RowAliases):
    """One load as SQL that runs unchanged on DuckDB and PostgreSQL; all it reads are items of a FROM clause.

    `staged` has the rules, in the order of `place`; `mappings` is the table. The answer of `resolve_rows` to
    `open_rules` is to be kept in the tables `new_identities` and `merged`, whose columns are all text. Then
    `statements` change the table in place; a destination of whole files takes out the rows for which
    `leaves` holds, and lets in what `changed` and `added` give.

    Every name that a statement adds begins with `prefix`, and no column of the rules or the mappings does.
    `temp` is the qualifier of temporary tables.
    """

    links: IdentityRules
    staged: str
    mappings: str
    now: datetime
    place: str
    prefix: str
    temp: str = "temp.main."

    @property
    def new_identities(self) -> str:
        """The temporary table of the ids of pairs that had none."""
        return f"{self.temp}{self.prefix}links_given"

    @property
    def new_identity_columns(self) -> tuple[str, ...]:
        return tuple(f"{self.prefix}{name}" for name in ("kind", "value", "identity"))

    @property
    def merged(self) -> str:
        """The temporary table of replaced ids and the ids that replace them."""
        return f"{self.temp}{self.prefix}links_merged"

    @property
    def merged_columns(self) -> tuple[str, ...]:
        return tuple(f"{self.prefix}{name}" for name in ("gone", "kept"))

    def open_rules(self) -> str:
        """A query of the distinct rules that may change something, in order.

        Its columns: number, kind, value, known id, other kind, other value, other known id.
        """
        q = self.prefix
        (kind, value), (other_kind, other_value) = (
            [f"CAST({q}staged.{quoted(name)} AS VARCHAR)" for name in pair] for pair in self.links.pairs
        )
        both = f"{other_kind} IS NOT NULL AND {other_value} IS NOT NULL"
        named = (
            f"SELECT {q}staged.{quoted(self.place)} AS {q}place, {kind} AS {q}kind_1, {value} AS {q}value_1, "
            f"CASE WHEN {both} THEN {other_kind} END AS {q}kind_2, "
            f"CASE WHEN {both} THEN {other_value} END AS {q}value_2 FROM {self.staged} AS {q}staged"
        )
        pairs = f"{q}kind_1, {q}value_1, {q}kind_2, {q}value_2"
        distinct = (
            f"SELECT row_number() OVER (ORDER BY min({q}place)) AS {q}number, {pairs} "
            f"FROM ({named}) AS {q}named WHERE {q}kind_1 IS NOT NULL AND {q}value_1 IS NOT NULL "
            f"GROUP BY {pairs}"
        )
        one, other = (f"{q}{row}.{quoted(self.links.identity)}" for row in ("one", "other"))
        rule, is_whole = f"{q}rules", f"{q}rules.{q}value_2 IS NOT NULL"
        return (
            f"SELECT {rule}.{q}number, {rule}.{q}kind_1, {rule}.{q}value_1, {one}, "
            f"{rule}.{q}kind_2, {rule}.{q}value_2, {other} FROM ({distinct}) AS {rule} "
            f"LEFT JOIN {self.mappings} AS {q}one ON {self._is(f'{q}one', 1)} "
            f"LEFT JOIN {self.mappings} AS {q}other ON {self._is(f'{q}other', 2)} "
            f"WHERE {one} IS NULL OR ({is_whole} AND ({other} IS NULL OR {one} <> {other})) "
            f"ORDER BY {rule}.{q}number"
        )

    def write_statements(self) -> Iterator[str]:
        """What is to be executed, in order."""
        q, updated = self.prefix, quoted(self.links.updated)
        set_ = f"{quoted(self.links.identity)} = {q}merged.{q}kept, {updated} = {self._now}"
        source = f"{self.merged} AS {q}merged WHERE {self._is_merged}"
        yield f"UPDATE {self.mappings} AS {self.current_row} SET {set_} FROM {source}"
        columns = (self.links.kind, self.links.value, self.links.identity, self.links.updated)
        yield f"INSERT INTO {self.mappings} ({', '.join(map(quoted, columns))}) {self.new_rows(columns)}"

    def is_replaced(self) -> str:
        """A condition on a row of the mappings, called `current_row`: its id is no more."""
        return f"EXISTS (SELECT 1 FROM {self.merged} AS {self.prefix}merged WHERE {self._is_merged})"

    def updated_rows(self, columns: Iterable[str]) -> str:
        """A query of these columns of the rows that leave, as they are with the id that is kept."""
        q, row = self.prefix, self.current_row
        new = {self.links.identity: f"{q}merged.{q}kept", self.links.updated: self._now}
        picked = (f"{new.get(name, f'{row}.{quoted(name)}')} AS {quoted(name)}" for name in columns)
        joined = f"{self.mappings} AS {row} JOIN {self.merged} AS {q}merged ON {self._is_merged}"
        return f"SELECT {', '.join(picked)} FROM {joined}"

    def new_rows(self, columns: Iterable[str]) -> str:
        """A query of these columns of the pairs that had no id."""
        q, links = self.prefix, self.links
        names = (links.kind, links.value, links.identity)
        new = {
            name: f"{q}given.{column}" for name, column in zip(names, self.new_identity_columns, strict=True)
        }
        new[links.updated] = self._now
        picked = (f"{new.get(name, 'NULL')} AS {quoted(name)}" for name in columns)
        return f"SELECT {', '.join(picked)} FROM {self.new_identities} AS {q}given"

    @property
    def _now(self) -> str:
        return f"CAST('{self.now.isoformat()}' AS TIMESTAMP WITH TIME ZONE)"

    def _is(self, row: str, number: int) -> str:
        q = self.prefix
        kind, value = (f"{row}.{quoted(name)}" for name in (self.links.kind, self.links.value))
        return f"{kind} = {q}rules.{q}kind_{number} AND {value} = {q}rules.{q}value_{number}"

    @property
    def _is_merged(self) -> str:
        q = self.prefix
        return f"{self.current_row}.{quoted(self.links.identity)} = {q}merged.{q}gone"
