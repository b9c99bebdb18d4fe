"""Run folders into a warehouse: tables migrate up to the manifest, and all files go in at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, Literal

from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.columns.column_types import TIMESTAMP, ColumnType
from trellis.dialects.snowplow.columns.declarations import METADATA, column_lines
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.manifest import ALGORITHM, RunManifest, find_runs, is_complete
from trellis.dialects.snowplow.runs.migration import TablePlanner, TableState
from trellis.dialects.snowplow.runs.row_files import NULL
from trellis.dialects.snowplow.runs.run_folder import ATOMIC_PATH
from trellis.dialects.snowplow.runs.warehouse import CopyColumn, RunWarehouse, transaction
from trellis.dialects.snowplow.stored_families import LOAD_TIME
from trellis.errors import SchemaError, UsageError

MANIFEST: Final = "manifest"
DISCARDS: Final = "_trellis_discards"
RunState = Literal["loaded", "already loaded", "incomplete", "unloaded", "empty"]
_MANIFEST_COLUMNS: Final = {
    "base": "VARCHAR(512) PRIMARY KEY",
    "types": "VARCHAR(65535)",
    "shredding_started": "TIMESTAMP",
    "shredding_completed": "TIMESTAMP",
    "min_collector_tstamp": "TIMESTAMP",
    "max_collector_tstamp": "TIMESTAMP",
    "ingestion_tstamp": "TIMESTAMP",
    "compression": "VARCHAR(16)",
    "processor_artifact": "VARCHAR(64)",
    "processor_version": "VARCHAR(32)",
    "count_good": "BIGINT",
}


@dataclass(frozen=True)
class RunReport:
    """What became of one run: rows by table, the statements that changed tables, cells that did not fit."""

    run: str
    state: RunState
    rows: Mapping[str, int] = field(default_factory=dict)
    statements: Sequence[str] = ()
    discards: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "state": self.state,
            "tables": [{"name": name, "rows": rows} for name, rows in self.rows.items()],
            "statements": [*self.statements],
            "discards": self.discards,
        }


@dataclass(frozen=True)
class RunLoader:
    """Loads run folders into one dataset."""

    warehouse: RunWarehouse
    registry: Registry
    dataset: str

    def load(self, place: str) -> list[RunReport]:
        """Load a run folder, or those in a folder that are not loaded yet, in the order of their names.

        Raises UsageError, SchemaError, DestinationError; the run at which it stops is as it was.
        """
        runs = find_runs(Path(place))
        if not runs:
            raise UsageError(f"{place}: no runs here; expected folders such as run=2031-04-05-06-00-00")
        return [self._load_run(run) for run in runs]

    def status(self, place: str) -> list[RunReport]:
        """The state of each run."""
        return [RunReport(run.name, self._state(run)) for run in find_runs(Path(place))]

    def _state(self, run: Path) -> RunState:
        if not is_complete(run):
            return "incomplete"
        has_manifest = bool(self.warehouse.columns(self.dataset, MANIFEST))
        return "already loaded" if has_manifest and self._is_loaded(RunManifest.read(run)) else "unloaded"

    def _load_run(self, run: Path) -> RunReport:
        if not is_complete(run):
            return RunReport(run.name, "incomplete")
        manifest = RunManifest.read(run)
        if manifest.algorithm != ALGORITHM:
            raise SchemaError(
                f"{run}: it was shredded by version {manifest.algorithm} of the algorithm, this loader has "
                f"version {ALGORITHM}; shred it again, or load it with the program that shredded it"
            )
        if manifest.layout != "model":
            raise SchemaError(
                f"{run}: its files are in layout {manifest.layout}, and layout model is loaded; shred the "
                "run again with --layout model"
            )
        if not manifest.types and not manifest.good and manifest.earliest is None:
            return RunReport(run.name, "empty")
        with transaction(self.warehouse):
            self._create_own_tables()
            if self._is_loaded(manifest):
                return RunReport(run.name, "already loaded")
            report = self._load_tables(run, manifest)
            self._record(manifest)
        return report

    def _load_tables(self, run: Path, manifest: RunManifest) -> RunReport:
        planner = TablePlanner(self.registry, self.warehouse.profile, self.dataset, manifest.profile)
        rows: dict[str, int] = {}
        statements: list[str] = []
        discards = 0
        for run_table in manifest.tables:
            change = planner.change(run_table, self._table_state(run_table.table))
            for statement in change.statements:
                self.warehouse.execute(statement)
            statements += change.statements
            types = {column.name: column.type for column in (*METADATA, *change.columns)}
            columns = [(name, types[name]) for name in run_table.columns]
            count, lost = self._copy(run / run_table.path, run_table.table, columns, manifest, NULL)
            rows[run_table.table] = count
            discards += lost
            if count != run_table.rows:
                raise SchemaError(
                    f"{run / run_table.path}: {count} rows, and the manifest says {run_table.rows}; "
                    "the files were changed after they were shredded, shred the run again"
                )
        if manifest.good:
            columns = [(item.name, item.type) for item in ATOMIC_FIELDS]
            rows[EVENTS], lost = self._copy(run / ATOMIC_PATH, EVENTS, columns, manifest, "")
            discards += lost
        return RunReport(run.name, "loaded", rows, statements, discards)

    def _copy(
        self,
        folder: Path,
        table: str,
        columns: Sequence[tuple[str, ColumnType]],
        manifest: RunManifest,
        null: str,
    ) -> tuple[int, int]:
        """Load the files of a folder; how many rows they have, and how many of their values did not fit."""
        if manifest.format == "orc":
            raise UsageError(f"{folder}: ORC is not loaded; shred the run with --format csv or parquet")
        files = sorted(folder.glob("part-*"))
        staging = self.warehouse.stage_texts([name for name, _ in columns], files, null)
        copied = [
            CopyColumn(name, self.warehouse.profile.type_text(self.warehouse.profile.adapt(column_type)))
            for name, column_type in columns
        ]
        names = ", ".join(quoted(column.name) for column in copied)
        values = ", ".join(self._value(column) for column in copied)
        extra_names, extra_values = "", ""
        if table == EVENTS:
            extra_names, extra_values = f", {quoted(LOAD_TIME)}", f", TIMESTAMP {_timestamp(self._now())}"
        target = self._reference(table)
        self.warehouse.execute(
            f"INSERT INTO {target} ({names}{extra_names}) SELECT {values}{extra_values} FROM {staging}"
        )
        lost = self._keep_misfits(table, copied, staging, manifest)
        [(count,)] = self.warehouse.execute(f"SELECT count(*) FROM {staging}")
        return count, lost

    def _value(self, column: CopyColumn) -> str:
        name = quoted(column.name)
        if column.is_text:
            return f"left({name}, {column.length})" if column.length else name
        inner = f"{name}::timestamptz" if column.type == "TIMESTAMP" else name
        return f"CASE WHEN {self.warehouse.validity(column)} THEN CAST({inner} AS {column.type}) END"

    def _keep_misfits(
        self, table: str, columns: Sequence[CopyColumn], staging: str, manifest: RunManifest
    ) -> int:
        """Keep the values that their columns did not take, or not whole."""
        misfits = [(column, *misfit) for column in columns if (misfit := self._misfit(column))]
        counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for _, condition, _ in misfits)
        [numbers] = self.warehouse.execute(f"SELECT {counts} FROM {staging}")
        identity = quoted("event_id" if table == EVENTS else "root_id")
        for (column, condition, reason), count in zip(misfits, numbers, strict=True):
            if count:
                constants = ", ".join(map(string_literal, (manifest.base, table, column.name)))
                self.warehouse.execute(
                    f"INSERT INTO {self._reference(DISCARDS)} SELECT {constants}, {identity}, "
                    f"{quoted(column.name)}, {string_literal(reason)}, TIMESTAMP {_timestamp(self._now())} "
                    f"FROM {staging} WHERE {condition}"
                )
        return int(sum(numbers))

    def _misfit(self, column: CopyColumn) -> tuple[str, str] | None:
        """The condition of texts that a column does not take whole, and why; None where it takes all."""
        name, length = quoted(column.name), column.length
        if not column.is_text:
            condition = f"{name} IS NOT NULL AND NOT ({self.warehouse.validity(column)})"
            return condition, f"not convertible: text into {column.type}"
        return (f"length({name}) > {length}", f"cut to {length} characters") if length else None

    def _create_own_tables(self) -> None:
        self.warehouse.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.dataset)}")
        columns = ", ".join(f"{name} {type_}" for name, type_ in _MANIFEST_COLUMNS.items())
        self.warehouse.execute(f"CREATE TABLE IF NOT EXISTS {self._reference(MANIFEST)} ({columns})")
        names = ("base", "table_name", "column_name", "event_id", "value", "reason")
        texts = ", ".join(f"{name} VARCHAR" for name in names)
        self.warehouse.execute(
            f"CREATE TABLE IF NOT EXISTS {self._reference(DISCARDS)} ({texts}, discarded_at TIMESTAMP)"
        )
        lines = ",\n".join(column_lines(list(_event_columns(self.warehouse)), self.warehouse.profile))
        self.warehouse.execute(f"CREATE TABLE IF NOT EXISTS {self._reference(EVENTS)} (\n{lines}\n)")

    def _table_state(self, table: str) -> TableState:
        columns = self.warehouse.columns(self.dataset, table)
        names = tuple(column.name for column in columns)
        return TableState(self.warehouse.comment(self.dataset, table) if names else None, names)

    def _is_loaded(self, manifest: RunManifest) -> bool:
        query = f"SELECT 1 FROM {self._reference(MANIFEST)} WHERE base = $1"
        return bool(self.warehouse.execute(query, (manifest.base,)))

    def _record(self, manifest: RunManifest) -> None:
        data = manifest.completion_document("")["data"]
        values = (
            manifest.base,
            json.dumps(data["typesInfo"]["types"]),
            *map(
                _naive,
                (manifest.started, manifest.completed, manifest.earliest, manifest.latest, self._now()),
            ),
            manifest.compression,
            data["processor"]["artifact"],
            manifest.algorithm,
            manifest.good,
        )
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        self.warehouse.execute(f"INSERT INTO {self._reference(MANIFEST)} VALUES ({places})", values)

    def _reference(self, table: str) -> str:
        return f"{quoted(self.dataset)}.{quoted(table)}"

    def _now(self) -> datetime:
        return datetime.now(timezone.utc)


def _event_columns(warehouse: RunWarehouse) -> Iterator[Column]:
    for item in ATOMIC_FIELDS:
        yield Column(item.name, warehouse.profile.adapt(item.type), not item.is_required, ())
    yield Column(LOAD_TIME, TIMESTAMP, True, ())


def _timestamp(time: datetime) -> str:
    return f"'{time:%Y-%m-%d %H:%M:%S.%f}'"


def _naive(time: datetime | None) -> datetime | None:
    return None if time is None else time.astimezone(timezone.utc).replace(tzinfo=None)
