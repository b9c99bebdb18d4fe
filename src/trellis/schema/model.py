"""Column, Table, Schema: the values that all other packages pass around. Frozen, pure, ordered.

A field that is `None` is not set and is left out of the document; the document, and so the content hash,
distinguishes a field that is not set from one that is set to its default.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from trellis.schema.html import html_paragraph, html_table

DataType = Literal[
    "text", "double", "bool", "timestamp", "date", "time", "bigint", "binary", "json", "decimal", "wei"
]
DATA_TYPES: tuple[DataType, ...] = get_args(DataType)

Extra = Mapping[str, Any]


def _read_only(content: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(content)


# Schemas travel to Spark tasks; a read-only mapping does not pickle by itself.
copyreg.pickle(MappingProxyType, lambda proxy: (_read_only, (dict(proxy),)))
NOTHING: Extra = MappingProxyType({})

NESTED_TYPE = "x-nested-type"
"""The hint of a `json` column that holds the type of its nested values, where these are stored as such."""
REPR_NAMES = 5


@dataclass(frozen=True)
class Column:
    """One column. `hints` holds every other document key (`primary_key`, `unique`, `x-...`)."""

    name: str
    data_type: DataType | None = None
    nullable: bool | None = None
    precision: int | None = None
    scale: int | None = None
    timezone: bool | None = None
    variant: bool | None = None
    description: str | None = None
    hints: Extra = field(default_factory=lambda: NOTHING)

    @property
    def complete(self) -> bool:
        """Whether it can be created: it has a type."""
        return self.data_type is not None

    @property
    def required(self) -> bool:
        return self.nullable is False

    @property
    def is_variant(self) -> bool:
        return bool(self.variant)

    def hint(self, name: str) -> Any:
        """The hint's value, or None where it is absent or says its default."""
        return self.hints.get(name) or None

    def with_hints(self, **hints: Any) -> Column:
        return replace(self, hints=MappingProxyType({**self.hints, **hints}))


SINGLE: Final = 24
"""Bits of precision of a float of 32 bits, as in SQL's FLOAT(24)."""


def is_single(column: Column) -> bool:
    """Whether a double is to be kept in 32 bits."""
    return column.precision is not None and column.precision <= SINGLE


def number_size(column: Column, default: tuple[int, int] = (38, 9)) -> tuple[int, int]:
    """Precision and scale of a number; a precision alone has scale 0, what else is left out is the default's.

    >>> number_size(Column("a")), number_size(Column("a", scale=4)), number_size(Column("a", precision=12))
    ((38, 9), (38, 4), (12, 0))
    """
    if column.precision is None:
        return default[0], default[1] if column.scale is None else column.scale
    return column.precision, column.scale or 0


def repr_names(names: Iterable[str]) -> str:
    """A few names for a representation, which is to stay on one line.

    >>> repr_names("abc"), repr_names("abcdefg")
    ('[a, b, c]', '[a, b, c, d, e, ...]')
    """
    shown = [*islice(names, REPR_NAMES + 1)]
    return f"[{', '.join(shown if len(shown) <= REPR_NAMES else [*shown[:REPR_NAMES], '...'])}]"


@dataclass(frozen=True)
class Table:
    """One table. Columns keep their order, which is part of the content hash.

    `hints` holds every other document key (`write_disposition`, `resource`, `schema_contract`,
    `references`, `filters`, `table_format`, `file_format`, `x-...`).
    """

    name: str
    columns: Mapping[str, Column] = field(default_factory=dict)
    parent: str | None = None
    description: str | None = None
    hints: Extra = field(default_factory=lambda: NOTHING)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, columns={repr_names(self.columns)})"

    @property
    def nested(self) -> bool:
        return self.parent is not None

    @property
    def complete_columns(self) -> tuple[Column, ...]:
        return tuple(c for c in self.columns.values() if c.complete)

    @property
    def seen_data(self) -> bool:
        """Whether rows of it have arrived at least once."""
        return bool((self.hints.get("x-normalizer") or {}).get("seen-data"))

    def column_with(self, hint: str) -> str | None:
        """Name of the first column that carries the hint."""
        return next((c.name for c in self.columns.values() if c.hint(hint)), None)

    def columns_with(self, hint: str) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns.values() if c.hint(hint))

    def with_columns(self, *added: Column) -> Table:
        """The table with columns appended, or put in the place of those of the same name."""
        return replace(self, columns={**self.columns, **{c.name: c for c in added}})

    def with_hints(self, **hints: Any) -> Table:
        return replace(self, hints=MappingProxyType({**self.hints, **hints}))

    def with_defaults(self) -> Table:
        """The table with what every root table has: a write disposition and a resource."""
        if self.nested:
            return self
        defaults = {"write_disposition": "append", "resource": self.name}
        missing = {key: value for key, value in defaults.items() if self.hints.get(key) is None}
        return self.with_hints(**missing) if missing else self


@dataclass(frozen=True)
class Settings:
    """Global inference rules of a schema. None means that a field is not set."""

    detections: tuple[str, ...] | None = None
    default_hints: Mapping[str, tuple[str, ...]] | None = None
    preferred_types: Mapping[str, DataType] | None = None
    schema_contract: str | Mapping[str, str] | None = None
    extra: Extra = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, repr=False)
class Schema:
    """A named set of tables with their settings and the record of their versions.

    `stored_version`, `stored_hash` and `previous_hashes` are those of the last save; the hash of
    what the schema says now is `trellis.schema.version.content_hash(schema)`.
    """

    name: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    normalizers: Extra = field(default_factory=lambda: NOTHING)
    description: str | None = None
    engine_version: int = 11
    stored_version: int | None = None
    stored_hash: str | None = None
    imported_hash: str | None = None
    previous_hashes: tuple[str, ...] = ()
    extra: Extra = field(default_factory=lambda: NOTHING)

    def __repr__(self) -> str:
        return f"Schema({self.name!r}, version={self.stored_version}, tables={repr_names(self.tables)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: every column of every table."""
        version = "not stored" if self.stored_version is None else f"version {self.stored_version}"
        rows = [
            (table.name, column.name, column.data_type or "", "no" if column.required else "yes")
            for table in self.tables.values()
            for column in table.columns.values()
        ]
        heading = html_paragraph(f"schema {self.name}, {version}")
        return heading + html_table(("Table", "Column", "Type", "Null"), rows)

    def with_tables(self, *changed: Table) -> Schema:
        return replace(self, tables={**self.tables, **{t.name: t for t in changed}})

    def root_of(self, table: str) -> Table:
        """The root table of a chain of nested tables."""
        current = self.tables[table]
        while current.parent is not None:
            current = self.tables[current.parent]
        return current

    @cached_property
    def _children(self) -> Mapping[str, Sequence[Table]]:
        """The tables right below each, so that a chain of hundreds of levels is walked in one go."""
        children: dict[str, list[Table]] = {}
        for table in self.tables.values():
            if table.parent is not None:
                children.setdefault(table.parent, []).append(table)
        return children

    def children(self, table: str) -> tuple[Table, ...]:
        return tuple(self._children.get(table, ()))

    def chain(self, root: str) -> Iterator[Table]:
        """The table and all its descendants, depth first."""
        pending = [self.tables[root]]
        while pending:
            table = pending.pop()
            yield table
            pending += reversed(self.children(table.name))

    def inherited(self, table: str, hint: str) -> Any:
        """A hint of the table or of its nearest ancestor that has it."""
        current: Table | None = self.tables.get(table)
        while current is not None:
            if hint in current.hints:
                return current.hints[hint]
            current = self.tables.get(current.parent) if current.parent is not None else None
        return None
