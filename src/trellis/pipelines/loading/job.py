"""What a load is to do, and what it needs to know of the pipeline that it is done for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from trellis.destinations.base import CatalogTable, LoadTarget, Reset, RunState
from trellis.dialects.registration import ReferenceResolver, RowRevision
from trellis.engine.records.files import Records
from trellis.engine.staging.loaded_files import FileClaim
from trellis.engine.storage.storage import Storage
from trellis.evolution.dialect.schemas import TableRequest
from trellis.pipelines.loading.reject_limit import DEFAULT_REJECT_LIMIT, RejectLimit
from trellis.schema.model import Schema

ProgressCallback = Callable[[str, int, int | None], object]


def ignore_progress(_: str, __: int, ___: int | None) -> None:
    return None


@dataclass(frozen=True)
class LoadInput:
    """Records, and what is asked of the root table they belong to."""

    records: Records
    request: TableRequest


def _unchanged(schema: Schema) -> Schema:
    return schema


@dataclass(frozen=True)
class LoadJob:
    """What one load is to do: its feeds, and what concerns all of them.

    `schema_name` is that of the schema they load into, `user_schema` the schema
    document that came with the load.
    `prepared` changes the stored schema before anything is asked of its tables. `state` is what a dialect
    keeps of its sources from load to load, if the load changes it, and `base_state` the one it was made from.
    `resolve` completes a schema with the documents that records refer to by these names, `revision` looks at
    all staged rows before they are committed.
    `notes` are for the report, `reject_limit` says how many records may be rejected. With `only_tables` the
    rows of these tables alone are loaded; with `quarantines` rows that a frozen contract refuses are left
    out. `claim` are the files to remember as loaded.
    """

    feeds: tuple[LoadInput, ...]
    schema_name: str
    user_schema: Schema | None = None
    prepared: Callable[[Schema], Schema] = _unchanged
    resolve: ReferenceResolver | None = None
    revision: RowRevision | None = None
    reset: Reset = field(default_factory=Reset)
    state: Mapping[str, Any] | None = None
    base_state: RunState | None = None
    notes: tuple[str, ...] = ()
    reject_limit: RejectLimit = DEFAULT_REJECT_LIMIT
    only_tables: tuple[str, ...] = ()
    quarantines: bool = False
    claim: FileClaim | None = None


class LoadContext(Protocol):
    """What an attempt needs to know of the pipeline it is made for."""

    dialect: str
    dataset: str
    settings: Mapping[str, Any]
    staging: str | None

    @property
    def destination(self) -> LoadTarget: ...

    @property
    def storage(self) -> Storage:
        """How files are opened, as the session and the environment say now."""
        ...

    @property
    def tell(self) -> ProgressCallback: ...

    def look(self, schema_name: str) -> tuple[Schema, Mapping[str, CatalogTable] | None]:
        """The schema to start from, and the tables it was read from, if it was."""
        ...

    def declared(self, schema: Schema) -> Schema:
        """Take note of a schema that is declared and has met no data yet."""
        ...
