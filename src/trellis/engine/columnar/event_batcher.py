"""Groups the records of a block by event type and projects each group, as long as that is faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.event_sources import MIN_SPLIT, Events
from trellis.engine.columnar.events import CompiledProjection, compile_projection
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.strict import Indexes, Mask, single_chunk
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.staging.batches import RowIdGenerator, TableBatch

EventType = tuple[str | None, ...]

MIN_GROUP = 128
"""From so many lines of one event type in a block, projecting them is faster than the exact path."""
SAMPLE_LINES = 64
"""Records whose values show the types of lists."""
REFRESH_RATIO = 8
"""A projection is renewed after a block where it failed for more than one in so many lines."""
TRIAL_LINES, MIN_SHARE = 400, 0.5
"""After so many lines of an event type, at least this share must have been projected."""


@dataclass
class _GroupState:
    """The projection of one event type; `revision` is that of the tables that it was made for."""

    compiled: CompiledProjection | None = None
    revision: int = -1
    is_stale: bool = True
    tried: int = 0
    projected: int = 0

    @property
    def is_worthwhile(self) -> bool:
        return self.tried < TRIAL_LINES or self.projected >= MIN_SHARE * self.tried


@dataclass
class _Projected:
    """The batches of the records that were projected, and how many have rows in which tables."""

    id_generator: RowIdGenerator
    batches: list[TableBatch] = field(default_factory=list)
    by_tables: Counter[tuple[str, ...]] = field(default_factory=Counter)


class EventTypeBatcher:
    """Keeps the projections of a task, one per event type."""

    def __init__(self, router: RoutedFlattener) -> None:
        self.router = router
        self.states: dict[EventType, _GroupState] = {}

    def rows(
        self, events: Events, indexes: Indexes, id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], Indexes, Counter[tuple[str, ...]]]:
        """Batches of the records with these indexes that were projected, the indexes of the others, and how
        many records were projected, by the tables that they have rows in.
        """
        projected = _Projected(id_generator)
        read = events.read_keys(self.router.route.sorts, indexes)
        remaining, revision = [read.misfits, read.unread], self.router.tables.revision
        for event_type, group in _by_event_type(read.records, read.lines):
            state = self.states.setdefault(event_type, _GroupState())
            if len(group) < MIN_GROUP or not state.is_worthwhile:
                remaining.append(group)
                continue
            if state.compiled is not None and state.revision != revision:
                state.compiled = state.compiled.with_current_misfits()
            state.revision = revision
            if state.is_stale:
                projection = self.router.route.projection(event_type)
                types = events.types(group[:SAMPLE_LINES])
                builder_of = self.router.tables.root_builder
                state.compiled = compile_projection(projection, builder_of, types) if projection else None
            if state.compiled is None:
                remaining.append(group)
                continue
            left = self._project_group(state.compiled, event_type, events, group, projected)
            remaining.append(left)
            state.is_stale = REFRESH_RATIO * len(left) > len(group)
            state.tried += len(group)
            state.projected += len(group) - len(left)
        return projected.batches, np.sort(np.concatenate(remaining)), projected.by_tables

    def _project_group(
        self,
        compiled: CompiledProjection,
        event_type: EventType,
        events: Events,
        group: Indexes,
        projected: _Projected,
    ) -> Indexes:
        """Project records of one event type; the indexes of those that are left."""

        def build(records: pa.Table, indexes: Indexes) -> Indexes:
            batches, warnings = compiled.build_batches(
                records, lambda path, rows: events.values(path, indexes[rows]), projected.id_generator
            )
            projected.batches += batches
            projected.by_tables.update(_count_by_tables(batches))
            if warnings:
                self.router.warnings[compiled.projection.warning] += warnings
            return indexes[:0]

        read = events.read(compiled, group)
        of_type = _have_keys(read.records, self.router.route.sorts, event_type)
        records = read.records if of_type.all() else read.records.filter(pa.array(of_type))
        special = build_in_parts(build, records, read.lines[of_type], MIN_SPLIT)
        return np.concatenate([read.misfits, read.unread, read.lines[~of_type], special])


def _have_keys(records: pa.Table, keys: Sequence[str], event_type: EventType) -> Mask:
    """Which records have the texts of an event type."""
    have: Mask = np.ones(len(records), np.bool_)
    for key, text in zip(keys, event_type, strict=True):
        if key not in records.column_names:
            have &= text is None
            continue
        column = records[key]
        equal = column.is_null() if text is None else pc.fill_null(pc.equal(column, text), False)
        have &= equal.to_numpy()
    return have


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


def _by_event_type(keys: pa.Table, lines: Indexes) -> Iterator[tuple[EventType, Indexes]]:
    """The event types of some lines, each with its lines in order."""
    if not len(lines):
        return
    codes = np.zeros(len(lines), np.int64)
    for column in keys.columns:
        encoded = single_chunk(column).dictionary_encode(null_encoding="encode")
        codes = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
    _, firsts, groups, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    grouped_lines = np.split(lines[np.argsort(groups, kind="stable")], np.cumsum(counts)[:-1])
    for first, group in zip(firsts.tolist(), grouped_lines, strict=True):
        yield tuple(column[first].as_py() for column in keys.columns), group
