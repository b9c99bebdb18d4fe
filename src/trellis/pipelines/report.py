"""What a load did, as values: printed by the command line, returned in Python, written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trellis.engine.plan import Counts
from trellis.schema.compare import AddColumn, AddTable, Change
from trellis.schema.model import Schema

REPR_TABLES = 5


@dataclass(frozen=True)
class TableReport:
    """One table that this load touched."""

    name: str
    rows: int
    created: bool = False
    columns_added: tuple[str, ...] = ()
    parent: str | None = None


@dataclass(frozen=True)
class Tally:
    """How many, and for which reasons."""

    by_reason: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.by_reason.values())

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "by_reason": dict(self.by_reason)}


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of one load (or, with `dry_run`, of what it would do). Rows are root records."""

    load_id: str
    dataset: str
    destination: str
    dialect: str
    schema: Schema
    rows: Counts
    dry_run: bool = False
    already_loaded: bool = False
    tables: tuple[TableReport, ...] = ()
    changes: tuple[Change, ...] = ()
    statements: tuple[str, ...] = ()
    ddl: tuple[str, tuple[str, ...]] | None = None
    """The warehouse whose rules were followed, where it is not the destination, and its statements."""
    discards: Tally = field(default_factory=Tally)
    kept_in: tuple[str, ...] = ()
    """The tables that keep the discards."""
    rejects: Tally = field(default_factory=Tally)
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def balanced(self) -> bool:
        return self.rows.read == self.rows.loaded + self.rows.rejected + self.rows.dropped

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name}: {table.rows:,}" for table in self.tables[:REPR_TABLES])
        more = ", ..." if len(self.tables) > REPR_TABLES else ""
        where = f"load_id={self.load_id!r}, destination={self.destination!r}, dataset={self.dataset!r}"
        return f"Report({where}, rows={self.rows}, tables={{{tables}{more}}})"

    def __str__(self) -> str:
        """A few lines: the tables with their rows, what was left out, the balance."""
        rows = self.rows
        where = f"{self.destination}, dataset {self.dataset}" if self.dataset else self.destination
        lines = [f"load {self.load_id} into {where}"]
        new = {True: " (new)", False: ""}
        lines += [f"  {table.name}: {table.rows:,} rows{new[table.created]}" for table in self.tables]
        for what, tally in (("discarded", self.discards), ("rejected", self.rejects)):
            lines += [f"  {count:,} {what}: {reason}" for reason, count in tally.by_reason.items()]
        lines += self.notes
        balance = f"rows in {rows.read:,} = loaded {rows.loaded:,} + rejected {rows.rejected:,}"
        return "\n".join((*lines, f"{balance} + dropped {rows.dropped:,}"))

    def to_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "load_id": self.load_id,
            "dataset": self.dataset,
            "destination": self.destination,
            "dialect": self.dialect,
            "dry_run": self.dry_run,
            "already_loaded": self.already_loaded,
            "rows": {
                "in": self.rows.read,
                "loaded": self.rows.loaded,
                "rejected": self.rows.rejected,
                "dropped": self.rows.dropped,
            },
            "tables": [
                {
                    "name": table.name,
                    "rows": table.rows,
                    "created": table.created,
                    "columns_added": list(table.columns_added),
                    "parent": table.parent,
                }
                for table in self.tables
            ],
            "changes": [change.describe() for change in self.changes],
            "statements": list(self.statements),
            "ddl": {self.ddl[0]: list(self.ddl[1])} if self.ddl else {},
            "discards": self.discards.to_dict(),
            "rejects": self.rejects.to_dict(),
            "notes": list(self.notes),
            "schema": {"version": self.schema.stored_version, "version_hash": self.schema.stored_hash},
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }


def table_reports(
    changes: tuple[Change, ...], rows: Mapping[str, int], schema: Schema
) -> tuple[TableReport, ...]:
    """A report of each table that got rows or changed."""
    created = {c.table for c in changes if isinstance(c, AddTable)}
    added: dict[str, list[str]] = {}
    for change in changes:
        if isinstance(change, AddColumn):
            added.setdefault(change.table, []).append(str(change.column))
    names = [name for name in schema.tables if name in created or name in added or rows.get(name)]
    return tuple(
        TableReport(
            name,
            rows.get(name, 0),
            name in created,
            tuple(schema.tables[name].columns) if name in created else tuple(added.get(name, ())),
            schema.tables[name].parent,
        )
        for name in names
    )
