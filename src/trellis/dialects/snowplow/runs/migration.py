"""What a load of a run has to do to one table: create it, bring it to a later version, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.dialects.snowplow.client.registry import Registry, SchemaNotFound
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable, merge_family
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.runs.duplicates import DUPLICATE
from trellis.dialects.snowplow.runs.manifest import RunTable
from trellis.dialects.snowplow.stored_families import definition_digest
from trellis.errors import SchemaError


@dataclass(frozen=True)
class TableState:
    """A table as it is: its comment, and the names of its columns; none where it is absent."""

    comment: str | None
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TableChange:
    """The statements before the rows go in, and the columns that the table then has."""

    table: str
    statements: tuple[str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class TablePlanner:
    """Decides changes, bounded by the manifest: what was published since the run does not count."""

    registry: Registry
    profile: Profile
    dataset: str
    shredded_for: str
    """The profile that the run was shredded by."""

    def change(self, run_table: RunTable, state: TableState) -> TableChange:
        """Raises SchemaError for a table that the rows may not go into."""
        listed = self._versions_of(run_table.key.family)
        keys = [SchemaKey.parse(uri) for uri in run_table.keys]
        if run_table.is_recovered:
            return self._recovered(run_table, state, listed[: listed.index(keys[-1]) + 1])
        if listed[: len(keys)] != keys:
            raise SchemaError(
                f"{run_table.table}: the registry lists {_versions(listed)}, and the run was shredded by "
                f"{_versions(keys)}; load with the registry that it was shredded by"
            )
        target = self._merged(keys)
        names = tuple(column.name for column in (*METADATA, *target.columns))
        if names != run_table.columns or target.name != run_table.table:
            raise SchemaError(
                f"{run_table.table}: its files have the columns {', '.join(run_table.columns[9:])}, and the "
                f"table in {self.profile.name} would have {', '.join(names[9:])}; shred the run again with "
                f"--profile {self.profile.name}, or a schema was patched since"
            )
        if self.shredded_for == self.profile.name and definition_digest(target) != run_table.digest:
            raise SchemaError(
                f"{run_table.table}: one of {_versions(keys)} of {keys[0].family} was patched since the run "
                "was shredded; shred the run again"
            )
        if not state.columns:
            return self._created(target.name, target.key, target.columns)
        known = self._version(run_table.table, state, listed)
        if listed.index(known) >= len(keys):  # the table is ahead of the run
            ahead = self._merged(listed[: listed.index(known) + 1])
            self._check_columns(run_table.table, state, ahead.columns)
            return TableChange(target.name, (), ahead.columns)
        before = self._merged(listed[: listed.index(known) + 1])
        self._check_columns(run_table.table, state, before.columns)
        if before.key == target.key:
            return TableChange(target.name, (), target.columns)
        migration = Migration.between(before, target)
        statements = (
            *migration.resizing(self.profile, self.dataset),
            *migration.adding(self.profile, self.dataset),
        )
        return TableChange(target.name, statements, target.columns)

    def _recovered(self, run_table: RunTable, state: TableState, listed: Sequence[SchemaKey]) -> TableChange:
        recovery = {table.name: table for table in self._merged(listed).recovery}.get(run_table.table)
        if recovery is None:
            raise SchemaError(
                f"{run_table.table}: in {self.profile.name} {run_table.key} makes no such table; shred the "
                f"run again with --profile {self.profile.name}"
            )
        if state.columns:
            self._check_columns(run_table.table, state, recovery.columns)
            return TableChange(recovery.name, (), recovery.columns)
        return self._created(recovery.name, recovery.key, recovery.columns)

    def _created(self, table: str, key: SchemaKey, columns: Sequence[Column]) -> TableChange:
        script = TableStatements(self.profile, self.dataset, table).create(columns, key)
        return TableChange(table, _split(script), tuple(columns))

    def _merged(self, keys: Sequence[SchemaKey]) -> FamilyTable:
        documents = [self._schema_of(key) for key in keys]
        return merge_family(documents, self.profile)

    def _versions_of(self, family: Family) -> list[SchemaKey]:
        """The versions of a family; of duplicates also where the registry has none."""
        try:
            return list(self.registry.versions(family))
        except SchemaNotFound:
            if family != DUPLICATE.key.family:
                raise
            return [DUPLICATE.key]

    def _schema_of(self, key: SchemaKey) -> SchemaDocument:
        try:
            return self.registry.schema(key)
        except SchemaNotFound:
            if key != DUPLICATE.key:
                raise
            return DUPLICATE

    def _version(self, table: str, state: TableState, listed: Sequence[SchemaKey]) -> SchemaKey:
        """The version of a table, which its comment names."""
        if not state.comment:
            raise SchemaError(
                f"{table}: the table has no comment, so its version is not known; set it: COMMENT ON TABLE "
                f"{self.profile.warehouse.reference(self.dataset, table)} IS '{listed[-1]}' with the last "
                "version whose columns it has"
            )
        try:
            key = SchemaKey.parse(state.comment)
        except IgluError:
            key = None
        if key is None or key not in listed:
            raise SchemaError(
                f"{table}: its comment is {state.comment!r}; expected one of {_versions(listed)} of "
                f"{listed[0].family}, the last version whose columns it has"
            )
        return key

    def _check_columns(self, table: str, state: TableState, columns: Sequence[Column]) -> None:
        expected = [column.name for column in (*METADATA, *columns)]
        missing = [name for name in expected if name not in state.columns]
        extra = [name for name in state.columns if name not in expected]
        if missing or extra:
            difference = "; ".join(
                f"{word} {', '.join(names)}"
                for word, names in (("missing", missing), ("extra", extra))
                if names
            )
            raise SchemaError(
                f"{table}: it has {len(state.columns)} columns, {len(expected)} are expected by its comment "
                f"{state.comment}: {difference}; mend the table or its comment"
            )


def _split(script: str) -> tuple[str, ...]:
    """The statements of a script: the table, and its comment."""
    return tuple(statement for part in script.split(";\n") if (statement := part.strip()))


def _versions(keys: Sequence[SchemaKey]) -> str:
    return ", ".join(str(key.version) for key in keys)
