"""Tables as the catalog of a warehouse has them, and what a load changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.names import column_name, table_name
from trellis.dialects.snowplow.columns.profiles import Profile
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

    def shortened(self, profile: Profile) -> dict[str, str]:
        """The names that this change brings and that a warehouse has no room for, with what they become."""
        columns = self.columns if self.created else self.added
        names = [(column.name, column_name(column.paths[0])) for column in columns if column.paths]
        if self.created:
            names.insert(0, (self.table, table_name(self.key.family)))
        return {full: name for name, full in names if name != full and name == profile.shorten(full)}
