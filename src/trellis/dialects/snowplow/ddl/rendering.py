"""The tables of families, and the scripts between their versions, as one report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.overlay import Overlay, merge_with_overlay
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.versions.order import up_to
from trellis.errors import SchemaError


@dataclass(frozen=True)
class Rendering:
    """Families as statements of one warehouse."""

    profile: Profile
    dataset: str
    compat: bool = False
    overlays: Mapping[Family, Overlay] = field(default_factory=dict)

    def tables(self, families: Mapping[Family, Sequence[SchemaDocument]]) -> list[TableReport]:
        """Each table of each family. Raises SchemaError where two families have one table."""
        reports: list[TableReport] = []
        owners: dict[str, Family] = {}
        for family, documents in families.items():
            table = self._merge(documents)
            owner = owners.setdefault(table.name, family)
            if owner != family:
                raise SchemaError(
                    f"{owner} and {family} have one table, {table.name}; rename one of the schemas"
                )
            reports += self._reports(table)
        return reports

    def scripts(
        self, families: Iterable[Sequence[SchemaDocument]], start: SchemaVer
    ) -> Iterator[ScriptReport]:
        """What brings the tables of families that have the version `start` to their last versions."""
        for documents in families:
            if any(document.key.version == start for document in documents):
                before, after = map(self._merge, (up_to(start, documents), documents))
                sql = Migration.between(before, after).script(self.profile, self.dataset)
                yield ScriptReport(before.key, after.key, sql)

    def effect(self, documents: Sequence[SchemaDocument], document: SchemaDocument) -> str:
        """The statements that one more version of a family causes."""
        after = self._merge([*documents, document])
        *_, last = self._reports(after)
        if not documents or last.recovers == document.key.version:
            return last.sql
        before = self._merge(documents)
        return Migration.between(before, after).script(self.profile, self.dataset)

    def _merge(self, documents: Sequence[SchemaDocument]) -> FamilyTable:
        overlay = self.overlays.get(documents[0].key.family)
        return merge_with_overlay(documents, self.profile, overlay, compat=self.compat)

    def _reports(self, table: FamilyTable) -> Iterator[TableReport]:
        yield self._report(table.name, table.key, table.columns, None)
        for recovery in table.recovery:
            yield self._report(recovery.name, recovery.key, recovery.columns, recovery.key.version)

    def _report(
        self, name: str, key: SchemaKey, columns: Sequence[Column], recovers: SchemaVer | None
    ) -> TableReport:
        sql = TableStatements(self.profile, self.dataset, name).create(columns, key)
        reports = tuple(map(self._column_report, (*METADATA, *columns)))
        return TableReport(name, key, sql, reports, recovers)

    def _column_report(self, column: Column) -> ColumnReport:
        return ColumnReport(
            column.name,
            self.profile.type_text(column.type),
            column.encoding if self.profile.encodes else None,
            column.nullable,
            column.pointer,
        )


def report_dict(tables: Iterable[TableReport], scripts: Iterable[ScriptReport]) -> dict[str, Any]:
    return {
        "tables": [
            {
                "table": table.name,
                "uri": str(table.key),
                "sql": table.sql,
                "columns": [vars(column) for column in table.columns],
                "recovers": None if table.recovers is None else str(table.recovers),
            }
            for table in tables
        ],
        "scripts": [
            {"from": str(script.start), "to": str(script.end), "sql": script.sql} for script in scripts
        ],
    }


@dataclass(frozen=True)
class ColumnReport:
    name: str
    type: str
    encode: str | None
    nullable: bool
    pointer: str | None


@dataclass(frozen=True)
class TableReport:
    name: str
    key: SchemaKey
    """The last schema that the table holds."""
    sql: str
    columns: tuple[ColumnReport, ...]
    recovers: SchemaVer | None
    """The version that did not fit the table of its family."""


@dataclass(frozen=True)
class ScriptReport:
    start: SchemaKey
    end: SchemaKey
    sql: str
