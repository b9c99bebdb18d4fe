"""The statements that create a table of Snowplow (docs/conformance/snowplow.md, section Tables)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.dialects.snowplow.columns.declarations import METADATA, column_lines
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.identity.keys import SchemaKey


@dataclass(frozen=True)
class TableStatements:
    """Statements about one table in a schema of a warehouse."""

    profile: Profile
    dataset: str
    name: str

    @property
    def reference(self) -> str:
        return self.profile.warehouse.reference(self.dataset, self.name)

    def create(self, columns: Iterable[Column], key: SchemaKey) -> str:
        """The table with its comment, as one text."""
        return "\n\n".join(f"{statement};" for statement in self.statements(columns, key)) + "\n"

    def statements(self, columns: Iterable[Column], key: SchemaKey) -> tuple[str, str]:
        """The table, and its comment, which names the last schema that it holds."""
        lines = column_lines((*METADATA, *columns), self.profile)
        if self.profile.references_events:
            events = self.profile.warehouse.reference(self.dataset, "events")
            lines.append(f"  FOREIGN KEY (root_id) REFERENCES {events}(event_id)")
        block = ",\n".join(lines)
        parts = (f"CREATE TABLE IF NOT EXISTS {self.reference} (\n{block}\n)", self.profile.table_options)
        return "\n".join(filter(None, parts)), self.comment(key)

    def comment(self, key: SchemaKey) -> str:
        return f"COMMENT ON TABLE {self.reference} IS '{key}'"
