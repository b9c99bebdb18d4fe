"""The tables of a lake as a load sees them: each commits by itself, under the label of the load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from trellis.destinations.base import CatalogTable
from trellis.schema.model import Table
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

    from trellis.destinations.lake.spark_sql import SparkStatements
    from trellis.destinations.lake.staged import DataFile


@dataclass(frozen=True)
class TableName:
    dataset: str
    table: str


@dataclass(frozen=True)
class CommitLabel:
    """What a commit to a table is known by afterwards; no table gets two commits of one label.

    `notes` go into the history of the table.
    """

    text: str
    notes: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of_load(load_id: str) -> CommitLabel:
        return CommitLabel(f"trellis-load-{load_id}")


class TableSize(NamedTuple):
    """`bytes` are those of Parquet."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class TableAlteration:
    """What becomes of a table that is there: of its properties, names, rows and comments, in this order.

    `renamed` and `dropped` are columns by their names before, all others have their names after: `types` of
    columns, `values` that all rows get, `fills` for rows that have NULL, and whether a value is `required`.
    Of `comments` the empty name is the table, the empty text none.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    dropped: Collection[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, pa.Scalar] = field(default_factory=dict)
    fills: Mapping[str, pa.Scalar] = field(default_factory=dict)
    required: Mapping[str, bool] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.properties, self.changes_names, self.changes_rows, self.required, self.comments))

    @property
    def changes_names(self) -> bool:
        return bool(self.renamed or self.dropped)

    @property
    def changes_rows(self) -> bool:
        return bool(self.types or self.values or self.fills)


class LabelConflict(Exception):
    """Another process committed to the table meanwhile under this label."""


class LakeReader(Protocol):
    """Tables of one format in one place. Methods raise DestinationError."""

    warehouse: Warehouse

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]: ...

    def find_table(self, name: TableName) -> CatalogTable | None:
        """One table of the catalog."""
        ...

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        """Rows of a table, of these columns."""
        ...

    def find_rows(self, name: TableName, column: str, text: str) -> pa.RecordBatchReader | None:
        """The rows with a text in a column; None where there is no such table, or no such column of texts.

        Files are left out of which the format knows that they have no such row: the tables in which loads are
        recorded get a file from each of them.
        """
        ...

    def count_rows(self, name: TableName) -> int: ...

    def size(self, name: TableName) -> TableSize | None:
        """That of the files of a table; None where it takes long to find out."""
        ...

    def version(self, name: TableName) -> str:
        """The version or the snapshot that a table has now."""
        ...


class ReachedBySpark(Protocol):
    """How Spark reaches the tables."""

    def sql_name(self, name: TableName) -> str:
        """A table in a statement, with its quotes."""
        ...

    def session_settings(self) -> Mapping[str, str]:
        """What a session needs to know these tables."""
        ...

    def statements(self) -> SparkStatements:
        """Statements over these tables, on the session of this process or on a new one."""
        ...

    def settings(self, label: CommitLabel, *, merges_staged: bool = False) -> Mapping[str, str]:
        """The settings under which a statement commits with a label; `merges_staged`: it is a MERGE whose
        source is nothing but staged rows.
        """
        ...

    def merge_counts_query(self, name: TableName, label: CommitLabel) -> str:
        """A query of what the MERGE of a label did, `MERGE_METRICS`; empty where the MERGE says it."""
        ...

    def version_before(self, name: TableName, label: CommitLabel, earlier: str) -> str:
        """The version that a table had before a MERGE of Spark with a label; empty: it had none.

        `earlier` is a version before that, or empty; it is returned where the MERGE has committed nothing.
        """
        ...


class TableStore(LakeReader, ReachedBySpark, Protocol):
    """Changes tables: what is committed under a label is one commit."""

    def check_names(self, name: TableName, table: Table, columns: Iterable[str]) -> None:
        """Raises SchemaError for a table, or new columns of it, that cannot be called so."""
        ...

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        """Create a table of the complete columns of `table`. Raises CommitConflict where there is one."""
        ...

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        """Add columns; one of structs that is there gets the fields that it lacks."""
        ...

    def check_alteration(self, name: TableName, alteration: TableAlteration) -> None:
        """Raises SchemaError for a change that the table cannot have, whatever its rows are."""
        ...

    def alter_table(self, name: TableName, alteration: TableAlteration) -> None:
        """Raises SchemaError for a value that does not fit its new type."""
        ...

    def check_rename(self, name: TableName) -> None:
        """Raises SchemaError where tables cannot get another name."""
        ...

    def rename_table(self, name: TableName, new: str) -> None: ...

    def drop_table(self, name: TableName) -> None: ...

    def has_label(self, name: TableName, label: CommitLabel) -> bool: ...

    def write_files(
        self,
        name: TableName,
        files: Sequence[DataFile],
        label: CommitLabel,
        *,
        overwrite: bool = False,
        unique: Sequence[str] = (),
    ) -> None:
        """Add the rows of staged files; `overwrite`: in place of all rows that are there.

        Raises LabelConflict; so it does where the table has the values of the columns in `unique` already.
        """
        ...
