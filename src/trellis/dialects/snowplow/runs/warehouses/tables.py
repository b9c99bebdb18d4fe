"""Tables as the catalog of a warehouse has them, and what a load changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.identity.keys import SchemaKey


@dataclass(frozen=True)
class RealColumn:
    """A column with its type in the words of the warehouse."""

    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True)
class RealTable:
    """A table with its columns in their order."""

    columns: tuple[RealColumn, ...]
    comment: str | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


CatalogRow = tuple[str, str | None, str, str, bool]
"""A table with its comment, and one of its columns with its type and whether it may be NULL."""


def group_columns(rows: Iterable[CatalogRow]) -> dict[str, RealTable]:
    """The tables of columns that are listed table by table, in their order."""
    columns: dict[tuple[str, str | None], list[RealColumn]] = {}
    for table, comment, name, type_, nullable in rows:
        columns.setdefault((table, comment), []).append(RealColumn(name, type_, nullable))
    return {table: RealTable(tuple(group), comment) for (table, comment), group in columns.items()}


@dataclass(frozen=True)
class TableChange:
    """What a load does to a table before its rows go in."""

    table: str
    key: SchemaKey
    """The version that the table then has."""
    columns: tuple[Column, ...]
    """The columns that it then has."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The columns of the table by those of files that are called otherwise."""
    shortened: Mapping[str, str] = field(default_factory=dict)
    """The names of the family that the warehouse has no room for, with what they become."""
    created: bool = False
    added: tuple[Column, ...] = ()
    widened: tuple[Column, ...] = ()
    released: tuple[Column, ...] = ()
    """Columns that are NOT NULL no longer."""
    resizing: tuple[str, ...] = ()
    """The statements that change columns; Redshift refuses them in a transaction."""
    adding: tuple[str, ...] = ()
    """The statements that create the table or add columns, and the comment."""

    @property
    def statements(self) -> tuple[str, ...]:
        return (*self.resizing, *self.adding)

    @property
    def newly_shortened(self) -> dict[str, str]:
        """Those of the shortened names that this change brings."""
        names = {column.name for column in (self.columns if self.created else self.added)}
        brought = {*names, self.table} if self.created else names
        return {full: name for full, name in self.shortened.items() if name in brought}
