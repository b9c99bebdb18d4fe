"""What brings a table from one version of its family to a later one."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.dialects.snowplow.columns.family_table import FamilyTable
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.warehouses.statements import ColumnDefinition, add_columns, drop_not_null, set_type


@dataclass(frozen=True)
class Migration:
    """The changes between two versions of a table."""

    table: str
    start: SchemaKey
    end: SchemaKey
    widened: tuple[Column, ...]
    released: tuple[Column, ...]
    """Columns that are NOT NULL no longer."""
    added: tuple[Column, ...]

    @staticmethod
    def between(before: FamilyTable, after: FamilyTable) -> Migration:
        """`after` is the same table some schemas later.

        Columns are added in the order in which they came, wherever an overlay places them in a new table.
        """
        old = {column.name: column for column in before.columns}
        arrivals = [column.paths[0] for step in after.steps for column in step.added]
        kept = [(old[column.name], column) for column in after.columns if column.name in old]
        return Migration(
            after.name,
            before.key,
            after.key,
            tuple(new for column, new in kept if column.type != new.type),
            tuple(new for column, new in kept if new.nullable and not column.nullable),
            tuple(
                sorted(
                    (column for column in after.columns if column.name not in old),
                    key=lambda column: arrivals.index(column.paths[0]),
                )
            ),
        )

    def resizing(self, profile: Profile, dataset: str) -> list[str]:
        """The statements that change columns; Redshift refuses them in a transaction."""
        table, warehouse = profile.warehouse.reference(dataset, self.table), profile.warehouse
        return [
            *(
                set_type(warehouse, table, column.name, profile.type_text(column.type))
                for column in self.widened
            ),
            *(drop_not_null(warehouse, table, column.name) for column in self.released),
        ]

    def adding(self, profile: Profile, dataset: str) -> list[str]:
        """The statements that add columns, and the comment that says which version the table is now."""
        statements = TableStatements(profile, dataset, self.table)
        definitions = [
            ColumnDefinition(
                column.name,
                profile.type_text(column.type),
                constraint=f"ENCODE {column.encoding}" if profile.encodes else "",
            )
            for column in self.added
        ]
        added = add_columns(profile.warehouse, statements.reference, definitions) if definitions else []
        return [*added, statements.comment(self.end)]

    def script(self, profile: Profile, dataset: str) -> str:
        """All statements as one text, the transaction included."""
        resizing, adding = self.resizing(profile, dataset), self.adding(profile, dataset)
        if profile.resizes_in_transaction:
            resizing, adding = [], [*resizing, *adding]
        if profile.has_transactions and len(adding) > 1:
            adding = ["BEGIN TRANSACTION", *(f"  {statement}" for statement in adding), "END TRANSACTION"]
        return "".join(f"{statement};\n" for statement in (*resizing, *adding))
