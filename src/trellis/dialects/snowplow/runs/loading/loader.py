"""Run folders into a warehouse: tables migrate up to the manifest, and all files go in at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.client.short_names import keep_short_names
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.layouts import BAD_PATH, events_path
from trellis.dialects.snowplow.runs.loading.events_table import events_change
from trellis.dialects.snowplow.runs.loading.migration import FamilyVersions, TablePlanner
from trellis.dialects.snowplow.runs.loading.records import (
    DEFINITIONS,
    FAILED_EVENTS,
    MANIFEST,
    DefinitionRecord,
    definition_rows,
    failed_rows,
    last_definitions,
    manifest_row,
    schema_digest,
)
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.loading.verification import Verification
from trellis.dialects.snowplow.runs.manifest import (
    RunManifest,
    RunTable,
    find_runs,
    is_complete,
)
from trellis.dialects.snowplow.runs.row_files import NULL
from trellis.dialects.snowplow.runs.warehouses.base import (
    CopyColumn,
    CopyJob,
    CopyResult,
    RunCommit,
    RunWarehouse,
)
from trellis.dialects.snowplow.runs.warehouses.tables import TableChange
from trellis.dialects.snowplow.stored_families import LOAD_TIME
from trellis.errors import SchemaError

RunState = Literal["loaded", "already loaded", "incomplete", "unloaded", "empty"]
_BATCH: Final = 10_000


@dataclass(frozen=True)
class RunReport:
    """What became of one run: rows by table, the statements that changed tables, cells that did not fit."""

    run: str
    state: RunState
    rows: Mapping[str, int] = field(default_factory=dict)
    statements: Sequence[str] = ()
    discards: int = 0
    good: int = 0
    """Events whose rows were loaded."""
    failed: int = 0
    """Events that reached no table."""
    missing: Sequence[str] = ()
    """The schemas that the registry did not have for some of these."""
    dropped: int = 0
    """Copies of events that the shredder dropped, and events of skipped schemas alone."""
    recovered: Sequence[str] = ()
    """The tables of versions that do not fit the others."""
    shortened: Mapping[str, str] = field(default_factory=dict)
    """The new names that the warehouse has no room for, with what they became."""
    not_kept: str = ""
    """Why the registry does not keep these names in an overlay."""
    attempts: int = 1

    @property
    def balance(self) -> str:
        """Where the events of the run went."""
        total = self.good + self.failed + self.dropped
        return (
            f"events in {total:,} = loaded {self.good:,} + failed {self.failed:,} + dropped {self.dropped:,}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "state": self.state,
            "tables": [{"name": name, "rows": rows} for name, rows in self.rows.items()],
            "recovered": [*self.recovered],
            "shortened": dict(self.shortened),
            "not_kept": self.not_kept,
            "statements": [*self.statements],
            "discards": self.discards,
            "loaded_events": self.good,
            "failed_events": self.failed,
            "missing_schemas": [*self.missing],
            "dropped_events": self.dropped,
            "attempts": self.attempts,
        }


@dataclass(frozen=True)
class RunLoader:
    """Loads run folders into one dataset."""

    warehouse: RunWarehouse
    registry: Registry
    dataset: str
    verification: Verification = "count"
    retries: Retries = field(default_factory=Retries)
    clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc)

    def load(self, place: str) -> Iterator[RunReport]:
        """Load a run folder, or those in a folder that are not loaded yet, in the order of their names.

        A run is loaded when its report is asked for. Raises UsageError, SchemaError, DestinationError; the
        run at which it stops is as it was.
        """
        return map(self._load_with_retries, find_runs(place))

    def status(self, place: str, since: str = "", until: str = "") -> list[RunReport]:
        """The state of each run whose name is later than one time and earlier than another one."""
        runs = [run for run in find_runs(place) if is_between(run.name, since, until)]
        return [RunReport(run.name, self.state(run)) for run in runs]

    def state(self, run: Path) -> RunState:
        if not is_complete(run):
            return "incomplete"
        return "loaded" if self._is_loaded(RunManifest.read(run)) else "unloaded"

    def load_run(
        self, run: Path, finish: Callable[[RunCommit], None] | None = None, *, keeps_failed: bool = True
    ) -> RunReport:
        """Load one run folder. `finish` does what belongs to the same commit.

        With `keeps_failed` its failed events become rows. Without, as they are rows already, a run in which
        all have failed leaves no row of MANIFEST.
        """
        if not is_complete(run):
            return RunReport(run.name, "incomplete")
        manifest = RunManifest.of_loadable(run)
        if not manifest.types and not manifest.good and not manifest.bad and manifest.earliest is None:
            return RunReport(run.name, "empty")
        with self.warehouse.commit(self.dataset, manifest.base) as commit:
            if self._is_loaded(manifest):
                return RunReport(run.name, "already loaded")
            load = _RunLoad(self, run, manifest, commit, self.clock())
            report = load.load_tables()
            if keeps_failed:
                report = replace(report, missing=load.keep_failed_events())
            if finish is not None:
                finish(commit)
            if keeps_failed or manifest.good:
                commit.append_rows(MANIFEST, [manifest_row(manifest, load.now)])
        return report

    def _load_with_retries(self, run: Path) -> RunReport:
        def load(attempt: int) -> RunReport:
            if attempt > 1:
                self.warehouse.reconnect()
            return replace(self.load_run(run), attempts=attempt)

        return self.retries.run(load)

    def _is_loaded(self, manifest: RunManifest) -> bool:
        return bool(self.warehouse.select(self.dataset, MANIFEST, ["base"], {"base": manifest.base}))


@dataclass
class _RunLoad:
    """One run on its way into the tables."""

    loader: RunLoader
    run: Path
    manifest: RunManifest
    commit: RunCommit
    now: datetime

    def load_tables(self) -> RunReport:
        """Plan the changes of all tables, make them, and copy all files."""
        warehouse, dataset = self.loader.warehouse, self.loader.dataset
        families = FamilyVersions(self.loader.registry, warehouse.profile, self.manifest.compat)
        records = last_definitions(warehouse, dataset)
        planner = TablePlanner(families, dataset, self.manifest, self.loader.verification, records)
        real_tables = warehouse.tables(dataset)
        changes = planner.changes(real_tables)
        if self.manifest.event_rows:
            changes[EVENTS] = events_change(
                warehouse.profile, dataset, real_tables.get(EVENTS), self.loader.registry
            )
        refusals = {
            keep_short_names(families.registry, change.key.family, warehouse.profile.name, change.shortened)
            for change in changes.values()
        }
        for change in changes.values():
            self.commit.change_table(change)
        rows: dict[str, int] = {}
        discards = 0
        for run_table in self.manifest.tables:
            change = changes[run_table.table]
            result = self._copy_entities(run_table, change)
            rows[change.table] = rows.get(change.table, 0) + result.rows
            discards += result.discards
        if self.manifest.event_rows:
            result = self._copy_events(changes[EVENTS])
            rows[EVENTS] = result.rows
            discards += result.discards
        self._record_definitions(families, records, changes)
        shortened = [change.newly_shortened for change in changes.values()]
        return RunReport(
            self.run.name,
            "loaded",
            rows,
            [statement for change in changes.values() for statement in change.statements],
            discards,
            self.manifest.good,
            self.manifest.bad,
            (),
            self.manifest.dropped,
            [changes[table.table].table for table in self.manifest.tables if table.is_recovered],
            {full: name for names in shortened for full, name in names.items()},
            "; ".join(sorted(filter(None, refusals))),
        )

    def keep_failed_events(self) -> list[str]:
        """The schemas that were missing for some of them."""
        rows, count, missing = failed_rows(self.run, self.manifest, self.now), 0, set[str]()
        while batch := list(islice(rows, _BATCH)):
            self.commit.append_rows(FAILED_EVENTS, batch)
            count += len(batch)
            missing.update(row["schema"] for row in batch if row["reason"] == "loader_iglu_error")
        _check_rows(self.run / BAD_PATH, count, self.manifest.bad)
        return sorted(filter(None, missing))

    def _copy_entities(self, run_table: RunTable, change: TableChange) -> CopyResult:
        columns = {column.name: column for column in change.columns}
        return self._copy(
            run_table.path,
            change.table,
            {name: columns[change.renamed.get(name, name)] for name in run_table.columns},
            expected_rows=run_table.rows,
            event_column="root_id",
        )

    def _copy_events(self, change: TableChange) -> CopyResult:
        return self._copy(
            events_path(self.manifest.layout, self.manifest.format),
            EVENTS,
            {column.name: column for column in change.columns if column.name != LOAD_TIME},
            null="",
            expected_rows=self.manifest.event_rows,
            event_column="event_id",
            time_column=LOAD_TIME,
        )

    def _copy(
        self,
        path: str,
        table: str,
        columns: Mapping[str, Column],
        *,
        expected_rows: int,
        event_column: str,
        time_column: str = "",
        null: str = NULL,
    ) -> CopyResult:
        profile = self.loader.warehouse.profile
        job = CopyJob(
            self.manifest.base,
            self.run,
            path,
            table,
            [
                CopyColumn(
                    column.name, profile.type_text(profile.adapt(column.type)), source, column.pointer or ""
                )
                for source, column in columns.items()
            ],
            null if self.manifest.format == "csv" else NULL,
            event_column,
            self.now,
            time_column,
            self.manifest.compat,
        )
        result = self.commit.copy_files(job) if job.files else CopyResult(0, 0)
        _check_rows(job.folder, result.rows, expected_rows)
        return result

    def _record_definitions(
        self,
        families: FamilyVersions,
        records: Mapping[str, DefinitionRecord],
        changes: Mapping[str, TableChange],
    ) -> None:
        for table in self.manifest.tables:
            name = changes[table.table].table
            documents = families.documents([SchemaKey.parse(uri) for uri in table.keys])
            digests = {str(document.key): schema_digest(document, families.profile) for document in documents}
            record = records.get(name, DefinitionRecord())
            if rows := definition_rows(self.manifest, name, record, digests, self.now):
                self.commit.append_rows(DEFINITIONS, rows)


def _check_rows(folder: Path, rows: int, expected: int) -> None:
    """Raises SchemaError for files that were cut or deleted."""
    if rows != expected:
        raise SchemaError(
            f"{folder}: {rows} rows, and the manifest says {expected}; the files were changed after they "
            "were shredded, shred the run again"
        )


def is_between(run: str, since: str, until: str) -> bool:
    """
    >>> [is_between("run=2031-04-05-06-00-00", *limits) for limits in (("2031-04", ""), ("", "2031-04-05"))]
    [True, False]
    """
    time = run.removeprefix("run=")
    return (not since or time > since) and (not until or time < until)
