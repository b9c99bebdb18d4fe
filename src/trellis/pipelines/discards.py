"""Values that did not get into their column: how many there are and why, and how they get back."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from trellis.destinations.base import Commit, CommitConflict, KeyedWrite, TableTreeWrite
from trellis.dialects import get_dialect
from trellis.engine.staging.batches import TableBatch, array_of
from trellis.engine.staging.dead_letters import DISCARDS, REJECTS
from trellis.engine.staging.stage import Stage, by_table
from trellis.errors import ConflictError, UsageError
from trellis.evolution.dialect.dead_letters import DeadLetterTable, RestoredValue
from trellis.pipelines.loading.new_files import committed_loads
from trellis.pipelines.loading.runner import ATTEMPTS
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Schema, Table
from trellis.schema.version import bump

ROWS = 50_000
OF_ROW = ": discard_row"
"""How the reason of a discard ends that a whole row was left out for."""

Back = tuple[RestoredValue, Mapping[str, Any]]
"""A value that can go back, and the row it is kept in."""


@dataclass(frozen=True)
class DiscardCount:
    """How many values of one column were kept in `kept_in`, for one reason, and one of them."""

    kept_in: str
    table: str
    column: str
    reason: str
    count: int
    example: str


@dataclass(frozen=True)
class Replay:
    """What came back, values by table and column and rows by table, and how many values are left.

    Of these `left_without_row` are kept without the record that they belong to.
    """

    load_id: str | None
    restored: Mapping[tuple[str, str], int] = field(default_factory=dict)
    left: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    left_without_row: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "load_id": self.load_id,
            "restored": [
                {"table": table, "column": column, "count": count}
                for (table, column), count in self.restored.items()
            ],
            "rows": [{"table": table, "count": count} for table, count in self.rows.items()],
            "left": self.left,
            "left_without_row": self.left_without_row,
        }


@dataclass(frozen=True)
class RejectCount:
    """How many records of one file were rejected for one reason, and the first of them."""

    file: str
    reason: str
    count: int
    example: str
    position: int


def list_discards(pipeline: Pipeline) -> list[DiscardCount]:
    """The discards of a dataset that were not replayed, most frequent first. Raises DestinationError."""
    schema, destination = pipeline.schema, pipeline.destination
    known = destination.catalog(pipeline.dataset)
    dialect_table = get_dialect(pipeline.dialect).dead_letters.table(schema)
    groups: dict[tuple[str, str, str, str], list[tuple[int, str]]] = defaultdict(list)
    if dialect_table is not None and dialect_table.name in known:
        by = (dialect_table.table, dialect_table.column, dialect_table.reason)
        counts = destination.count_by(pipeline.dataset, dialect_table.name, by, dialect_table.value)
        for table, column, reason, count, example in counts:
            groups[dialect_table.name, table, column, reason].append((int(count), str(example or "")))
    if DISCARDS.name in known:
        by_load = ("load_id", "table_name", "column_name", "reason")
        loads = committed_loads(pipeline)
        for load_id, table, column, reason, count, example in destination.count_by(
            pipeline.dataset, DISCARDS.name, by_load, "value"
        ):
            if not (reason.endswith(OF_ROW) and _replay_id(load_id, table) in loads):
                groups[DISCARDS.name, table, column, reason].append((int(count), str(example or "")))
    discards = [
        DiscardCount(*group, sum(count for count, _ in parts), min(example for _, example in parts))
        for group, parts in groups.items()
    ]
    return sorted(
        discards, key=lambda discard: (-discard.count, discard.table, discard.column, discard.reason)
    )


def list_rejects(pipeline: Pipeline) -> list[RejectCount]:
    """The rejected records of a dataset, most frequent first. Raises DestinationError."""
    destination = pipeline.destination
    if REJECTS.name not in destination.catalog(pipeline.dataset):
        return []
    by_place = ("file", "reason", "position")
    groups: dict[tuple[str, str], list[tuple[int, int, str]]] = defaultdict(list)
    for file, reason, position, count, text in destination.count_by(
        pipeline.dataset, REJECTS.name, by_place, "text"
    ):
        groups[file, reason].append((int(position), int(count), str(text or "")))
    rejects = []
    for (file, reason), places in groups.items():
        position, _, example = min(places)
        rejects.append(RejectCount(file, reason, sum(count for _, count, _ in places), example, position))
    return sorted(rejects, key=lambda reject: (-reject.count, reject.file, reject.reason))


def replay_discards(pipeline: Pipeline, table: str | None = None) -> Replay:
    """Put discarded values back into their rows, or load discarded rows, as far as they fit by now.

    Values go back in one commit: a row that is gone, that shares its key with others, or whose column was
    given a value since, stays as it is. Rows of root tables are loaded as records under the contract that
    holds now, those of one load and table in one load, and no second time; other discards are left. Raises
    what `load` raises, and ConflictError where others were faster.
    """
    if get_dialect(pipeline.dialect).dead_letters.table(pipeline.schema) is None:
        return _replay_rows(pipeline, table)
    for _ in range(ATTEMPTS):
        try:
            return _Replaying(pipeline, table).run()
        except CommitConflict:
            continue
    raise ConflictError(
        f"{pipeline.destination.url}: commit conflict: other writers kept committing first; replay again"
    )


def _replay_rows(pipeline: Pipeline, only: str | None) -> Replay:
    """Load the discarded rows of each load and table under a load id that tells that they are loaded."""
    destination, dataset = pipeline.destination, pipeline.dataset
    loads, tables = committed_loads(pipeline), pipeline.schema.tables
    records: dict[tuple[str, str], dict[tuple[str, int], str]] = defaultdict(dict)
    known = destination.catalog(dataset)
    for discard in destination.query(dataset, DISCARDS.name) if DISCARDS.name in known else ():
        load_id, name = discard["load_id"], discard["table_name"]
        is_root = name in tables and tables[name].parent is None
        if discard["row"] is not None and is_root and only in (None, name):
            records[load_id, name][discard["file"], discard["position"]] = discard["row"]
    rows: dict[str, int] = defaultdict(int)
    for (load_id, name), by_place in records.items():
        if _replay_id(load_id, name) not in loads:
            row_records = [json.loads(row) for row in by_place.values()]
            if pipeline.plan(row_records, name).rows.loaded:
                report = pipeline.load(row_records, name, load_id=_replay_id(load_id, name))
                rows[name] += report.rows.loaded
    left = [discard for discard in list_discards(pipeline) if only in (None, discard.table)]
    roots = {table.name for table in pipeline.schema.tables.values() if table.parent is None}
    without_row = (d for d in left if not (d.reason.endswith(OF_ROW) and d.table in roots))
    return Replay(None, {}, _count(left), rows, _count(without_row))


def _count(discards: Iterable[DiscardCount]) -> int:
    return sum(discard.count for discard in discards)


def _replay_id(load_id: str, table: str) -> str:
    """The id of the load that replays the rows of a table that another load discarded."""
    return f"replay-{load_id}-{table}"


class _Replaying:
    """One try, from the tables as they are now."""

    def __init__(self, pipeline: Pipeline, only: str | None) -> None:
        self.pipeline = pipeline
        self.only = only
        self.dialect = get_dialect(pipeline.dialect)
        self.now = datetime.now(timezone.utc)
        self.load_id = f"replay-{time.time():.6f}"

    def run(self) -> Replay:
        pipeline, dialect = self.pipeline, self.dialect
        schema, catalog = pipeline.look()
        kept = dialect.dead_letters.table(schema)
        if kept is None or kept.name not in pipeline.destination.catalog(pipeline.dataset):
            return Replay(None)
        rows = pipeline.destination.query(pipeline.dataset, kept.name)
        back: dict[str, list[Back]] = defaultdict(list)
        left: list[Mapping[str, Any]] = []
        for row in rows:
            chosen = self.only is None or row[kept.table] == self.only
            restored = dialect.dead_letters.restore(schema, row) if chosen else None
            if restored is None:
                left.append(row)
            else:
                back[restored.table].append((restored, row))
        if back and pipeline.destination.abilities.no_merge is not None:
            raise UsageError(
                f"{pipeline.destination.url}: discarded values go back into their rows by key: "
                f"{pipeline.destination.abilities.no_merge}"
            )
        self._leave_out(back, left)
        if not back:
            return Replay(None, left=len(left))
        self._commit(schema, catalog, kept, back, left)
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for restored, _ in (pair for several in back.values() for pair in several):
            counts[restored.table, restored.column] += 1
        return Replay(self.load_id, counts, len(left))

    def _leave_out(self, back: dict[str, list[Back]], left: list[Mapping[str, Any]]) -> None:
        """Leave values where they are whose rows are gone, or have a value by now."""
        destination, dataset = self.pipeline.destination, self.pipeline.dataset
        for table, several in [*back.items()]:
            keys: dict[tuple[str, str], set[str]] = defaultdict(set)
            for restored, _ in several:
                ((key, value),) = restored.keys.items()
                keys[key, restored.column].add(str(value))
            empty = {
                (key, column, value)
                for (key, column), values in keys.items()
                for value in destination.empty_cells(dataset, table, key, column, sorted(values))
            }
            back[table] = []
            for restored, row in several:
                ((key, value),) = restored.keys.items()
                if (key, restored.column, str(value)) in empty:
                    back[table].append((restored, row))
                else:
                    left.append(row)
            if not back[table]:
                del back[table]

    def _commit(
        self,
        schema: Schema,
        catalog: Any,
        kept: DeadLetterTable,
        back: Mapping[str, Sequence[Back]],
        left: Sequence[Mapping[str, Any]],
    ) -> None:
        pipeline, dialect, base = self.pipeline, self.dialect, schema.stored_hash
        after = bump(schema)
        staging = pipeline.destination.staging(self.load_id)
        try:
            with Stage(staging, f"replay-{os.urandom(4).hex()}") as stage:
                for name, several in back.items():
                    _stage(stage, after.tables[name], (_row(restored) for restored, _ in several))
                _stage(stage, after.tables[kept.name], left)
            first = {name: several[0][0] for name, several in back.items()}
            fresh = after.stored_hash != base
            pipeline.destination.commit(
                Commit(
                    self.load_id,
                    pipeline.dataset,
                    after,
                    base,
                    (TableTreeWrite(kept.name, "replace"),),
                    by_table(stage.files),
                    dialect.metadata.rows(after, self.load_id, self.now, fresh=fresh, state=None),
                    {name: dialect.system_columns.row_keys(after, name) for name in after.tables},
                    dialect.metadata.tables(),
                    keyed=tuple(
                        KeyedWrite(name, tuple(one.keys), one.latest, "coalesce_matched_only")
                        for name, one in first.items()
                    ),
                    catalog=catalog,
                    native=dialect.writes.native_types(after, pipeline.destination.abilities.family),
                    now=self.now,
                )
            )
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _row(restored: RestoredValue) -> Mapping[str, Any]:
    """Without a `latest`, so that a value which the row has by now wins."""
    return {**restored.keys, restored.column: restored.value}


def _stage(stage: Stage, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Stage rows that have the names and values of the table's columns."""
    waiting = list(rows)
    for start in range(0, len(waiting), ROWS):
        part = waiting[start : start + ROWS]
        batch = TableBatch(table.name, len(part))
        for column in table.complete_columns:
            if any(column.name in row for row in part):
                batch.columns[column.name] = array_of(table, column, [row.get(column.name) for row in part])
        stage.add(table, batch)
