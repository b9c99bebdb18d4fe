"""A table's schema as a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from trellis.dialects.ytsaurus.types.model import ANY, Type, is_nullable
from trellis.dialects.ytsaurus.types.simple import SimpleType, simple_type

SortOrder = Literal["ascending", "descending"]
SchemaMode = Literal["weak", "strong"]


@dataclass(frozen=True)
class SortColumn:
    """A column to sort by."""

    name: str
    sort_order: SortOrder = "ascending"

    def __str__(self) -> str:
        return self.name if self.sort_order == "ascending" else f"{self.name} descending"


@dataclass(frozen=True)
class Column:
    name: str
    type: Type
    sort_order: SortOrder | None = None
    """Set for key columns."""
    expression: str | None = None
    aggregate: str | None = None
    lock: str | None = None
    group: str | None = None
    stable_name: str = ""
    """What the column was called first; empty where it is the name."""
    max_inline_hunk_size: int | None = None
    materialized: bool | None = None
    constraint: str | None = None

    @property
    def identity(self) -> str:
        """By which a column stays the same after it is renamed."""
        return self.stable_name or self.name

    @property
    def is_key(self) -> bool:
        return self.sort_order is not None

    @property
    def required(self) -> bool:
        return not is_nullable(self.type)

    @property
    def simple(self) -> SimpleType:
        return simple_type(self.type)

    def stripped(self) -> Column:
        """The name and the type alone."""
        return Column(self.name, self.type)

    def __str__(self) -> str:
        return f"{self.name}:{self.type}{'^' if self.is_key else ''}"


@dataclass(frozen=True)
class TableSchema:
    columns: tuple[Column, ...] = ()
    strict: bool = True
    unique_keys: bool = False
    deleted_columns: tuple[str, ...] = ()
    """Stable names of columns that were dropped, which no column may have again."""

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.is_key)

    @property
    def keys(self) -> tuple[SortColumn, ...]:
        return tuple(
            SortColumn(column.name, column.sort_order) for column in self.columns if column.sort_order
        )

    @property
    def is_sorted(self) -> bool:
        return any(column.is_key for column in self.columns)

    def without_keys(self) -> TableSchema:
        """The same columns of an unsorted table."""
        columns = tuple(replace(column, sort_order=None) for column in self.columns)
        return replace(self, columns=columns, unique_keys=False)

    def without_stable_names(self) -> TableSchema:
        columns = tuple(replace(column, stable_name="") for column in self.columns)
        return replace(self, columns=columns, deleted_columns=())

    def select(self, names: Iterable[str]) -> TableSchema:
        """The columns of a filter, in the order of the schema, sorted by the leading keys that are kept."""
        chosen = frozenset(names)
        columns: list[Column] = []
        is_prefix = True
        for column in self.columns:
            if column.is_key and column.name not in chosen:
                is_prefix = False
            if column.name in chosen:
                columns.append(column if is_prefix else replace(column, sort_order=None))
        return replace(self, columns=tuple(columns), unique_keys=self.unique_keys and is_prefix)

    def __str__(self) -> str:
        mark = "" if self.strict else "~"
        return f"{mark}[{', '.join(map(str, self.columns))}]{'u' if self.unique_keys else ''}"


EMPTY: Final = TableSchema(strict=False)
"""The schema of a table that was created without one."""


def weak_schema(keys: Sequence[SortColumn]) -> TableSchema:
    """What a table has that is sorted and has no schema of the user's.

    >>> str(weak_schema([SortColumn("k")]))
    '~[k:optional<yson>^]'
    """
    return TableSchema(tuple(Column(key.name, ANY, key.sort_order) for key in keys), strict=False)
