"""The seam between the engine and a schema language: five small decisions.

The engine knows no dialect by name. It asks: to which table does a record belong (`route`), how does
nesting become columns and tables (`shape`), what is a key called (`name`), which type does a first
value give and where does a misfit go (`type`), which bookkeeping is kept (`keep`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from trellis.evolution.kinds import Kind
from trellis.evolution.loading import Links, Load, Mode, Strategy
from trellis.evolution.program import RowProgram
from trellis.evolution.recipe import Recipe
from trellis.evolution.record import Lost
from trellis.evolution.values import WEI_SIZE
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming


@dataclass
class Routed:
    """What becomes of one record: flat rows by table, in order, and what of it reaches none of them.

    `oddity` is something to count that is no fault.
    """

    rows: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    oddity: str | None = None


Shared = Mapping[str, Collection[str]]
"""What has one name in the tables, and what it was called in the records."""


class Router(Protocol):
    """Spreads records over tables."""

    sorts: tuple[str, ...]
    """The keys at the top of a record that tell its sort, for `recipe`."""

    def __call__(self, record: Mapping[str, Any], position: str, /) -> Routed:
        """From a record and its position as text. Raises Rejected."""
        ...

    def recipe(self, sort: Sequence[str | None]) -> Recipe | None:
        """The recipe of the records with these texts under the keys of `sorts`, from what is known by now."""
        ...

    def shared(self) -> Shared:
        """The names, each with its kind in front, with all that came to them so far in the records."""
        ...


class Told(NamedTuple):
    """One flat row, and what is told of it: its table, and the table above that, if there is one."""

    table: str
    parent: str | None
    row: Mapping[str, Any]


class Reshaper(Protocol):
    """Makes flat rows of a record in the user's own way; `flow` walks them one by one."""

    def __call__(
        self, record: Any, load_id: str, table: str, where: str, /
    ) -> Generator[Told, bool | None, None]:
        """From a record, the table that the user named and the record's place in words.

        What is sent to the generator is whether the row it gave last is loaded. Raises UsageError.
        """
        ...


@dataclass(frozen=True)
class Request:
    """What the user asked of one root table.

    `declared` is a partial table with names as the user wrote them. `nested` are partial tables by the path
    of keys that leads to them, the shorter paths first; one with a primary or merge key is a root table by
    itself. `materialize` creates the table though no row comes. `whole`: rows with types are taken as they
    are, without child tables, variants and, unless asked for, bookkeeping.
    """

    table: str
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    contract: str | Mapping[str, str] | None = None
    max_nesting: int | None = None
    declared: Table | None = None
    nested: tuple[tuple[tuple[str, ...], Table], ...] = ()
    materialize: bool = False
    whole: bool = False


@dataclass(frozen=True)
class RowKeys:
    """How the rows of one table are identified: the roles and names of the bookkeeping columns.

    `from_columns` names the columns whose raw values the row id is a hash of; `of_item` makes it a hash of
    the whole record; else the id is pseudo-random, derived from the load id and the position of the row.
    Without `row_id` rows have no id.
    `loaded_at` names columns that get the time of the load, cut to its unit.
    """

    row_id: str = ""
    load_id: str | None = None
    root_id: str | None = None
    parent_id: str | None = None
    list_index: str | None = None
    loaded_at: Mapping[str, Literal["s", "ms"]] = field(default_factory=dict)
    from_columns: tuple[str, ...] = ()
    of_item: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The bookkeeping columns in the order in which they are appended to a row."""
        names = (self.root_id, self.load_id, self.parent_id, self.list_index, self.row_id, *self.loaded_at)
        return tuple(name for name in names if name)


@dataclass(frozen=True)
class RefusedTable:
    """The table of a dialect that keeps refused values: its name and that of its columns."""

    name: str
    table: str
    column: str
    value: str
    reason: str


@dataclass(frozen=True)
class Restored:
    """A value that can go back into its row, which is told by its keys; `latest` orders rows of one key."""

    table: str
    column: str
    value: Any
    keys: Mapping[str, Any]
    latest: str


class Catalog(Protocol):
    """A table as it really is in the destination (`destinations.base.CatalogTable`)."""

    @property
    def columns(self) -> Mapping[str, str]: ...

    @property
    def types(self) -> Mapping[str, DataType | None]: ...

    @property
    def is_view(self) -> bool: ...


@dataclass(frozen=True)
class Journal:
    """Where a dialect keeps its record of schema versions, of loads, and of what pipelines remember.

    A row of `states` names its pipeline in `pipeline_name`, the newest is the last by `newest`.
    """

    versions: str
    loads: str
    load_id: str
    states: str = ""
    newest: tuple[str, ...] = ()


class Refusal(NamedTuple):
    """Why a value that does not fit its column goes to no other column either."""

    reason: str


class Cut(NamedTuple):
    """A value that goes into its column changed; as it came it is kept in the discards."""

    reason: str
    into: Callable[[Any], Any]


State = Mapping[str, Any]
"""What a pipeline remembers from load to load, JSON but for dates, times and decimals."""


class Route(Protocol):
    names_tables: bool
    """Whether records tell their tables themselves, so that a user names none."""

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        """What spreads a record over tables; None where every record belongs to the table the user named.

        `closed` are tables for which a quota left no room.
        """
        ...

    def program(self, schema: Schema, now: datetime) -> RowProgram | None:
        """What makes the rows where the schema was authored; None where it is learned from the records.

        `now` is the time of the load. Raises SchemaError.
        """
        ...

    def reshaper(self, schema: Schema, naming: Naming) -> Reshaper | None:
        """What makes rows in the user's own way; None where `Shape` decides. Raises SchemaError."""
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

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        """The dataset of a user who named none."""
        ...


class Type(Protocol):
    def classifier(
        self, schema: Schema, fresh: bool, wei: tuple[int, int] = WEI_SIZE
    ) -> Callable[[Any], Kind]:
        """What tells the kind of a value; `fresh`: one that may give a column its type.

        `wei` are the precision and scale that a column of wei has if it says neither.
        """
        ...

    def first(self, schema: Schema, column: str, kind: Kind) -> DataType:
        """The type that a first value of this kind gives a new column."""
        ...

    def coerces(self, schema: Schema) -> bool:
        """Whether values are converted to the type of their column; else each type has its own column."""
        ...

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        """What makes a value one of the column, or MISFIT."""
        ...

    def direct(self, schema: Schema, column: Column) -> tuple[type, ...]:
        """The classes whose values go into the column as they are, the most frequent first.

        Integers are given only if they have at most 15 digits.
        """
        ...

    def column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        """A new inferred column with the hints that the rules give it; `kind` is that of its first value."""
        ...

    def misfit(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | Cut | Refusal:
        """Where values of this kind go which do not fit `column`.

        Another column; the column itself as it has to become to take them; into it, changed; or nowhere.
        """
        ...


class Keep(Protocol):
    prefix: str
    options: tuple[str, ...]
    """Names of the settings that a user may give."""

    files: tuple[str, ...]
    """Those of them that name a file; the dialect is given what is in it."""

    follows_catalog: bool
    """Whether the destination's tables, not the stored document, say which columns there are."""

    def new_schema(self, name: str) -> Schema: ...

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        """The schema with the user's settings, as it is loaded into a warehouse of this family.

        Raises UsageError.
        """
        ...

    def adopt(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        """The stored schema as the destination's tables have it; asked only if `follows_catalog`."""
        ...

    def document(self, text: str, where: str) -> Schema | None:
        """A schema document of the original; None where its documents are ours. Raises SchemaError."""
        ...

    def taken(self, schema: Schema, given: Schema, naming_of: Callable[[Schema], Naming]) -> Schema:
        """The schema with one that came with a load over it. Raises SchemaError."""
        ...

    def prepare(self, schema: Schema, request: Request, naming: Naming) -> Schema:
        """The schema with the user's request for a root table written into it."""
        ...

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table: ...

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        """`below`: the table whose lists feed this one, if any does."""
        ...

    def whole_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        """The `row_keys` of rows with types that are taken whole; `settings` are those of `configure`."""
        ...

    def propagated(self, schema: Schema, table: str) -> Mapping[str, str]:
        """Columns whose values the rows below a row of this table get too, and under which names."""
        ...

    def bookkeeping(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        """The bookkeeping columns of a table that gets rows; `below` as in `row_keys`."""
        ...

    def saw_data(self, table: Table) -> Table: ...

    def without(self, schema: Schema, tables: Collection[str]) -> Schema:
        """The schema without these tables, and without what it says of them."""
        ...

    def admits(self, schema: Schema, table: str, column: str | None) -> bool:
        """Whether the quotas leave room for one more table, or for one more column of it."""
        ...

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        """The column, and its value, that takes values (by path) for whose columns there is no room."""
        ...

    def refused(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        """The table and row that keep a value which `misfit` refused; None: the engine's discards do."""
        ...

    def discards(self, schema: Schema) -> RefusedTable | None:
        """The table that `refused` fills, if there is one."""
        ...

    def restored(self, schema: Schema, kept: Mapping[str, Any]) -> Restored | None:
        """What a row of that table says, if the column now takes the value; None if it still does not."""
        ...

    def complete(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        """The schema with what follows from the tables that got rows in a load."""
        ...

    def loads(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        """How the rows of a load go in. `roots`: the tables the user named, `touched`: those with rows."""
        ...

    def remarks(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        """What of the hints of these tables has no effect, or another than one may expect."""
        ...

    def links(self, schema: Schema) -> Links | None: ...

    def filled(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        """What rows that are there get in a column that a load adds, by table and column; NULL in others."""
        ...

    def native(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        """Its own names of types in a warehouse of this family."""
        ...

    def ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        """The warehouse whose rules are followed, and what it would get; None if that is shown already.

        `settings` are those of `configure`. Raises SchemaError where the warehouse cannot have it.
        """
        ...

    def journal(self) -> Journal: ...

    def records(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of bookkeeping tables that go in with a load of this (saved) schema.

        `fresh`: this version of it is new; `state`: what is remembered from now on, if that changed.
        """
        ...

    def recalled(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        """What a pipeline remembers of its sources, from the newest row of the journal's `states`."""
        ...

    def remembered(self, old: State, schema_name: str, sources: State | None) -> State | None:
        """What it remembers after a load; None if that is what it did. `sources`: None leaves them."""
        ...

    def root_keys(self, seed: bytes, count: int) -> list[str]: ...

    def hashed_keys(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]: ...

    def item_keys(self, items: Iterable[Mapping[str, Any]]) -> list[str]:
        """Hashes of whole records, as they came."""
        ...

    def child_keys(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]: ...


class Dialect(Protocol):
    """One schema language."""

    @property
    def name(self) -> str: ...

    @property
    def route(self) -> Route: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def naming(self) -> Name: ...

    @property
    def type(self) -> Type: ...

    @property
    def keep(self) -> Keep: ...
