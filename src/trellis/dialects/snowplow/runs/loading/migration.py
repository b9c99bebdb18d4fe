"""What a load of a run has to do to one table: create it, bring it to a later version, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trellis.dialects.snowplow.client.registry import Registry, SchemaNotFound
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable, merge_family
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.names import table_name
from trellis.dialects.snowplow.columns.overlay import Overlay, merge_named, merge_with_overlay
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.runs.duplicates import DUPLICATE
from trellis.dialects.snowplow.runs.loading.records import DefinitionRecord
from trellis.dialects.snowplow.runs.loading.verification import (
    Difference,
    Verification,
    compare_columns,
    compare_definitions,
    type_text,
)
from trellis.dialects.snowplow.runs.manifest import RunManifest, RunTable
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, TableChange
from trellis.dialects.snowplow.stored_families import definition_digest
from trellis.errors import SchemaError

_JSON_FOLDER: Final = "/format=json/"


@dataclass(frozen=True)
class FamilyVersions:
    """The tables of families by the schemas of a registry, for one warehouse."""

    registry: Registry
    profile: Profile
    compat: bool = False
    """Tables are as Snowplow's own code makes them."""
    _overlays: dict[Family, Overlay | None] = field(default_factory=dict, repr=False, compare=False)

    def versions(self, family: Family) -> list[SchemaKey]:
        """The versions of a family; of duplicates also where the registry has none."""
        try:
            return [*self.registry.versions(family)]
        except SchemaNotFound:
            if family != DUPLICATE.key.family:
                raise
            return [DUPLICATE.key]

    def documents(self, keys: Sequence[SchemaKey]) -> list[SchemaDocument]:
        return [self._document(key) for key in keys]

    def merged(self, keys: Sequence[SchemaKey]) -> FamilyTable:
        """The table of versions in their order, as rules make it."""
        return merge_family(self.documents(keys), self.profile, compat=self.compat)

    def named(self, keys: Sequence[SchemaKey]) -> FamilyTable:
        """The table of versions in their order, as rules make it, with the short names of its overlay."""
        overlay = self.overlay(keys[0].family)
        return merge_named(self.documents(keys), self.profile, overlay, compat=self.compat)

    def table(self, keys: Sequence[SchemaKey]) -> FamilyTable:
        """The table of versions in their order, with its overlay."""
        overlay = self.overlay(keys[0].family)
        return merge_with_overlay(self.documents(keys), self.profile, overlay, compat=self.compat)

    def table_name(self, family: Family) -> str:
        """The registry is asked only where the warehouse has no room for the name."""
        name = table_name(family)
        overlay = None if self.profile.has_room(name) else self.overlay(family)
        return (overlay.profile(self.profile) if overlay else self.profile).shorten(name)

    def overlay(self, family: Family) -> Overlay | None:
        if family not in self._overlays:
            self._overlays[family] = self.registry.overlay(family)
        return self._overlays[family]

    def version_of(self, name: str, table: RealTable, listed: Sequence[SchemaKey], dataset: str) -> SchemaKey:
        """The version of a real table, which its comment names. Raises SchemaError."""
        if not table.comment:
            raise SchemaError(
                f"{name}: the table has no comment, so its version is not known; set it: COMMENT ON TABLE "
                f"{self.profile.warehouse.reference(dataset, name)} IS '{listed[-1]}' with the last version "
                "whose columns it has, or let `trellis snowplow adopt` find it"
            )
        try:
            key = SchemaKey.parse(table.comment)
        except IgluError:
            key = None
        if key is None or key not in listed:
            raise SchemaError(
                f"{name}: its comment is {table.comment!r}; expected one of {_versions(listed)} of "
                f"{listed[0].family}, the last version whose columns it has; set it, or let "
                "`trellis snowplow adopt` find it"
            )
        return key

    def _document(self, key: SchemaKey) -> SchemaDocument:
        try:
            return self.registry.schema(key)
        except SchemaNotFound:
            if key != DUPLICATE.key:
                raise
            return DUPLICATE


@dataclass(frozen=True)
class TablePlanner:
    """Decides changes, bounded by the manifest: what was published since the run does not count."""

    families: FamilyVersions
    dataset: str
    manifest: RunManifest
    verification: Verification = "count"
    records: Mapping[str, DefinitionRecord] = field(default_factory=dict)
    """What the last load into each table was made by."""

    @property
    def profile(self) -> Profile:
        return self.families.profile

    def changes(self, real_tables: Mapping[str, RealTable]) -> dict[str, TableChange]:
        """The changes of all tables of the run. Raises SchemaError for one that the rows may not go into.

        Where a run has files of each version, those of the last say what becomes of the table.
        """
        changes: dict[str, TableChange] = {}
        if as_json := [table.path for table in self.manifest.tables if _JSON_FOLDER in table.path]:
            raise SchemaError(
                f"{', '.join(as_json)}: entities that stay JSON are for loaders with JSONPaths files; shred "
                "the run again with --format csv and without --option json"
            )
        for run_table in sorted(self.manifest.tables, key=lambda table: len(table.keys), reverse=True):
            if run_table.table not in changes:
                changes[run_table.table] = self._change(run_table, real_tables)
        _refuse_one_table(changes)
        return changes

    def _change(self, run_table: RunTable, real_tables: Mapping[str, RealTable]) -> TableChange:
        listed = self.families.versions(run_table.key.family)
        keys = [SchemaKey.parse(uri) for uri in run_table.keys]
        if run_table.is_recovered:
            return self._recovered(run_table, real_tables, listed)
        if listed[: len(keys)] != keys:
            raise SchemaError(
                f"{run_table.table}: the registry lists {_versions(listed)}, and the run was shredded by "
                f"{_versions(keys)}; load with the registry that it was shredded by"
            )
        by_rules, target = self.families.merged(keys), self.families.table(keys)
        renamed = _renamed(by_rules.columns, target.columns)
        self._check_files(run_table, (by_rules, target), keys)
        change = self._family_change(real_tables.get(target.name), target, listed, len(keys))
        return replace(change, renamed=renamed, shortened=target.shortened)

    def _family_change(
        self, real: RealTable | None, target: FamilyTable, listed: Sequence[SchemaKey], size: int
    ) -> TableChange:
        """The change to the table of the first versions of those that are listed."""
        name = target.name
        if real is None:
            return self._created(name, target.key, target.columns)
        position = listed.index(self.families.version_of(name, real, listed, self.dataset)) + 1
        before = self.families.table(listed[:position])
        self._check_table(name, real, before, target, listed[:position])
        if position >= size or before.key == target.key:
            return TableChange(target.name, before.key, (*METADATA, *before.columns))
        return self._migrated(real, before, target)

    def _check_files(
        self, run_table: RunTable, tables: Sequence[FamilyTable], keys: Sequence[SchemaKey]
    ) -> None:
        """That the table takes all columns of the files, which are called by rules or by its overlay.

        Raises SchemaError.
        """
        *_, target = tables
        names = {
            column.name for column in (*METADATA, *(column for table in tables for column in table.columns))
        }
        is_named = run_table.table in {table.name for table in tables}
        if not is_named or not names.issuperset(run_table.columns):
            raise SchemaError(
                f"{run_table.table}: its files have the columns {', '.join(run_table.columns[9:])}, and "
                f"{target.name} in {self.profile.name} would have "
                f"{', '.join(column.name for column in target.columns)}; shred the run again with --profile "
                f"{self.profile.name}, or a schema was patched or an overlay changed since"
            )
        has_digest = self.manifest.layout == "model" and self.manifest.profile == self.profile.name
        if has_digest and run_table.digest not in map(definition_digest, tables):
            raise SchemaError(
                f"{run_table.table}: one of {_versions(keys)} of {keys[0].family} was patched, or its "
                "overlay changed, since the run was shredded; shred the run again"
            )

    def _check_table(
        self,
        name: str,
        real: RealTable,
        before: FamilyTable,
        target: FamilyTable,
        listed: Sequence[SchemaKey],
    ) -> None:
        """That a table is as its comment promises. Raises SchemaError."""
        record = self.records.get(name)
        patched = record.patched(self.families.documents(listed), self.profile) if record else []
        differences = self._differences(real, before.columns, before.orders, every=bool(patched))
        if not (self.profile.has_transactions and self.profile.resizes_in_transaction):
            coming = {column.name: self.profile.type_text(column.type) for column in target.columns}
            differences = [item for item in differences if not _is_begun(item, coming)]
        if not differences:
            return
        listed_differences = "; ".join(map(str, differences))
        if record and patched:
            raise SchemaError(
                f"{name}: {', '.join(patched)} was patched since the load of {record.base}, and the table is "
                f"not as the schema says now: {listed_differences}; change the table by hand, or publish the "
                "old schema again and the change as a new version"
            )
        raise SchemaError(
            f"{name}: it has {len(real.columns)} columns, {len(METADATA) + len(before.columns)} are expected "
            f"by its comment {real.comment}: {listed_differences}; mend the table or its comment, or let "
            "`trellis snowplow adopt` describe it"
        )

    def _differences(
        self,
        real: RealTable,
        columns: Sequence[Column],
        orders: Sequence[Sequence[str]] = (),
        *,
        every: bool = False,
    ) -> list[Difference]:
        if every or self.verification == "definition":
            return compare_definitions(real, (*METADATA, *columns), self.profile, orders)
        return compare_columns(real, (*METADATA, *columns), self.profile)

    def _migrated(self, real: RealTable, before: FamilyTable, target: FamilyTable) -> TableChange:
        """Without what an attempt that was interrupted did already, where that can be."""
        whole = Migration.between(before, target)
        types = {column.name: type_text(column, self.profile) for column in real.columns}
        migration = replace(
            whole,
            added=tuple(column for column in whole.added if column.name not in types),
            widened=tuple(
                column
                for column in whole.widened
                if types[column.name] != self.profile.type_text(column.type)
            ),
        )
        return TableChange(
            target.name,
            target.key,
            (*METADATA, *target.columns),
            added=migration.added,
            widened=migration.widened,
            released=migration.released,
            resizing=tuple(migration.resizing(self.profile, self.dataset)),
            adding=tuple(migration.adding(self.profile, self.dataset)),
        )

    def _recovered(
        self, run_table: RunTable, real_tables: Mapping[str, RealTable], listed: Sequence[SchemaKey]
    ) -> TableChange:
        """The change of the table of a version that does not fit the others."""
        if run_table.key not in listed:
            raise SchemaError(
                f"{run_table.table}: the registry lists {_versions(listed)}, and not {run_table.key}; load "
                "with the registry that the run was shredded by"
            )
        keys = listed[: listed.index(run_table.key) + 1]
        family = self.families.table(keys)
        by_rules, recovery = (
            next((table for table in tables if table.key == run_table.key), None)
            for tables in (self.families.merged(keys).recovery, family.recovery)
        )
        if by_rules is None or recovery is None or run_table.table not in (by_rules.name, recovery.name):
            raise SchemaError(
                f"{run_table.table}: in {self.profile.name} {run_table.key} makes no such table; shred the "
                f"run again with --profile {self.profile.name}, or the schema was patched since"
            )
        renamed = _renamed(by_rules.columns, recovery.columns)
        if (real := real_tables.get(recovery.name)) is None:
            created = self._created(recovery.name, recovery.key, recovery.columns)
            return replace(created, renamed=renamed, shortened=family.shortened)
        if differences := self._differences(real, recovery.columns):
            raise SchemaError(
                f"{recovery.name}: {'; '.join(map(str, differences))}; mend the table, which is of "
                f"{recovery.key} alone"
            )
        columns = (*METADATA, *recovery.columns)
        return TableChange(recovery.name, recovery.key, columns, renamed, family.shortened)

    def _created(self, table: str, key: SchemaKey, columns: Sequence[Column]) -> TableChange:
        statements = TableStatements(self.profile, self.dataset, table).statements(columns, key)
        return TableChange(table, key, (*METADATA, *columns), created=True, adding=statements)


def _refuse_one_table(changes: Mapping[str, TableChange]) -> None:
    """Raises SchemaError where rows of two families would go into one table."""
    owners: dict[str, Family] = {}
    for change in changes.values():
        owner = owners.setdefault(change.table, change.key.family)
        if owner != change.key.family:
            raise SchemaError(
                f"{change.table}: it would be the table of {owner} and of {change.key.family}; name one of "
                "them otherwise in its overlay"
            )


def _renamed(by_rules: Sequence[Column], columns: Sequence[Column]) -> dict[str, str]:
    """The names that an overlay gives columns, by those of rules."""
    names = {column.paths: column.name for column in columns}
    return {column.name: names[column.paths] for column in by_rules if names[column.paths] != column.name}


def _is_begun(difference: Difference, coming: Mapping[str, str]) -> bool:
    """Whether an attempt that was interrupted may have made it: the table is on its way to these types."""
    if difference.kind == "extra":
        return difference.column in coming
    return difference.kind == "type" and coming.get(difference.column) == difference.actual


def _versions(keys: Sequence[SchemaKey]) -> str:
    return ", ".join(str(key.version) for key in keys)
