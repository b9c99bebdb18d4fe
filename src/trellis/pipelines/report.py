"""What a load did, as values: printed by the command line, returned in Python, written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from trellis.destinations.row_changes import RowChanges
from trellis.engine.plan import Counts
from trellis.schema.compare import AddColumn, AddTable, Change
from trellis.schema.html import html_details, html_paragraph, html_table
from trellis.schema.model import Schema, repr_names

REPR_TABLES = 5
HTML_CHANGES = 50


@dataclass(frozen=True)
class TableReport:
    """One table that this load touched. `rows` came with the load, `changes` is what became of them."""

    name: str
    rows: int
    created: bool = False
    columns_added: tuple[str, ...] = ()
    parent: str | None = None
    changes: RowChanges | None = None

    def __repr__(self) -> str:
        columns = repr_names(self.columns_added)
        return (
            f"TableReport({self.name!r}, rows={self.rows}, created={self.created}, columns_added={columns})"
        )

    @property
    def merged(self) -> str:
        """What became of the rows, where they were not only inserted: `1 inserted, 2 updated`."""
        counts = asdict(self.changes) if self.changes else {}
        if not sum(counts.values()) - counts.get("inserted", 0):
            return ""
        return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


@dataclass(frozen=True)
class TableFailure:
    """A table that was left out of a load, with its rows, because of an error."""

    name: str
    rows: int
    error: str


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
    failures: tuple[TableFailure, ...] = ()
    """Tables that failed, while the others were loaded."""
    changes: tuple[Change, ...] = ()
    statements: tuple[str, ...] = ()
    ddl: tuple[str, tuple[str, ...]] | None = None
    """The warehouse whose rules were followed, where it is not the destination, and its statements."""
    discards: Tally = field(default_factory=Tally)
    truncated: Tally = field(default_factory=Tally)
    """Values whose columns hold what is left of them; the discards have them whole."""
    kept_in: tuple[str, ...] = ()
    """The tables that keep the discards."""
    rejects: Tally = field(default_factory=Tally)
    rejected_lines: str = ""
    """The folder of the rejected lines, where no table keeps them."""
    notes: tuple[str, ...] = ()
    alerts: Mapping[str, str] = field(default_factory=dict)
    """Tables that come close to a limit, each with a sentence about it."""
    seconds: Mapping[str, float] = field(default_factory=dict)

    def with_row_changes(self, changes: Mapping[str, RowChanges] | None) -> Report:
        """The report with what the destination did to the rows of its tables."""
        if changes is None:
            return self
        listed = {table.name for table in self.tables}
        emptied = (
            TableReport(name, 0, parent=self.schema.tables[name].parent)
            for name in self.schema.tables
            if name not in listed and name in changes and changes[name].deleted
        )
        return replace(
            self,
            tables=tuple(
                replace(table, changes=changes.get(table.name)) for table in (*self.tables, *emptied)
            ),
        )

    @property
    def balanced(self) -> bool:
        rows = self.rows
        return rows.read == rows.loaded + rows.rejected + rows.dropped + rows.failed

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name}: {table.rows:,}" for table in self.tables[:REPR_TABLES])
        more = ", ..." if len(self.tables) > REPR_TABLES else ""
        where = f"load_id={self.load_id!r}, destination={self.destination!r}, dataset={self.dataset!r}"
        return f"Report({where}, rows={self.rows}, tables={{{tables}{more}}})"

    def __str__(self) -> str:
        """A few lines: the tables with their rows, what was left out, the balance."""
        where = f"{self.destination}, dataset {self.dataset}" if self.dataset else self.destination
        lines = [f"load {self.load_id} into {where}"]
        new = {True: " (new)", False: ""}
        lines += [
            f"  {table.name}: {table.rows:,} row{'' if table.rows == 1 else 's'}{new[table.created]}"
            + (f": {table.merged}" if table.merged else "")
            for table in self.tables
        ]
        left_out = {"discarded": self.discards, "truncated": self.truncated, "rejected": self.rejects}
        for what, tally in left_out.items():
            lines += [f"  {count:,} {what}: {reason}" for reason, count in tally.by_reason.items()]
        lines += [f"  {failure.rows:,} rows failed: {failure.error}" for failure in self.failures]
        return "\n".join((*lines, *self.notes, *self.alerts.values(), self.balance))

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables, what was left out, the changes, the balance."""
        where = f"{self.destination}, dataset {self.dataset}" if self.dataset else self.destination
        title = "plan of a load" if self.dry_run else f"load {self.load_id}"
        parts = [html_paragraph(f"{title} into {where}")]
        if self.tables:
            rows = [
                (
                    table.name,
                    f"{table.rows:,}",
                    table.merged,
                    "new" if table.created else ", ".join(table.columns_added),
                )
                for table in self.tables
            ]
            parts.append(html_table(("Table", "Rows", "Merged", "New"), rows))
        left_out = {"discarded": self.discards, "truncated": self.truncated, "rejected": self.rejects}
        counts = [
            (f"{count:,}", outcome, reason)
            for outcome, tally in left_out.items()
            for reason, count in tally.by_reason.items()
        ]
        if counts:
            parts.append(html_table(("Count", "Left out", "Reason"), counts))
        if self.changes:
            changes = [(change.describe(),) for change in self.changes[:HTML_CHANGES]]
            parts.append(html_table(("What changed",), changes))
            if len(self.changes) > HTML_CHANGES:
                parts.append(html_paragraph(f"and {len(self.changes) - HTML_CHANGES:,} more changes"))
        if self.dry_run and self.statements:
            parts.append(html_details("Statements", ";\n".join((*self.statements, ""))))
        failures = [f"{failure.rows:,} rows failed: {failure.error}" for failure in self.failures]
        sentences = (*failures, *self.notes, *self.alerts.values(), self.balance)
        return "".join((*parts, *map(html_paragraph, sentences)))

    @property
    def balance(self) -> str:
        """Where the records went, as an equation."""
        rows = self.rows
        failed = f" + failed {rows.failed:,}" if self.failures else ""
        parts = f"loaded {rows.loaded:,} + rejected {rows.rejected:,} + dropped {rows.dropped:,}"
        return f"rows in {rows.read:,} = {parts}{failed}"

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
                **({"failed": self.rows.failed} if self.failures else {}),
            },
            "tables": [
                {
                    "name": table.name,
                    "rows": table.rows,
                    "created": table.created,
                    "columns_added": list(table.columns_added),
                    "parent": table.parent,
                    **(asdict(table.changes) if table.changes is not None else {}),
                }
                for table in self.tables
            ],
            "failures": [
                {"table": failure.name, "rows": failure.rows, "error": failure.error}
                for failure in self.failures
            ],
            "changes": [change.describe() for change in self.changes],
            "statements": list(self.statements),
            "ddl": {self.ddl[0]: list(self.ddl[1])} if self.ddl else {},
            "discards": self.discards.to_dict(),
            "truncated": self.truncated.to_dict(),
            "rejects": self.rejects.to_dict(),
            "notes": list(self.notes),
            "alerts": dict(self.alerts),
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
