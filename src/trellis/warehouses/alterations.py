"""Changes of tables that no load makes by itself: properties, new names, drops, and what may be NULL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from trellis.warehouses.statements import string_literal, unicode_literal
from trellis.warehouses.warehouse import Warehouse

AlterationKind = Literal[
    "set properties",
    "rename table",
    "rename column",
    "drop table",
    "drop column",
    "set not null",
    "drop not null",
    "drop comment",
]


@dataclass(frozen=True)
class Alteration:
    """One such change.

    `name` is the new one. Where a column becomes NOT NULL, rows that have NULL get `fill`.
    """

    kind: AlterationKind
    table: str
    column: str = ""
    name: str = ""
    fill: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AlterationWriter:
    """`relation_of` gives the qualified name of a table with its quotes, `spell` a name as it is there."""

    warehouse: Warehouse
    relation_of: Callable[[str], str]
    spell: Callable[[str], str] = str

    def statements(self, alteration: Alteration, type_: str = "") -> tuple[str, ...]:
        """The statements of a change, of a column of this type; none where the warehouse cannot make it.

        >>> from trellis.warehouses.catalog.databases import DUCKDB
        >>> writer = AlterationWriter(DUCKDB, DUCKDB.quote)
        >>> writer.statements(Alteration("rename column", "t", "qty", "quantity"))
        ('ALTER TABLE "t" RENAME COLUMN "qty" TO "quantity"',)
        """
        syntax = self.warehouse.syntax
        form = {
            "set properties": syntax.set_properties,
            "rename table": syntax.rename_table,
            "rename column": syntax.rename_column,
            "drop table": syntax.drop_table,
            "drop column": syntax.drop_column,
            "set not null": syntax.set_not_null,
            "drop not null": syntax.drop_not_null,
            "drop comment": syntax.comment_on_column if alteration.column else syntax.comment_on_table,
        }[alteration.kind]
        if not form:
            return ()
        statement = form.format(**self._fields(alteration, type_))
        return (*self._filled(alteration, type_), statement)

    def _fields(self, alteration: Alteration, type_: str) -> dict[str, str]:
        relation, column = self.relation_of(alteration.table), self.quote(alteration.column)
        properties = (
            " = ".join(string_literal(self.warehouse, text) for text in pair)
            for pair in alteration.properties.items()
        )
        return {
            "table": relation,
            "column": column,
            "type": type_,
            "properties": ", ".join(properties),
            "text": self.warehouse.syntax.no_comment,
            "name": self.quote(alteration.name),
            "qualified": self.relation_of(alteration.name),
            "table_literal": unicode_literal(relation),
            "column_literal": unicode_literal(f"{relation}.{column}"),
            "name_literal": unicode_literal(self.spell(alteration.name)),
        }

    def _filled(self, alteration: Alteration, type_: str) -> tuple[str, ...]:
        if alteration.fill is None:
            return ()
        value = f"CAST({string_literal(self.warehouse, alteration.fill)} AS {type_})"
        fields = self._fields(alteration, type_)
        return (self.warehouse.syntax.fill_nulls.format(**fields, value=value),)

    def quote(self, name: str) -> str:
        return self.warehouse.quote(self.spell(name))
