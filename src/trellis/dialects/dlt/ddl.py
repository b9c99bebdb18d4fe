"""From one schema to the next, as the statements that a warehouse gets (spec dlt.md, sections 16 and 18).

Text only; nothing is run. What a reader should know of a statement stands above it as a comment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from trellis.dialects.dlt.name import naming_of
from trellis.dialects.dlt.native import Warehouse
from trellis.dialects.dlt.sql import SPOKEN
from trellis.errors import SchemaError
from trellis.schema.model import Schema, Table
from trellis.schema.shorten import shorten


def statements(warehouse: Warehouse, dataset: str, before: Schema, after: Schema) -> list[str]:
    """What makes tables and columns that are new; nothing is dropped, renamed or retyped.

    Raises SchemaError where a type does not exist in the warehouse, or two names become one.
    """
    fresh = before.stored_hash is None
    named = _Named(warehouse, naming_of(after).case_sensitive)
    made: list[str] = []
    for table in after.tables.values():
        if not table.complete_columns:
            continue
        style = warehouse.formats.get(str(after.inherited(table.name, "table_format")), warehouse)
        sql = SPOKEN[style.name](style, named, dataset, table)
        known = before.tables.get(table.name)
        there = {} if fresh or known is None else {c.name: c for c in known.complete_columns}
        if not there:
            made.append(sql.create_table(table.complete_columns))
        elif missing := [column for column in table.complete_columns if column.name not in there]:
            made += sql.add_columns(missing)
    named.refuse_collisions(after.tables.values())
    if made and fresh:
        first = SPOKEN[warehouse.name](warehouse, named, dataset, Table(""))
        made[:0] = first.create_schema()
    return made


@dataclass(frozen=True)
class _Named:
    """What the names of a schema are called in a warehouse.

    A name that is too long is shortened as the path that it is: what it was called in the records is not
    known any more.
    """

    warehouse: Warehouse
    case_sensitive: bool

    def __call__(self, name: str) -> str:
        short = shorten(name, name, self.warehouse.max_name)
        if self.case_sensitive and self.warehouse.case_sensitive:
            return short
        return {"upper": short.upper(), "lower": short.lower()}.get(self.warehouse.folds, short)

    def refuse_collisions(self, tables: Iterable[Table]) -> None:
        tables = list(tables)
        self._refuse("tables", [table.name for table in tables])
        for table in tables:
            self._refuse(f"table {table.name}: columns", [column.name for column in table.complete_columns])

    def _refuse(self, where: str, names: Iterable[str]) -> None:
        def key(name: str) -> str:
            return self(name) if self.warehouse.case_sensitive else self(name).lower()

        for _, found in groupby(sorted(names, key=key), key):
            if len(same := list(found)) > 1:
                raise SchemaError(
                    f"{where} {' and '.join(same)} are one in {self.warehouse.called}; rename one of them, "
                    "or use a naming convention without case"
                )
