"""The way from a stored schema to that of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.cli.schema_files import read_schema
from trellis.cli.schema_store import StoredSchema, imported
from trellis.dialects import get_dialect, system_prefixes
from trellis.dialects.documents import naming_of
from trellis.errors import SchemaError, UsageError, nearest
from trellis.pipelines.schema_versions import changes_of, save_schema
from trellis.schema.model import Schema
from trellis.schema.renames import Renames
from trellis.schema.version import content_hash
from trellis.warehouses.catalog import WAREHOUSES
from trellis.warehouses.migration_plan import MigrationPlan

if TYPE_CHECKING:
    from trellis.cli.commands.schema_migration import Changes


@dataclass(frozen=True)
class SchemaMigration:
    """A plan for the tables of a destination."""

    store: StoredSchema
    file: str
    plan: MigrationPlan

    @staticmethod
    def of(
        file: str,
        to: str | None,
        dataset: str | None,
        name: str | None,
        changes: Changes,
        warehouse: str | None = None,
    ) -> SchemaMigration:
        """Raises UsageError, SchemaError with what is wrong with the file or a name."""
        store = StoredSchema.open(to, dataset, name)
        if warehouse is not None and warehouse not in WAREHOUSES:
            raise UsageError(f"there is no warehouse {warehouse!r}{nearest(warehouse, WAREHOUSES)}")
        pipeline, before = store.pipeline, store.newest
        after, _ = imported(store, file, read_schema(file).schema)
        plan = MigrationPlan(
            WAREHOUSES[warehouse] if warehouse else pipeline.destination.abilities.warehouse,
            pipeline.dataset or after.name,
            before,
            after,
            Renames.of(changes.rename, before, after),
            dict(_fill(text, after) for text in changes.fill),
            case_sensitive=naming_of(after).case_sensitive,
            prefixes=system_prefixes(),
        )
        return SchemaMigration(store, file, plan)

    @property
    def place(self) -> str:
        return self.store.pipeline.destination.url

    @property
    def changed(self) -> bool:
        """Whether the schema is another one, also where no statement follows from that."""
        return content_hash(self.plan.after) != content_hash(self.plan.before)

    def refuse_breaking(self) -> None:
        """Raises SchemaError where a change is breaking."""
        breaking = [step.text for step in self.plan.steps if step.breaking]
        if breaking:
            more = f" and {len(breaking) - 1} more" if len(breaking) > 1 else ""
            raise SchemaError(
                f"{self.file}: breaking changes are not applied without --force ({breaking[0]}{more})"
            )

    def apply(self, *, dry_run: bool = False) -> Schema:
        """Commit the schema with its changes of tables, or only see whether that works."""
        pipeline = self.store.pipeline
        changes = changes_of(self.plan, get_dialect(pipeline.dialect))
        return save_schema(pipeline, self.plan.after, changes, origin=self.file, dry_run=dry_run)


def _fill(text: str, after: Schema) -> tuple[tuple[str, str], str]:
    place, equals, value = text.partition("=")
    table, _, column = place.strip().rpartition(".")
    if not equals or table not in after.tables or column not in after.tables[table].columns:
        raise UsageError(f"--fill {text}: write TABLE.COLUMN=VALUE, with a column of the new schema")
    if not after.tables[table].columns[column].required:
        raise UsageError(f"--fill {text}: the column may be NULL; give it nullable: false, or leave this out")
    return (table, column), value
