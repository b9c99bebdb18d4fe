"""What every destination offers, and what the pipeline hands it.

What a destination can do is in its record of abilities; the engine never asks for its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Protocol

from trellis.destinations.row_changes import RowChanges
from trellis.engine.arrow.types import Digits
from trellis.engine.parallel import Parallel, one_by_one
from trellis.engine.staging.column_defaults import NO_FILL_VALUES, FillValues
from trellis.engine.staging.stage import StagedFile
from trellis.errors import ConflictError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import History, IdentityRules, KeyedWrite, TableTreeWrite
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.warehouses.alterations import Alteration
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "NO_COLUMNS",
    "NO_FILL_VALUES",
    "NO_NATIVE",
    "Abilities",
    "CatalogTable",
    "Commit",
    "CommitConflict",
    "Destination",
    "FileLogState",
    "FillValues",
    "History",
    "IdentityRules",
    "KeyedWrite",
    "Parallel",
    "Reset",
    "RowChanges",
    "RunState",
    "StateConflict",
    "TableTreeWrite",
    "one_by_one",
]


NO_NATIVE: Mapping[DataType, str] = {}
NO_COLUMNS: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class Abilities:
    """What the core needs to know of a destination: the warehouse that it is, and how it loads."""

    warehouse: Warehouse
    default_dataset: str
    casts: bool = True
    """Whether rows go into a column that is there with another type, as far as their values fit."""
    nested_types: bool = False
    """Whether it stores lists, maps and structs as such; else they are JSON."""
    no_merge: str | None = None
    """Why a load cannot compare its rows with those that are there, and where it can; None where it does."""
    alters: bool = False
    """Whether a commit renames, drops and changes what may be NULL, all or nothing with the rest."""
    grows_structs: bool = False
    """Whether a column of nested values whose type is declared can get further fields."""
    naming: str | None = None
    """The naming convention it wants, as `schema.naming.get_naming` takes it; None: any will do."""
    staging: str | None = None
    """Where rows are staged unless the user names a place; None: in the folder of the load."""
    reads_remote_files: bool = False
    """Whether it reads staged files on any file system; else they are copied to this machine first."""

    @property
    def max_identifier(self) -> int:
        return self.warehouse.identifiers.max_length

    @property
    def case_sensitive(self) -> bool:
        return self.warehouse.identifiers.case_sensitive

    @property
    def family(self) -> str:
        """The warehouse whose type names it understands."""
        return self.warehouse.name

    @property
    def digits(self) -> Digits:
        """How many digits of a second and of a decimal it keeps."""
        number = self.warehouse.numbers[-1]
        return Digits(*self.warehouse.second_digits, number.precision, self.warehouse.wei)


@dataclass(frozen=True)
class Reset:
    """What a load deletes before it inserts rows: whole tables, all rows of tables, old versions.

    Missing tables are passed over. `versions`: the stored versions of the load's schema go, all
    but the one that the load records.
    """

    drop: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    versions: bool = False


@dataclass(frozen=True)
class RunState:
    """The state that a run was made from: of which pipeline, and its hash; None where there was none."""

    pipeline: str
    version_hash: str | None


@dataclass(frozen=True)
class FileLogState:
    """How many loads had brought new files into a table when a load chose its own."""

    table: str
    sequence: int


@dataclass(frozen=True)
class Commit:
    """One load: all tables in one commit with its records.

    `files` are staged Parquet files by table; `records` are rows for bookkeeping tables; `keys` tells
    which bookkeeping columns link the tables of a chain. `base_hash` is the version the load was
    planned on: a destination that holds another by now raises `CommitConflict`, and so does one
    whose tables are not as `catalog` says any more (None: not compared). `retyped` names columns, by table,
    that are there with another type than the schema now gives them, `filled` what rows that are there get in
    columns that the load adds, NULL in those it does not name. `alterations` are made before anything else
    changes; only destinations that can (`Abilities.alters`) get any. `native` are the dialect's own names
    of types in this destination, where they differ from the destination's. `dropped` counts the records that
    have no row and were not rejected.
    """

    load_id: str
    dataset: str
    schema: Schema
    base_hash: str | None
    chains: tuple[TableTreeWrite, ...]
    files: Mapping[str, Sequence[StagedFile]]
    records: Mapping[str, Sequence[Mapping[str, Any]]]
    keys: Mapping[str, RowKeys]
    metadata: MetadataTables
    extra_tables: tuple[Table, ...] = ()
    keyed: tuple[KeyedWrite, ...] = ()
    links: IdentityRules | None = None
    catalog: Mapping[str, CatalogTable] | None = None
    retyped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alterations: tuple[Alteration, ...] = ()
    filled: FillValues = field(default_factory=dict)
    native: Mapping[DataType, str] = field(default_factory=dict)
    reset: Reset = field(default_factory=Reset)
    base_state: RunState | None = None
    base_files: FileLogState | None = None
    now: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    dropped: int = 0

    @property
    def only_appends(self) -> bool:
        """Whether no row of the load is compared with others."""
        return all(chain.mode != "merge" for chain in self.chains) and not any(
            load.keys for load in self.keyed
        )


@dataclass(frozen=True)
class CatalogTable:
    """A table as it really is: column names and their types in the destination's own words.

    `types` gives the same columns in the words of a schema, None where no data type corresponds.
    `required` are those that take no NULL; None where the destination does not tell. `comments` are those of
    columns, and under the empty name that of the table; None where a load may not change them.
    """

    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, DataType | None] = field(default_factory=dict)
    is_view: bool = False
    required: Collection[str] | None = None
    comments: Mapping[str, str] | None = None


class StateConflict(ConflictError):
    """Another load moved the state, or loaded files, that this load began from."""


class CommitConflict(Exception):
    """Another load changed the schema since this one was planned."""


class TableReader(Protocol):
    """Reads the tables of a dataset: for states of pipelines, reports, people and tests."""

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        """The last row by the columns of `order` of those with this text in a column.

        None where there is no such row, or no such table.
        """
        ...

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        """Rows of a table, for people and tests."""
        ...

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        """All rows of a table, in the types that it stores. Batches may differ in their columns."""
        ...

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        """One tuple per values of some columns: these, how many rows have them, the least text in another."""
        ...

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        """Those of the values (as text) that one row of the table has as its key, with NULL in a column."""
        ...

    def row_counts(self, dataset: str) -> Mapping[str, int]: ...

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]: ...


class LoadTarget(Protocol):
    """Takes loads."""

    abilities: Abilities
    url: str

    def staging(self, load_id: str) -> str:
        """A folder for the staged files of this load, on the same file system if that matters."""
        ...

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool: ...

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        """The statements that bring the real catalog to the schema; the others as in `Commit`."""
        ...

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges] | None:
        """Migrate, load and record, all or nothing. Raises CommitConflict, DestinationError.

        Returns what became of the rows of each table, None where the destination does not count that.

        What can be done before the one transaction, such as copying rows near the tables, may go through
        `parallel`.
        """
        ...

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges] | None:
        """Raise and return what `commit` would on the tables as they are now, and leave nothing behind."""
        ...


class Destination(LoadTarget, TableReader, Protocol):
    """Takes loads, and is read."""

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        """The newest stored schema document of that name as JSON."""
        ...

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]: ...

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        """The type that a complete column gets, in the words of `catalog`; `native` as in `Commit`.

        Raises SchemaError where no type is wide enough.
        """
        ...
