"""The stored versions of a schema, each with its changes and what made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from trellis.dialects import get_dialect, system_prefixes
from trellis.dialects.documents import from_stored
from trellis.pipelines.loading.change_log import SCHEMA_CHANGES, parts_of
from trellis.schema.compare import Change, ChangeSchema, RenameColumn, RenameTable, compare_settings
from trellis.schema.model import Schema
from trellis.schema.renames import NO_RENAMES, Renames
from trellis.schema.system import is_system

if TYPE_CHECKING:
    from trellis.pipelines.pipeline import Pipeline

Changes = tuple[Change | ChangeSchema, ...]


class Cause(NamedTuple):
    """The load that made a change: of which pipeline, and the file and line that brought it."""

    load_id: str
    pipeline: str
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        return self.pipeline if self.file is None else f"{self.file}{f':{self.line}' if self.line else ''}"


@dataclass(frozen=True)
class Version:
    """One stored version, and how it differs from the one before."""

    schema: Schema
    at: datetime | None
    changes: Changes
    load_id: str | None = None
    causes: Mapping[tuple[str, str | None], Cause] = field(default_factory=dict)
    """What is recorded of each change, by its table and column."""

    def cause_of(self, change: Change | ChangeSchema) -> Cause | None:
        return None if isinstance(change, ChangeSchema) else self.causes.get((change.table, change.column))

    def about(self, table: str | None, column: str | None) -> Version:
        """The version with the changes of this table and column alone, by old and by new names."""
        if table is None and column is None:
            return self
        parts = (
            part
            for change in self.changes
            if not isinstance(change, ChangeSchema)
            for part in (parts_of(change) if column else (change,))
        )
        changes = tuple(
            part
            for part in parts
            if table in (None, *_tables_of(part)) and column in (None, *_columns_of(part))
        )
        return replace(self, changes=changes)

    def to_dict(self) -> dict[str, Any]:
        causes = ((change.describe(), self.cause_of(change)) for change in self.changes)
        return {
            "version": self.schema.stored_version,
            "version_hash": self.schema.stored_hash,
            "inserted_at": self.at.isoformat() if self.at else None,
            "load_id": self.load_id,
            "changes": [change.describe() for change in self.changes],
            "causes": [{"change": text, **cause._asdict()} for text, cause in causes if cause],
        }


def _tables_of(change: Change) -> tuple[str, ...]:
    return (change.table, change.before) if isinstance(change, RenameTable) else (change.table,)


def _columns_of(change: Change) -> tuple[str | None, ...]:
    return (change.column, change.before) if isinstance(change, RenameColumn) else (change.column,)


@dataclass(frozen=True)
class SchemaHistory:
    """`rows` are the stored versions of the schemas of a dataset, from the first to the newest."""

    pipeline: Pipeline
    rows: Sequence[Mapping[str, Any]]

    def versions(self, name: str) -> list[Version]:
        """Those of one schema. Raises SchemaError for one that cannot be read."""
        versions: list[Version] = []
        log = [row for row in self._change_log if row["schema_name"] == name]
        loads = self._loads(name)
        for row in self.rows:
            if row["schema_name"] != name:
                continue
            place = f"version {row['version']} in {self.pipeline.destination.url}"
            schema = from_stored(str(row["schema"]), place)
            before = versions[-1].schema if versions else None
            at = row["inserted_at"] if isinstance(row["inserted_at"], datetime) else None
            hash_ = str(row["version_hash"])
            logged = [change for change in log if change["version_hash"] == hash_]
            changes = difference(before, schema, _renames(logged))
            versions.append(Version(schema, at, changes, loads.get(hash_), _causes(logged)))
        return versions

    def _loads(self, name: str) -> Mapping[str, str]:
        """The first load with each version, by the hash of that."""
        load_id = get_dialect(self.pipeline.dialect).metadata.tables().load_id
        rows = sorted(self._load_log, key=lambda row: row["inserted_at"], reverse=True)
        return {
            str(row["schema_version_hash"]): str(row[load_id])
            for row in rows
            if row.get("schema_name") == name
        }

    @cached_property
    def _change_log(self) -> Sequence[Mapping[str, Any]]:
        return self._stored(SCHEMA_CHANGES.name)

    @cached_property
    def _load_log(self) -> Sequence[Mapping[str, Any]]:
        return self._stored(get_dialect(self.pipeline.dialect).metadata.tables().loads)

    def _stored(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, none if it is not there."""
        destination, dataset = self.pipeline.destination, self.pipeline.dataset
        return destination.query(dataset, table) if table in destination.catalog(dataset) else []


def difference(before: Schema | None, after: Schema, renames: Renames = NO_RENAMES) -> Changes:
    """What changes, tables of our own left out; of a first schema only its tables count."""
    changes = renames.compare(before, after)
    tables = tuple(c for c in changes if not is_system(c.table, *system_prefixes()))
    return tables if before is None else (*tables, *compare_settings(before, after))


def _causes(logged: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str | None], Cause]:
    """What is recorded of the changes of a version, by their table and column."""
    return {
        (row["table_name"], row["column_name"]): Cause(
            row["load_id"], row["pipeline"], row["file"], row["line"]
        )
        for row in logged
    }


def _renames(logged: Iterable[Mapping[str, Any]]) -> Renames:
    """The new names of a version; versions of earlier Trellis say nothing of them."""
    renamed = [row for row in logged if row.get("renamed_from")]
    tables = {row["renamed_from"]: row["table_name"] for row in renamed if row["column_name"] is None}
    stored = {new: old for old, new in tables.items()}
    columns = {
        (stored.get(row["table_name"], row["table_name"]), row["renamed_from"]): row["column_name"]
        for row in renamed
        if row["column_name"] is not None
    }
    return Renames(tables, columns)
