"""What the loader of runs asks of a warehouse: its tables, and commits that take a whole run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, TableChange
from trellis.errors import DestinationError
from trellis.schema.model import Table


class WarehouseUnavailable(DestinationError):
    """The warehouse cannot be reached, is locked, or ended the connection: a later attempt may succeed."""


@dataclass(frozen=True)
class CopyColumn:
    """A column that a file fills; texts of the file are converted into its type."""

    name: str
    type: str
    source: str
    """The column of the file."""
    pointer: str = ""
    """Where the data has its values."""

    @property
    def is_text(self) -> bool:
        return self.type.startswith(("VARCHAR", "CHAR", "STRING"))

    @property
    def length(self) -> int | None:
        """The most characters of a text; None where it may have any number."""
        size = self.type.partition("(")[2].rstrip(")")
        return int(size) if self.is_text and size else None


@dataclass(frozen=True)
class CopyJob:
    """Files of a run into a table."""

    run: str
    """What discards call the run."""
    root: Path
    path: str
    """The folder of the files below that of the run."""
    table: str
    columns: Sequence[CopyColumn]
    null: str
    """The text of the files that stands for NULL."""
    event_column: str
    """The column that has the id of the event."""
    now: datetime
    time_column: str = ""
    """A column of the table that gets the time of the load."""
    has_returns: bool = False
    """Texts of CSV may hold carriage returns, which end no line."""

    @property
    def sources(self) -> list[str]:
        """The columns of the files."""
        return [column.source for column in self.columns]

    @property
    def folder(self) -> Path:
        return self.root / self.path

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*"))


@dataclass(frozen=True)
class CopyResult:
    """How many rows went in, and how many of their values did not fit."""

    rows: int
    discards: int


class RunCommit(Protocol):
    """Changes of a dataset that count all together, or not at all. Methods raise DestinationError."""

    def change_table(self, change: TableChange) -> None: ...

    def copy_files(self, job: CopyJob) -> CopyResult:
        """Raises SchemaError for files that cannot be read."""
        ...

    def append_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows to a table of the loader, which is created if absent."""
        ...

    def update_rows(
        self, table: Table, keys: Sequence[str], rows: Sequence[Mapping[str, Any]], unset: str
    ) -> int:
        """Set values in the rows of a table of the loader that have these keys, and NULL in the column
        `unset`; how many these are. A value that is NULL changes nothing."""
        ...


class RunWarehouse(Protocol):
    """One connection to a warehouse. Methods raise DestinationError."""

    profile: Profile
    shown: str
    """What error sentences call it."""

    def tables(self, dataset: str) -> Mapping[str, RealTable]:
        """The tables of a dataset; none where it does not exist."""
        ...

    def select(
        self, dataset: str, table: Table, columns: Sequence[str], equal: Mapping[str, str | None]
    ) -> list[tuple[Any, ...]]:
        """Rows of a table of the loader in the order of `columns`, those with these values; none where it is
        absent."""
        ...

    def commit(self, dataset: str, label: str) -> AbstractContextManager[RunCommit]:
        """All rows of one label go in once, whatever ends an attempt."""
        ...

    def replay_folder(self, dataset: str) -> AbstractContextManager[Path]:
        """A folder for the files of one replay. What is in it already is of a replay that was killed, whose
        rows may be in some of the tables."""
        ...

    def set_comment(self, dataset: str, table: str, comment: str) -> None: ...

    def reconnect(self) -> None: ...

    def close(self) -> None: ...
