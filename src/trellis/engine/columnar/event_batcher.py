"""The lines of a block by the sort of their record, each sort by its recipe as long as that is worth it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from trellis.engine.columnar.events import ProjectedColumns, prepare, seen_in
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows, StrictRead, StrictReader
from trellis.engine.exact.routed_rows import Spreader
from trellis.engine.input.blocks import line_array
from trellis.engine.staging.batches import RowIdGenerator, TableBatch

Line = tuple[int, bytes]
"""Its number, and what it says."""
Sort = tuple[str | None, ...]

LEAST = 128
"""Lines of one sort in a block from which on a recipe is faster than the exact way."""
FEW = 16
"""Lines that are not divided further to find what is special among them."""
SAMPLES = 64
"""Lines that are looked at for the types of lists."""
STALE = 8
"""A recipe is made anew if it did not do for one in so many lines."""
MISSES = 100
"""Reads of one sort that may fail before the rest of its lines go the exact way."""
TRIES, WORTH = 400, 0.5
"""After so many lines of a sort, at least this part of them must have gone by the recipe."""


@dataclass
class _Known:
    """What is known of one sort; `version` is that of the tables that its recipe was made for."""

    by: ProjectedColumns | None = None
    version: int = -1
    stale: bool = True
    tried: int = 0
    done: int = 0

    @property
    def worth(self) -> bool:
        return self.tried < TRIES or self.done >= WORTH * self.tried


class Sorts:
    """Keeps the recipes of a task."""

    def __init__(self, spreader: Spreader) -> None:
        self.spreader = spreader
        self.known: dict[Sort, _Known] = {}
        self.keys = pa.schema([pa.field(key, pa.string()) for key in spreader.route.sorts])

    def rows(
        self, lines: Sequence[Line], id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], list[Line], int]:
        """The batches of all lines that go by recipes, those that do not, in order, and how many do."""
        batches: list[TableBatch] = []
        left: list[Line] = []
        groups: dict[Sort, list[Line]] = {}
        sorted_lines, others = self._sorts(lines)
        left += others
        for sort, line in sorted_lines:
            groups.setdefault(sort, []).append(line)
        done, version = 0, self.spreader.tables.revision
        for sort, group in groups.items():
            known = self.known.setdefault(sort, _Known())
            if len(group) < LEAST or not known.worth:
                left += group
                continue
            if known.by is not None and known.version != version:
                known.by = known.by.relearned()
            known.version = version
            if known.stale:
                recipe = self.spreader.route.recipe(sort)
                seen = seen_in([line for _, line in group[:SAMPLES]])
                known.by = prepare(recipe, self.spreader.tables.root, seen) if recipe else None
            if known.by is None:
                left += group
                continue
            kept = len(left)
            self._group(known.by, group, id_generator, batches, left)
            known.stale = STALE * (len(left) - kept) > len(group)
            known.tried += len(group)
            known.done += len(group) - (len(left) - kept)
            done += len(group) - (len(left) - kept)
        return batches, sorted(left), done

    def _sorts(self, lines: Sequence[Line]) -> tuple[Iterator[tuple[Sort, Line]], list[Line]]:
        """The lines with their sorts, and those that cannot be read."""
        read = _read(StrictReader(self.keys, (), FEW, MISSES, "ignore"), lines)
        sorts = zip(*(column.to_pylist() for column in read.records.columns), strict=True)
        chosen = (lines[at] for at in read.lines.tolist())
        return zip(sorts, chosen, strict=True), _left(read, lines)

    def _group(
        self,
        by: ProjectedColumns,
        lines: Sequence[Line],
        id_generator: RowIdGenerator,
        batches: list[TableBatch],
        left: list[Line],
    ) -> None:
        read = _read(StrictReader(by.schema, by.misfits, FEW, MISSES), lines)
        left += _left(read, lines)
        if len(read.lines):
            self._rows(
                by, read.records, [lines[at] for at in read.lines.tolist()], id_generator, batches, left
            )

    def _rows(
        self,
        by: ProjectedColumns,
        records: pa.Table,
        lines: Sequence[Line],
        id_generator: RowIdGenerator,
        batches: list[TableBatch],
        left: list[Line],
    ) -> None:
        """The rows of what was read: of all, or by halves until what is special is among few."""
        try:
            made, odd = by.rows(records, [line for _, line in lines], id_generator)
        except SpecialRows as special:
            rows = {*special.rows}
            left += [lines[at] for at in special.rows]
            others = [at for at in range(len(lines)) if at not in rows]
            if others:
                ordinary = records.take(pa.array(others))
                self._rows(by, ordinary, [lines[at] for at in others], id_generator, batches, left)
            return
        except FastPathMiss:
            if len(lines) <= FEW:
                left += lines
                return
            middle = len(lines) // 2
            self._rows(by, records.slice(0, middle), lines[:middle], id_generator, batches, left)
            self._rows(by, records.slice(middle), lines[middle:], id_generator, batches, left)
            return
        batches += made
        if odd:
            self.spreader.oddities[by.recipe.oddity] += odd


def _read(reader: StrictReader, lines: Sequence[Line]) -> StrictRead:
    return reader.read(line_array(b"".join([line + b"\n" for _, line in lines])), np.arange(len(lines)))


def _left(read: StrictRead, lines: Sequence[Line]) -> list[Line]:
    """The lines that were not read."""
    return [lines[at] for part in (read.misfits, read.unread) for at in part.tolist()]
