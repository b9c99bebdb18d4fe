"""What the pages of a dataset show, as values, and how it is read from the destination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from trellis.destinations.base import CatalogTable
from trellis.dialects import get_dialect
from trellis.evolution.dialect import Dialect
from trellis.pipelines.datasets.schema_history import SchemaHistory, Version
from trellis.pipelines.discards import DiscardCount, RejectCount, list_discards, list_rejects
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.system import is_system
from trellis.site.statistics import NO_STATISTICS, TableStatistics, read_statistics

NEWEST_LOADS = 50
KEYS = ("primary_key", "merge_key", "unique")


@dataclass(frozen=True)
class ColumnPage:
    """`nulls` is None where nobody counted them; `stored_type` is the type in the destination."""

    name: str
    data_type: str
    stored_type: str
    required: bool
    nulls: int | None
    marks: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class TablePage:
    """`loaded_at` is the time of the last load that brought rows, None where they do not say it."""

    name: str
    schema_name: str
    parent: str | None
    children: tuple[str, ...]
    rows: int
    columns: tuple[ColumnPage, ...]
    counted: bool
    loaded_at: datetime | None = None
    write_disposition: str = ""
    description: str = ""


@dataclass(frozen=True)
class ChangeEntry:
    """`place` is the file and line that brought it, or the pipeline; empty where nobody knows."""

    text: str
    breaking: bool
    place: str = ""


@dataclass(frozen=True)
class VersionEntry:
    """One stored version of a schema."""

    schema_name: str
    number: int
    version_hash: str
    at: datetime | None
    changes: tuple[ChangeEntry, ...]


@dataclass(frozen=True)
class LoadEntry:
    load_id: str
    at: datetime | None


@dataclass(frozen=True)
class DatasetPages:
    """A dataset as its pages show it."""

    destination: str
    dataset: str
    dialect: str
    generated_at: datetime
    tables: tuple[TablePage, ...]
    versions: tuple[VersionEntry, ...]
    loads: tuple[LoadEntry, ...]
    load_count: int
    discards: tuple[DiscardCount, ...]
    rejects: tuple[RejectCount, ...]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def loaded_at(self) -> datetime | None:
        return self.loads[0].at if self.loads else None

    @property
    def left_out(self) -> int:
        return sum(entry.count for entry in self.discards) + sum(entry.count for entry in self.rejects)


def read_pages(pipeline: Pipeline, scan_rows: int) -> DatasetPages:
    """Read all that the pages show. Tables of more than `scan_rows` rows are not read for their nulls.

    Raises DestinationError, SchemaError.
    """
    destination, dataset = pipeline.destination, pipeline.dataset
    dialect = get_dialect(pipeline.dialect)
    metadata = dialect.metadata.tables()
    stored = destination.history(dataset, metadata)
    history = SchemaHistory(pipeline, stored)
    names = dict.fromkeys(str(row["schema_name"]) for row in stored)
    versions = {name: history.versions(name) for name in names}
    catalog = destination.catalog(dataset)
    load_rows = destination.query(dataset, metadata.loads) if metadata.loads in catalog else []
    loads = sorted(
        (LoadEntry(str(row[metadata.load_id]), _time(row.get("inserted_at"))) for row in load_rows),
        key=lambda load: (load.at is not None, load.at, load.load_id),
        reverse=True,
    )
    reader = _TableReader(pipeline, dialect, catalog, destination.row_counts(dataset), loads, scan_rows)
    return DatasetPages(
        destination=destination.url,
        dataset=dataset,
        dialect=pipeline.dialect,
        generated_at=datetime.now(timezone.utc),
        tables=tuple(page for entries in versions.values() for page in reader.pages(entries[-1].schema)),
        versions=tuple(sorted(_entries(versions), key=_newest_first)),
        loads=tuple(loads[:NEWEST_LOADS]),
        load_count=len(loads),
        discards=tuple(list_discards(pipeline)),
        rejects=tuple(list_rejects(pipeline)),
    )


@dataclass(frozen=True)
class _TableReader:
    pipeline: Pipeline
    dialect: Dialect
    catalog: Mapping[str, CatalogTable]
    row_counts: Mapping[str, int]
    loads: Sequence[LoadEntry]
    scan_rows: int

    def pages(self, schema: Schema) -> list[TablePage]:
        """The tables of a schema that are there, each root before the tables below it."""
        prefix = self.dialect.capabilities.system_prefix
        roots = [table.name for table in schema.tables.values() if not table.nested]
        names = [table.name for root in roots for table in schema.chain(root)]
        return [
            self._page(schema, schema.tables[name])
            for name in names
            if name in self.catalog and not is_system(name, prefix)
        ]

    def _page(self, schema: Schema, table: Table) -> TablePage:
        real, rows = self.catalog[table.name], self.row_counts.get(table.name, 0)
        counted = rows <= self.scan_rows and not real.is_view
        load_id = self.dialect.system_columns.row_keys(schema, table.name).load_id
        statistics = NO_STATISTICS
        if counted:
            batches = self.pipeline.destination.batches(self.pipeline.dataset, table.name)
            statistics = read_statistics(batches, load_id)
        columns = [*table.complete_columns]
        columns += [Column(name) for name in real.columns if name not in table.columns]
        return TablePage(
            name=table.name,
            schema_name=schema.name,
            parent=table.parent,
            children=tuple(child.name for child in schema.children(table.name)),
            rows=rows,
            columns=tuple(_column(column, real, statistics if counted else None) for column in columns),
            counted=counted,
            loaded_at=self._loaded_at(statistics),
            write_disposition=str(schema.inherited(table.name, "write_disposition") or ""),
            description=table.description or "",
        )

    def _loaded_at(self, statistics: TableStatistics) -> datetime | None:
        times = [load.at for load in self.loads if load.at and load.load_id in statistics.load_ids]
        return max(times, default=None)


def _column(column: Column, real: CatalogTable, statistics: TableStatistics | None) -> ColumnPage:
    marks = [mark.replace("_", " ") for mark in KEYS if column.hint(mark)]
    if column.hint(PII):
        marks.append("personal data")
    if column.is_variant:
        marks.append("variant")
    if not column.complete:
        marks.append("not in the schema")
    return ColumnPage(
        name=column.name,
        data_type=str(column.data_type or ""),
        stored_type=real.columns.get(column.name, ""),
        required=column.required if real.required is None else column.name in real.required,
        nulls=statistics.nulls(column.name) if statistics else None,
        marks=tuple(marks),
        description=column.description or "",
    )


def _entries(versions: Mapping[str, Sequence[Version]]) -> Iterator[VersionEntry]:
    for name, stored in versions.items():
        for version in stored:
            causes = ((change, version.cause_of(change)) for change in version.changes)
            changes = (
                ChangeEntry(change.describe(), change.breaking, cause.place if cause else "")
                for change, cause in causes
            )
            number, version_hash = version.schema.stored_version or 0, version.schema.stored_hash or ""
            yield VersionEntry(name, number, version_hash, _time(version.at), tuple(changes))


def _newest_first(entry: VersionEntry) -> Any:
    return -entry.at.timestamp() if entry.at else 0.0, entry.schema_name, -entry.number


def _time(value: Any) -> datetime | None:
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
