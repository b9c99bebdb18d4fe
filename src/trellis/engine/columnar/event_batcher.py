"""Groups the lines of a block by event type and projects each group, as long as that is faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from trellis.engine.columnar.events import ProjectedColumns, prepare
from trellis.engine.columnar.sampled_types import types_in
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows, StrictRead, StrictReader
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.input.blocks import line_array
from trellis.engine.staging.batches import RowIdGenerator, TableBatch

Line = tuple[int, bytes]
"""The number of a line, and its text."""
EventType = tuple[str | None, ...]

MIN_GROUP = 128
"""From so many lines of one event type in a block, projecting them is faster than the exact path."""
MIN_SPLIT = 16
"""Parts of at most so many lines are not divided further to find a special one."""
SAMPLE_LINES = 64
"""Lines whose values show the types of lists."""
REFRESH_RATIO = 8
"""A projection is renewed after a block where it failed for more than one in so many lines."""
MAX_MISSES = 100
"""After so many failed reads of one event type, its other lines take the exact path."""
TRIAL_LINES, MIN_SHARE = 400, 0.5
"""After so many lines of an event type, at least this share must have been projected."""


@dataclass
class _GroupState:
    """The projection of one event type; `revision` is that of the tables that it was made for."""

    projection: ProjectedColumns | None = None
    revision: int = -1
    is_stale: bool = True
    tried: int = 0
    projected: int = 0

    @property
    def is_worthwhile(self) -> bool:
        return self.tried < TRIAL_LINES or self.projected >= MIN_SHARE * self.tried


class EventTypeBatcher:
    """Keeps the projections of a task, one per event type."""

    def __init__(self, router: RoutedFlattener) -> None:
        self.router = router
        self.states: dict[EventType, _GroupState] = {}
        self.by_tables = Counter[tuple[str, ...]]()
        self.keys = pa.schema([pa.field(key, pa.string()) for key in router.route.sorts])

    def rows(
        self, lines: Sequence[Line], id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], list[Line], Counter[tuple[str, ...]]]:
        """Batches of the projected lines, the other lines in order, and counts of the projected by tables."""
        batches: list[TableBatch] = []
        self.by_tables = Counter()
        remaining: list[Line] = []
        groups: dict[EventType, list[Line]] = {}
        typed_lines, unread = self._with_event_types(lines)
        remaining += unread
        for event_type, line in typed_lines:
            groups.setdefault(event_type, []).append(line)
        revision = self.router.tables.revision
        for event_type, group in groups.items():
            state = self.states.setdefault(event_type, _GroupState())
            if len(group) < MIN_GROUP or not state.is_worthwhile:
                remaining += group
                continue
            if state.projection is not None and state.revision != revision:
                state.projection = state.projection.with_current_misfits()
            state.revision = revision
            if state.is_stale:
                recipe = self.router.route.recipe(event_type)
                types = types_in([line for _, line in group[:SAMPLE_LINES]])
                state.projection = prepare(recipe, self.router.tables.root_builder, types) if recipe else None
            if state.projection is None:
                remaining += group
                continue
            remaining_before = len(remaining)
            self._project_group(state.projection, group, id_generator, batches, remaining)
            state.is_stale = REFRESH_RATIO * (len(remaining) - remaining_before) > len(group)
            state.tried += len(group)
            state.projected += len(group) - (len(remaining) - remaining_before)
        return batches, sorted(remaining), self.by_tables

    def _with_event_types(self, lines: Sequence[Line]) -> tuple[Iterator[tuple[EventType, Line]], list[Line]]:
        """The lines with their event types, and those that cannot be read."""
        read = _read_lines(StrictReader(self.keys, (), MIN_SPLIT, MAX_MISSES, "ignore"), lines)
        event_types = zip(*(column.to_pylist() for column in read.records.columns), strict=True)
        read_lines = (lines[at] for at in read.lines.tolist())
        return zip(event_types, read_lines, strict=True), _unread_lines(read, lines)

    def _project_group(
        self,
        projection: ProjectedColumns,
        lines: Sequence[Line],
        id_generator: RowIdGenerator,
        batches: list[TableBatch],
        remaining: list[Line],
    ) -> None:
        read = _read_lines(StrictReader(projection.schema, projection.misfits, MIN_SPLIT, MAX_MISSES), lines)
        remaining += _unread_lines(read, lines)
        if len(read.lines):
            self._project_rows(
                projection,
                read.records,
                [lines[at] for at in read.lines.tolist()],
                id_generator,
                batches,
                remaining,
            )

    def _project_rows(
        self,
        projection: ProjectedColumns,
        records: pa.Table,
        lines: Sequence[Line],
        id_generator: RowIdGenerator,
        batches: list[TableBatch],
        remaining: list[Line],
    ) -> None:
        """Project records; where some are special, the others alone, or halves until few are left."""
        try:
            projected, warnings = projection.build_batches(records, [line for _, line in lines], id_generator)
        except SpecialRows as special:
            special_rows = {*special.rows}
            remaining += [lines[at] for at in special.rows]
            others = [at for at in range(len(lines)) if at not in special_rows]
            if others:
                ordinary = records.take(pa.array(others))
                self._project_rows(
                    projection, ordinary, [lines[at] for at in others], id_generator, batches, remaining
                )
            return
        except FastPathMiss:
            if len(lines) <= MIN_SPLIT:
                remaining += lines
                return
            middle = len(lines) // 2
            self._project_rows(
                projection, records.slice(0, middle), lines[:middle], id_generator, batches, remaining
            )
            self._project_rows(
                projection, records.slice(middle), lines[middle:], id_generator, batches, remaining
            )
            return
        batches += projected
        self.by_tables.update(_count_by_tables(projected))
        if warnings:
            self.router.oddities[projection.recipe.oddity] += warnings


def _count_by_tables(batches: Sequence[TableBatch]) -> Counter[tuple[str, ...]]:
    """The records of one event type by their tables; only one table may have no row of some of them.

    >>> batches = [TableBatch("identifies", 5), TableBatch("users", 3)]
    >>> sorted(_count_by_tables(batches).items())
    [(('identifies',), 2), (('identifies', 'users'), 3)]
    """
    sizes = sorted({batch.rows for batch in batches} - {0})
    return Counter(
        {
            tuple([batch.table for batch in batches if batch.rows >= size]): size - smaller
            for smaller, size in pairwise((0, *sizes))
        }
    )


def _read_lines(reader: StrictReader, lines: Sequence[Line]) -> StrictRead:
    return reader.read(line_array(b"".join([line + b"\n" for _, line in lines])), np.arange(len(lines)))


def _unread_lines(read: StrictRead, lines: Sequence[Line]) -> list[Line]:
    """The lines that were not read."""
    return [lines[at] for part in (read.misfits, read.unread) for at in part.tolist()]
