"""What a scan of the records saw: tables, columns, the kinds of values, and where each came first.

A position is a tuple that orders the whole input: (file, split, line, row within the record, value
within the row). Merging two sets of observations keeps the earlier position of each, so the result
does not depend on how the input was divided or in which order the parts came back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from trellis.evolution.scalars.kinds import Kind

Position = tuple[int, ...]


class CellKey(NamedTuple):
    """One kind of value under one column."""

    table: str
    column: str
    kind: Kind


@dataclass
class Seen:
    """How often something was seen, where first, and an example from there."""

    position: Position
    count: int = 1
    path: str = ""
    example: str = ""
    item: str = ""

    def merge(self, other: Seen) -> Seen:
        first = self if self.position <= other.position else other
        return Seen(first.position, self.count + other.count, first.path, first.example, first.item)


class TableSeen(NamedTuple):
    """Where a table got its first row; `bare`: none of its rows needs bookkeeping columns."""

    parent: str | None
    position: Position
    bare: bool = False


@dataclass
class Observations:
    """Cells that the schema lacks, and every table that got rows.

    `below` maps a row where a cell was seen first to the last of its descendants in the record. `references`
    names documents that records wait for.
    """

    tables: dict[str, TableSeen] = field(default_factory=dict)
    cells: dict[CellKey, Seen] = field(default_factory=dict)
    below: dict[Position, int] = field(default_factory=dict)
    references: set[str] = field(default_factory=set)

    def saw_table(self, name: str, parent: str | None, position: Position, bare: bool = False) -> None:
        seen_before = self.tables.get(name)
        if seen_before is None:
            self.tables[name] = TableSeen(parent, position, bare)
        else:
            first = parent if position < seen_before.position else seen_before.parent
            self.tables[name] = TableSeen(
                first, min(position, seen_before.position), bare and seen_before.bare
            )

    def saw_cell(self, key: CellKey, seen: Seen) -> None:
        seen_before = self.cells.get(key)
        self.cells[key] = seen if seen_before is None else seen_before.merge(seen)

    def merge(self, other: Observations) -> None:
        for name, table in other.tables.items():
            self.saw_table(name, *table)
        for key, seen in other.cells.items():
            self.saw_cell(key, seen)
        self.below.update(other.below)
        self.references |= other.references

    def __bool__(self) -> bool:
        return bool(self.tables or self.cells or self.references)
