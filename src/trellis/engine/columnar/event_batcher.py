"""Groups the lines of a block by event type and projects each group, as long as that is faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.events import CompiledProjection, compile_projection
from trellis.engine.columnar.misfits import quoted
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.sampled_types import types_in
from trellis.engine.columnar.strict import Indexes, Mask, StrictRead, StrictReader, single_chunk
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.staging.batches import RowIdGenerator, TableBatch

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
KEY_LINES = 400
"""Lines that show whether patterns find the keys of event types."""
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
class _BlockLines:
    """The lines of a block and the batches of those that were projected."""

    lines: pa.BinaryArray
    id_generator: RowIdGenerator
    batches: list[TableBatch] = field(default_factory=list)
    by_tables: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def at(self, indexes: Indexes) -> list[bytes]:
        lines: list[bytes] = self.lines.take(pa.array(indexes)).to_pylist()
        return lines


class EventTypeBatcher:
    """Keeps the projections of a task, one per event type."""

    def __init__(self, router: RoutedFlattener) -> None:
        self.router = router
        self.states: dict[EventType, _GroupState] = {}
        keys = pa.schema([pa.field(key, pa.string()) for key in router.route.sorts])
        self.key_reader = StrictReader(keys, (), MIN_SPLIT, MAX_MISSES, ignores_unknown_keys=True)

    def rows(
        self, lines: pa.BinaryArray, indexes: Indexes, id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], Indexes, Counter[tuple[str, ...]]]:
        """Batches of the lines with these indexes that were projected, the indexes of the others, and counts.

        These are of the projected lines, by the tables that they have rows in.
        """
        block = _BlockLines(lines, id_generator)
        read = self._read_keys(lines, indexes)
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
                types = types_in(block.at(group[:SAMPLE_LINES]))
                builder_of = self.router.tables.root_builder
                state.compiled = compile_projection(projection, builder_of, types) if projection else None
            if state.compiled is None:
                remaining.append(group)
                continue
            left = self._project_group(state.compiled, event_type, block, group)
            remaining.append(left)
            state.is_stale = REFRESH_RATIO * len(left) > len(group)
            state.tried += len(group)
            state.projected += len(group) - len(left)
        return block.batches, np.sort(np.concatenate(remaining)), block.by_tables

    def _read_keys(self, lines: pa.BinaryArray, indexes: Indexes) -> StrictRead:
        """The texts under the keys of event types, by line.

        A pattern finds the first text under a key at any depth ten times as fast as a reader finds the one at
        the top. Where the two agree on the first lines the pattern is believed, and what it says of a line is
        checked when that is read.
        """
        chosen = lines if len(indexes) == len(lines) else lines.take(pa.array(indexes))
        trial = chosen.slice(0, KEY_LINES)
        keys = self.key_reader.read(trial, np.arange(len(trial)))
        first_texts = self._first_texts(chosen)
        if first_texts is None or not first_texts.take(pa.array(keys.lines)).equals(keys.records):
            return self.key_reader.read(lines, indexes)
        return StrictRead(first_texts, indexes, indexes[:0], indexes[:0])

    def _first_texts(self, lines: pa.BinaryArray) -> pa.Table | None:
        """The first text under each key of event types; None where some are not UTF-8."""
        patterns = [rf'{quoted(key)}\s*:\s*"(?P<text>[^"\\]*)"' for key in self.router.route.sorts]
        try:
            texts = [pc.extract_regex(lines, pattern).flatten()[0].cast(pa.string()) for pattern in patterns]
        except pa.ArrowInvalid:
            return None
        return pa.table(texts, self.key_reader.schema)

    def _of_event_type(self, records: pa.Table, event_type: EventType) -> Mask:
        """Which records have the texts of an event type."""
        are_of_type: Mask = np.ones(len(records), np.bool_)
        for key, text in zip(self.router.route.sorts, event_type, strict=True):
            if key not in records.column_names:
                are_of_type &= text is None
                continue
            column = records[key]
            equal = column.is_null() if text is None else pc.fill_null(pc.equal(column, text), False)
            are_of_type &= equal.to_numpy()
        return are_of_type

    def _project_group(
        self, compiled: CompiledProjection, event_type: EventType, block: _BlockLines, group: Indexes
    ) -> Indexes:
        """Project lines of one event type; the indexes of those that are left."""

        def build(records: pa.Table, indexes: Indexes) -> Indexes:
            batches, warnings = compiled.build_batches(
                records, lambda rows: block.at(indexes[rows]), block.id_generator
            )
            block.batches += batches
            block.by_tables.update(_count_by_tables(batches))
            if warnings:
                self.router.warnings[compiled.projection.warning] += warnings
            return indexes[:0]

        read = StrictReader(compiled.schema, compiled.misfits, MIN_SPLIT, MAX_MISSES).read(block.lines, group)
        of_type = self._of_event_type(read.records, event_type)
        records = read.records if of_type.all() else read.records.filter(pa.array(of_type))
        special = build_in_parts(build, records, read.lines[of_type], MIN_SPLIT)
        return np.concatenate([read.misfits, read.unread, read.lines[~of_type], special])


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
