"""The seam between the engine and a schema language: five small decisions.

The engine knows no dialect by name. It asks: to which table does a record belong (`route`), how does
nesting become columns and tables (`shape`), what is a key called (`name`), which type does a first
value give and where does a misfit go (`type`), which bookkeeping is kept (`keep`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from trellis.evolution.kinds import Kind
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming

Router = Callable[[Mapping[str, Any]], Iterable[tuple[str, Mapping[str, Any]]]]

Mode = Literal["append", "replace", "merge"]
Strategy = Literal["delete-insert", "upsert"]


@dataclass(frozen=True)
class Request:
    """What the user asked of one root table."""

    table: str
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    contract: str | Mapping[str, str] | None = None
    max_nesting: int | None = None


@dataclass(frozen=True)
class RowKeys:
    """How the rows of one table are identified: the roles and names of the bookkeeping columns.

    `from_columns` names the columns whose raw values the row id is a hash of; empty means the id is
    pseudo-random, derived from the load id and the position of the row.
    """

    row_id: str
    load_id: str | None = None
    root_id: str | None = None
    parent_id: str | None = None
    list_index: str | None = None
    from_columns: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The bookkeeping columns in the order in which they are appended to a row."""
        names = (self.load_id, self.root_id, self.parent_id, self.list_index, self.row_id)
        return tuple(name for name in names if name)


@dataclass(frozen=True)
class Journal:
    """Where a dialect keeps its record of schema versions and of loads."""

    versions: str
    loads: str
    load_id: str


class Route(Protocol):
    def router(self, table: str) -> Router | None:
        """None where every record belongs to the one table the user named."""
        ...


class Shape(Protocol):
    def budget(self, schema: Schema, root: str) -> int:
        """How many levels of nesting become columns and tables under this root."""
        ...

    def keeps_whole(self, schema: Schema, table: str, column: str, budget: int) -> bool:
        """Whether a nested value stays one JSON value in this column."""
        ...

    def excludes(self, schema: Schema, table: str, path: str) -> bool:
        """Whether what stands at this path below the table is left out."""
        ...


class Name(Protocol):
    def naming(self, schema: Schema, max_length: int | None) -> Naming: ...


class Type(Protocol):
    def detections(self, schema: Schema) -> tuple[str, ...]:
        """The type detectors that look at values of new columns, in order."""
        ...

    def first(self, schema: Schema, column: str, kind: Kind) -> DataType:
        """The type that a first value of this kind gives a new column."""
        ...

    def coerces(self, schema: Schema) -> bool:
        """Whether values are converted to the type of their column; else each type has its own column."""
        ...

    def column(self, schema: Schema, name: str, data_type: DataType) -> Column:
        """A new inferred column with the hints that the rules give it."""
        ...

    def variant(self, naming: Naming, table: Table, column: str, kind: Kind) -> Column:
        """The column that takes values of this kind which do not fit `column`."""
        ...


class Keep(Protocol):
    prefix: str

    def new_schema(self, name: str) -> Schema: ...

    def prepare(self, schema: Schema, request: Request, naming: Naming) -> Schema:
        """The schema with the user's request for a root table written into it."""
        ...

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table: ...

    def row_keys(self, schema: Schema, table: str) -> RowKeys: ...

    def propagated(self, schema: Schema, table: str) -> Mapping[str, str]:
        """Columns whose values the rows below a row of this table get too, and under which names."""
        ...

    def bookkeeping(self, schema: Schema, table: str) -> tuple[Column, ...]:
        """The bookkeeping columns of a table that gets rows."""
        ...

    def saw_data(self, table: Table) -> Table: ...

    def journal(self) -> Journal: ...

    def records(
        self, schema: Schema, load_id: str, dataset: str, now: datetime, *, fresh: bool, first: bool
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of bookkeeping tables that go in with a load of this (saved) schema."""
        ...

    def root_keys(self, seed: bytes, count: int) -> list[str]: ...

    def hashed_keys(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]: ...

    def child_keys(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]: ...


class Dialect(Protocol):
    """One schema language."""

    name: str
    route: Route
    shape: Shape
    naming: Name
    type: Type
    keep: Keep
