"""New names of tables and columns: to a comparison of two schemas alone, one is gone and another is new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trellis.errors import SchemaError, nearest
from trellis.schema.compare import Change, RenameColumn, RenameTable, compare
from trellis.schema.model import Schema, Table


@dataclass(frozen=True)
class Renames:
    """New names of tables, and of columns by table and column, all by the names before."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @staticmethod
    def of(texts: Sequence[str], before: Schema, after: Schema) -> Renames:
        """From `orders.qty=quantity` and `orders=purchases`. Raises SchemaError for unknown names."""
        tables, columns = dict[str, str](), dict[tuple[str, str], str]()
        for text in texts:
            old, equals, new = (part.strip() for part in text.partition("="))
            if not equals or not new:
                raise SchemaError(f"--rename {text}: write TABLE.COLUMN=NAME or TABLE=NAME")
            if old in before.tables:
                _refuse_unknown(text, "table", new, after.tables)
                tables[old] = new
                continue
            table, _, column = old.rpartition(".")
            _refuse_unknown(text, "stored table", table or old, before.tables)
            _refuse_unknown(text, f"stored column of {table}", column, before.tables[table].columns)
            columns[table, column] = new
        for (table, column), new in columns.items():
            renamed = tables.get(table, table)
            known = after.tables[renamed].columns if renamed in after.tables else {}
            _refuse_unknown(f"{table}.{column}={new}", f"column of {renamed}", new, known)
        return Renames(tables, columns)

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns)

    def apply(self, schema: Schema) -> Schema:
        """The schema with the new names."""
        tables = (self._table(table) for table in schema.tables.values())
        return replace(schema, tables={table.name: table for table in tables})

    def compare(self, before: Schema | None, after: Schema) -> tuple[Change, ...]:
        """The changes from one schema to the other, new names first."""
        return (*self.changes(), *compare(before and self.apply(before), after))

    def changes(self) -> Iterator[RenameTable | RenameColumn]:
        for old, new in self.tables.items():
            yield RenameTable(new, old)
        for (table, old), new in self.columns.items():
            yield RenameColumn(self.tables.get(table, table), new, old)

    def _table(self, table: Table) -> Table:
        names = {name: self.columns.get((table.name, name), name) for name in table.columns}
        columns = {
            new: replace(table.columns[name], name=new) if new != name else table.columns[name]
            for name, new in names.items()
        }
        parent = None if table.parent is None else self.tables.get(table.parent, table.parent)
        return replace(table, name=self.tables.get(table.name, table.name), columns=columns, parent=parent)


NO_RENAMES: Final = Renames()


def _refuse_unknown(text: str, what: str, name: str, known: Mapping[str, Any]) -> None:
    if name not in known:
        raise SchemaError(f"--rename {text}: there is no {what} {name!r}{nearest(name, known)}")
