"""Groups the records of a block by event type and projects each group, as long as that is faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.event_sources import MIN_SPLIT, Events
from trellis.engine.columnar.event_values import JointProjection
from trellis.engine.columnar.events import CompiledProjection, compile_projection
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.strict import NO_INDEXES, Indexes, Mask, single_chunk
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.staging.batches import RowIdGenerator, TableBatch
from trellis.evolution.projection import Path

EventType = tuple[str | None, ...]

MIN_LINES = 128
"""From so many lines that are read together, projecting them is faster than the exact path."""
JOINT_LINES = 2_048
"""So many lines of several event types are read together: one that does not fit fails them all."""
SAMPLE_LINES = 32
"""Records whose values show the types of lists."""
REFRESH_RATIO, REFRESH_LINES = 8, 4
"""A projection is renewed once it failed for more than one in so many lines, and for more than so many."""
TRIAL_LINES, MIN_SHARE = 400, 0.5
"""After so many lines of an event type, at least this share must have been projected."""


@dataclass
class _GroupState:
    """The projection of one event type; `revision` is that of the tables that it was made for.

    `tried` lines were tried, so many were `projected`; the others count the current projection alone.
    """

    compiled: CompiledProjection | None = None
    revision: int = -1
    is_stale: bool = True
    tried: int = 0
    projected: int = 0
    tried_since: int = 0
    failed_since: int = 0

    @property
    def is_worthwhile(self) -> bool:
        return self.tried < TRIAL_LINES or self.projected >= MIN_SHARE * self.tried

    def start(self, compiled: CompiledProjection | None) -> None:
        self.compiled, self.is_stale = compiled, compiled is None
        self.tried_since = self.failed_since = 0

    def count(self, tried: int, failed: int) -> None:
        self.tried += tried
        self.projected += tried - failed
        self.tried_since += tried
        self.failed_since += failed
        self.is_stale = self.failed_since > max(self.tried_since / REFRESH_RATIO, REFRESH_LINES)


class _Group(NamedTuple):
    """The lines of one event type, by index."""

    event_type: EventType
    state: _GroupState
    lines: Indexes


class _JointGroups:
    """Event types whose lines are read together."""

    def __init__(self, first: _Group, compiled: CompiledProjection) -> None:
        self.projection = JointProjection(compiled)
        self.groups = [first]
        self.size = len(first.lines)

    def add(self, group: _Group) -> bool:
        """Add an event type, if it can be read with the others."""
        assert group.state.compiled is not None
        if self.size + len(group.lines) > JOINT_LINES or not self.projection.add(group.state.compiled):
            return False
        self.groups.append(group)
        self.size += len(group.lines)
        return True


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
        self.lists: dict[Path, pa.DataType] = {}
        """The types of lists that some event type has: others with few lines are likely to have them."""
        self.telling: list[Indexes] = []
        """The records that made a read fail, of those that were given last."""

    def rows(
        self, events: Events, indexes: Indexes, id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], Indexes, Counter[tuple[str, ...]]]:
        """Batches of the records with these indexes that were projected, the indexes of the others, and how
        many records were projected, by the tables that they have rows in. The origins of rows are indexes.
        """
        projected = _Projected(id_generator)
        self.telling = [NO_INDEXES]
        read = events.read_keys(self.router.route.sorts, indexes)
        remaining, revision = [read.misfits, read.unread], self.router.tables.revision
        joint: list[_JointGroups] = []
        for event_type, lines in _by_event_type(read.records, read.lines):
            state = self.states.setdefault(event_type, _GroupState())
            if state.is_worthwhile:
                self._refresh(state, revision, event_type, events, lines)
            if state.compiled is None or not state.is_worthwhile:
                remaining.append(lines)
                continue
            group = _Group(event_type, state, lines)
            if not any(groups.add(group) for groups in joint):
                joint.append(_JointGroups(group, state.compiled))
        remaining += [self._project(groups, events, projected) for groups in joint]
        return projected.batches, np.sort(np.concatenate(remaining)), projected.by_tables

    def _refresh(
        self, state: _GroupState, revision: int, event_type: EventType, events: Events, lines: Indexes
    ) -> None:
        """Compile the projection of an event type for the current tables, where it is stale."""
        if state.compiled is not None and state.revision != revision:
            state.compiled = state.compiled.with_current_misfits()
        state.revision = revision
        if state.is_stale:
            projection = self.router.route.projection(event_type)
            types = events.types(lines[:SAMPLE_LINES])
            filled = {path: type_ for path, type_ in types.items() if not pa.types.is_null(type_)}
            self.lists.update({path: type_ for path, type_ in filled.items() if pa.types.is_list(type_)})
            types = {**types, **self.lists, **filled}
            builder_of = self.router.tables.root_builder
            state.start(compile_projection(projection, builder_of, types) if projection else None)

    def _project(self, groups: _JointGroups, events: Events, projected: _Projected) -> Indexes:
        """Project the records of event types that are read together; the indexes of those that are left."""
        lines = np.concatenate([group.lines for group in groups.groups])
        if groups.size < MIN_LINES:
            return lines
        numbers = np.zeros(int(lines.max()) + 1, np.int64)
        for number, group in enumerate(groups.groups):
            numbers[group.lines] = number

        def build(records: pa.Table, indexes: Indexes) -> Indexes:
            values = groups.projection.stored_values(
                records, numbers[indexes], lambda path, rows: events.values(path, indexes[rows])
            )
            paths = list(values)
            batch = pa.RecordBatch.from_arrays(
                [values[path] for path in paths], [str(n) for n in range(len(paths))]
            )
            bounds = np.searchsorted(numbers[indexes], np.arange(len(groups.groups) + 1))
            remaining = [indexes[:0]]
            for group, (start, end) in zip(groups.groups, pairwise(bounds.tolist()), strict=True):
                build_group = partial(self._build_group, group, paths, projected)
                group_batch = batch.slice(start, end - start)
                remaining.append(build_in_parts(build_group, group_batch, indexes[start:end], MIN_SPLIT))
            return np.concatenate(remaining)

        read = events.read(groups.projection, lines)
        self.telling.append(read.telling)
        of_type = _have_keys(read.records, self.router.route.sorts, groups, numbers[read.lines])
        records = read.records if of_type.all() else read.records.filter(pa.array(of_type))
        special = build_in_parts(build, records, read.lines[of_type], MIN_SPLIT)
        remaining = np.concatenate([read.misfits, read.unread, read.lines[~of_type], special])
        counts = np.bincount(numbers[remaining], minlength=len(groups.groups))
        for group, count in zip(groups.groups, counts.tolist(), strict=True):
            group.state.count(len(group.lines), count)
        return remaining

    def _build_group(
        self,
        group: _Group,
        paths: Sequence[Path],
        projected: _Projected,
        values: pa.RecordBatch,
        indexes: Indexes,
    ) -> Indexes:
        """Build the rows of records of one event type, whose stored values are known by path."""
        compiled = group.state.compiled
        assert compiled is not None
        by_path = {path: values.column(number) for number, path in enumerate(paths) if path in compiled.types}
        batches, warnings = compiled.build_batches(by_path, projected.id_generator)
        for group_batch in batches:
            group_batch.origins = indexes[group_batch.origins]
        projected.batches += batches
        projected.by_tables.update(_count_by_tables(batches))
        if warnings:
            self.router.warnings[compiled.projection.warning] += warnings
        return indexes[:0]


def _have_keys(records: pa.Table, keys: Sequence[str], groups: _JointGroups, numbers: Indexes) -> Mask:
    """Which records have the texts of their event type; `numbers` are those of their groups."""
    have: Mask = np.ones(len(records), np.bool_)
    for place, key in enumerate(keys):
        texts = pa.array([group.event_type[place] for group in groups.groups], pa.string())
        expected = texts.take(pa.array(numbers))
        column = (
            single_chunk(records[key]) if key in records.column_names else pa.nulls(len(records), pa.string())
        )
        equal = pc.or_(
            pc.fill_null(pc.equal(column, expected), False), pc.and_(pc.is_null(column), pc.is_null(expected))
        )
        have &= equal.to_numpy(zero_copy_only=False)
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
