"""What every destination offers, and what the pipeline hands it.

A destination says what it can do in a record of abilities; nobody asks for its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trellis.evolution.dialect import Journal, Mode, RowKeys, Strategy
from trellis.flow.stage import StagedFile
from trellis.schema.model import Schema, Table


@dataclass(frozen=True)
class Abilities:
    """What the core needs to know of a warehouse."""

    max_identifier: int
    case_sensitive: bool
    default_dataset: str
    strategies: tuple[Strategy, ...] = ("delete-insert", "upsert")


@dataclass(frozen=True)
class ChainLoad:
    """How the rows of a root table and its descendants go in."""

    root: str
    mode: Mode
    strategy: Strategy = "delete-insert"


@dataclass(frozen=True)
class Commit:
    """One load: all tables in one commit with its records.

    `files` are staged Parquet files by table; `records` are rows for bookkeeping tables; `keys` tells
    which bookkeeping columns link the tables of a chain. `base_hash` is the version the load was
    planned on: a destination that holds another by now raises `Moved`.
    """

    load_id: str
    dataset: str
    schema: Schema
    base_hash: str | None
    chains: tuple[ChainLoad, ...]
    files: Mapping[str, Sequence[StagedFile]]
    records: Mapping[str, Sequence[Mapping[str, Any]]]
    keys: Mapping[str, RowKeys]
    journal: Journal
    extra_tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class CatalogTable:
    """A table as it really is: column names and their types in the destination's own words."""

    name: str
    columns: Mapping[str, str] = field(default_factory=dict)


class Moved(Exception):
    """Another load changed the schema since this one was planned."""


class Destination(Protocol):
    abilities: Abilities
    url: str

    def staging(self, load_id: str) -> str:
        """A folder for the staged files of this load, on the same file system if that matters."""
        ...

    def stored_schema(self, dataset: str, name: str, journal: Journal) -> str | None:
        """The newest stored schema document of that name as JSON."""
        ...

    def has_load(self, dataset: str, load_id: str, journal: Journal) -> bool: ...

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]: ...

    def migration(self, dataset: str, schema: Schema) -> list[str]:
        """The statements that bring the real catalog to the schema."""
        ...

    def commit(self, commit: Commit) -> None:
        """Migrate, load and record, all or nothing. Raises Moved, DestinationError."""
        ...

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        """Rows of a table, for people and tests."""
        ...

    def row_counts(self, dataset: str) -> Mapping[str, int]: ...

    def history(self, dataset: str, journal: Journal) -> list[dict[str, Any]]: ...
