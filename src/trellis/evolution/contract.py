"""Schema contracts: which changes of a schema, and which values, its owner allows.

A contract says for each entity what happens to data that would change it, and to values that break the rules
of their column. It is one mode for all entities, or a map of some; an entity that the map leaves out evolves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

from trellis.errors import ContractError, SchemaError, nearest
from trellis.schema.model import Schema, Table
from trellis.schema.system import OURS, is_system

Entity = Literal["tables", "columns", "data_type", "values"]
Mode = Literal["evolve", "freeze", "discard_row", "discard_value"]
ENTITIES: tuple[Entity, ...] = get_args(Entity)
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Contract:
    """A mode for every entity."""

    tables: Mode = "evolve"
    columns: Mode = "evolve"
    data_type: Mode = "evolve"
    values: Mode = "evolve"

    @property
    def evolves(self) -> bool:
        """Whether it allows everything."""
        return self == EVOLVE

    def mode(self, entity: Entity) -> Mode:
        mode: Mode = getattr(self, entity)
        return mode

    def quarantined(self) -> Contract:
        """The contract that leaves out the rows for which this one fails a load.

        >>> Contract(columns="freeze").quarantined()
        Contract(tables='evolve', columns='discard_row', data_type='evolve', values='evolve')
        """
        modes = {
            entity: "discard_row" if mode == "freeze" else mode for entity, mode in self.as_map().items()
        }
        return Contract(**cast("dict[Entity, Any]", modes))

    def as_map(self) -> dict[Entity, Mode]:
        """The contract with nothing left out, as it is shown and stored."""
        return cast("dict[Entity, Mode]", asdict(self))


EVOLVE = Contract()
Shorthand = str | Mapping[str, str] | None


OTHERS = 5
"""How many further violations an error names."""


class ContractViolation(ContractError):
    """Data or a declaration that a frozen entity refuses: where, why and in which record.

    `position` is that of the first record in the input, `place` its file and line, `count` says how many
    values it are, at least so many with `is_least`. `remedy` replaces what the entity suggests. `others` are
    the violations of other tables and columns by the same input.
    """

    def __init__(
        self,
        schema_name: str,
        table: str,
        column: str | None,
        entity: Entity,
        mode: Mode,
        *,
        contract: Contract,
        table_schema: Table | None = None,
        item: Mapping[str, Any] | None = None,
        reason: str = "",
        declared: bool = False,
        position: Sequence[int] = (),
        place: str = "",
        count: int = 1,
        is_least: bool = False,
        remedy: str = "",
        others: Sequence[ContractViolation] = (),
    ) -> None:
        self.schema_name = schema_name
        self.table = table
        self.column = column
        self.entity: Entity = entity
        self.mode: Mode = mode
        self.table_schema = table_schema
        self.contract: dict[Entity, Mode] = contract.as_map()
        self.item = item
        self.reason = reason or _REASONS[entity]
        self.declared = declared
        self.position = tuple(position)
        self.place = place
        self.count = count
        self.is_least = is_least
        self.remedy = remedy
        self.others = tuple(others)
        where = f"{schema_name}.{table}" + (f".{column}" if column else "")
        which = _keys_of(table_schema, item)
        self.summary = f"{f'{place}: ' if place else ''}{where}: {self.reason}"
        if count > 1:
            self.summary += f" ({count:,} values{' or more' if is_least else ''})"
        more = [f"\n  {other.summary}" for other in self.others[:OTHERS]]
        if len(self.others) > OTHERS:
            more.append(f"\n  and {len(self.others) - OTHERS:,} more")
        super().__init__(
            self.summary
            + (f", and the contract has {entity}: {mode}" if mode != "evolve" else "")
            + (f" (record with {which})" if which else "")
            + f"; {remedy or _default_remedy(entity, declared)}"
            + "".join(more),
            table=table,
        )

    def with_others(self, others: Sequence[ContractViolation]) -> ContractViolation:
        """The violation of an input that has these as well."""
        return self._changed(others=tuple(others))

    def merge(self, other: ContractViolation) -> ContractViolation:
        """The violation that is first, with the count of both."""
        first = self if self.position <= other.position else other
        return first._changed(count=self.count + other.count, is_least=self.is_least or other.is_least)

    def located(self, place_of: Callable[[Sequence[int]], str]) -> ContractViolation:
        """The violation with its file and line, and the others with theirs."""
        others = tuple(other.located(place_of) for other in self.others)
        return self._changed(place=place_of(self.position), others=others)

    def _changed(self, **changes: Any) -> ContractViolation:
        _, (place, details) = self.__reduce__()
        return _violation(place, {**details, **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return _violation, (
            (self.schema_name, self.table, self.column, self.entity, self.mode),
            {
                "contract": Contract(**self.contract),
                "table_schema": self.table_schema,
                "item": self.item,
                "reason": self.reason,
                "declared": self.declared,
                "position": self.position,
                "place": self.place,
                "count": self.count,
                "is_least": self.is_least,
                "remedy": self.remedy,
                "others": self.others,
            },
        )


def _violation(place: tuple[Any, ...], details: dict[str, Any]) -> ContractViolation:
    return ContractViolation(*place, **details)


_REASONS: dict[Entity, str] = {
    "tables": "the data needs a new table",
    "columns": "the data needs a new column",
    "data_type": "the value does not fit the type of its column",
    "values": "the value breaks a rule of its column",
}
_REMEDIES: dict[Entity, str] = {
    "tables": "declare the table",
    "columns": "declare the column",
    "data_type": "correct the value",
    "values": "correct the value",
}
_TAKE_BACK = "take the declaration back"


def _default_remedy(entity: Entity, declared: bool) -> str:
    correction = _TAKE_BACK if declared else _REMEDIES[entity]
    return f"{correction}, or load with the contract {entity}: evolve"


def missing_value_violation(
    schema_name: str,
    table: str,
    column: str,
    path: str = "",
    *,
    table_schema: Table | None,
    position: Sequence[int],
    count: int,
) -> ContractViolation:
    """The violation of rows without a value for a column that takes no NULL.

    `path` is where the value is null, empty where the records lack the key.
    """
    if path:
        reason = f"{path} is null, but column {column} of table {table} may not be null"
        remedy = "give it a value, or declare the column nullable"
    else:
        reason = f"there is no value for column {column} of table {table}, which may not be null"
        remedy = "give every record one, or declare the column nullable"
    return ContractViolation(
        schema_name,
        table,
        column,
        "data_type",
        "evolve",
        contract=EVOLVE,
        table_schema=table_schema,
        reason=reason,
        remedy=remedy,
        position=position,
        count=count,
    )


def merge_violations(violations: Iterable[ContractViolation]) -> ContractViolation:
    """All violations of an input as one error: the first, and the others in the order of the input.

    Those of one column for one reason are one, with the count of all.
    """
    merged: dict[tuple[object, ...], ContractViolation] = {}
    for violation in violations:
        for part in (violation.with_others(()), *violation.others):
            key = (part.table, part.column, part.entity, part.reason)
            merged[key] = merged[key].merge(part) if key in merged else part
    first, *others = sorted(merged.values(), key=lambda violation: violation.position)
    return first.with_others(others)


def expand(shorthand: Shorthand) -> Contract:
    """The contract that a word, a map or nothing stands for.

    >>> expand({"columns": "freeze"})
    Contract(tables='evolve', columns='freeze', data_type='evolve', values='evolve')
    """
    if shorthand is None:
        return EVOLVE
    if isinstance(shorthand, str):
        mode = _mode(shorthand, "schema_contract")
        return Contract(mode, mode, mode, mode)
    if not isinstance(shorthand, Mapping):
        raise SchemaError(
            f"schema_contract is a {type(shorthand).__name__}: write one of {', '.join(MODES)},"
            f" or a map of {', '.join(ENTITIES)} to them"
        )
    for entity in shorthand:
        if entity not in ENTITIES:
            raise SchemaError(
                f"schema_contract: there is no entity {entity!r}{nearest(str(entity), ENTITIES)}"
            )
    return Contract(
        **{entity: _mode(mode, f"schema_contract.{entity}") for entity, mode in shorthand.items()}
    )


def contract_for(schema: Schema, table: str, parents: Iterable[str] = (), prefix: str = OURS) -> Contract:
    """The contract that holds for a table: the nearest of its own and its ancestors', else the settings'.

    The nearest contract replaces the others: what a table's map leaves out evolves, whatever the settings
    say. `parents` are the ancestors, nearest first, of a table that the schema does not have yet. No contract
    governs tables of the dialect's own, whose names begin with `prefix`.
    """
    if is_system(table, prefix):
        return EVOLVE
    for ancestor in _lineage(schema, table, parents):
        shorthand = ancestor.hints.get("schema_contract")
        if shorthand:
            return expand(shorthand)
    return expand(schema.settings.schema_contract or None)


def _mode(mode: Any, where: str) -> Mode:
    if mode not in MODES:
        raise SchemaError(f"{where}: there is no mode {mode!r}{nearest(str(mode), MODES)}")
    return cast(Mode, mode)


def _lineage(schema: Schema, table: str, parents: Iterable[str]) -> Iterator[Table]:
    """The table and its ancestors, nearest first."""
    current = next((t for name in (table, *parents) if (t := schema.tables.get(name))), None)
    while current is not None:
        yield current
        current = schema.tables.get(current.parent) if current.parent is not None else None


def _keys_of(table: Table | None, item: Mapping[str, Any] | None) -> str:
    """The key values of a record, for messages."""
    if table is None or not item:
        return ""
    names = dict.fromkeys(
        n for hint in ("primary_key", "merge_key", "unique") for n in table.columns_with(hint)
    )
    return ", ".join(f"{name}={item[name]!r}" for name in names if name in item)
