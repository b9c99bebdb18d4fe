"""Lines of separated fields with entities -> batches of their tables, as long as they are ordinary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timezone
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.entity_lines.entities import (
    Entities,
    EntityReader,
    EntityRows,
    entity_reader,
    split_entities,
)
from trellis.engine.columnar.entity_lines.fields import convert_field, split_lines
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.strict import Indexes, Mask, single_chunk
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.exact.tables import TableBuilders
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of, in_order_of_input
from trellis.evolution.line_projection import LineProjection

MIN_LINES: Final = 64
"""From so many lines on, columns are faster than the exact path."""
_TRIAL_LINES: Final = 2_000
_MIN_SHARE: Final = 0.1
"""After so many lines, at least this share must have been built by columns."""
_MIN_SPLIT: Final = 16
_NO_LINES: Final[Indexes] = np.empty(0, np.int64)


class PlacedLines(NamedTuple):
    """Lines with their numbers; `place` says as text where they are, up to the number."""

    lines: pa.BinaryArray
    numbers: Indexes
    place: str


class BuiltLines(NamedTuple):
    """The batches of ordinary lines, and the indexes of the others.

    `unknown` are among these: by what the router calls a schema that is not known yet, the lines that are
    ordinary but for entities of it.
    """

    batches: list[TableBatch]
    remaining: Indexes
    unknown: Mapping[str, Indexes]


class LineBatcher:
    """Keeps the readers of entities of a task, one for each schema."""

    def __init__(self, projection: LineProjection, builders: TableBuilders) -> None:
        self.projection, self.builders = projection, builders
        self.readers: dict[str, EntityReader | None] = {}
        self.tried = self.built = 0

    def build_batches(
        self, placed: PlacedLines, indexes: Indexes, id_generator: RowIdGenerator
    ) -> BuiltLines:
        """Build the ordinary lines among those with these indexes. The origins of rows are indexes."""
        builder = self.builders.root_builder(self.projection.table)
        is_worthwhile = self.tried < _TRIAL_LINES or self.built >= _MIN_SHARE * self.tried
        if len(indexes) < MIN_LINES or not is_worthwhile or not self._fits(builder):
            return BuiltLines([], indexes, {})
        split = split_lines(placed.lines, indexes, self.projection.names, self.projection.separator)
        batches: list[TableBatch] = []
        unknown: dict[str, Indexes] = {}

        def build(texts: pa.Table, indexes: Indexes) -> Indexes:
            rows = _LineRows(self, placed, texts, indexes)
            batches.extend(rows.build_batches(id_generator))
            for reference, places in rows.unknown.items():
                unknown[reference] = np.union1d(unknown.get(reference, _NO_LINES), indexes[places])
            return indexes[~rows.fits]

        remaining = build_in_parts(build, split.texts, split.lines, _MIN_SPLIT)
        remaining = np.union1d(split.misfits, remaining)
        postponed = np.unique(np.concatenate([_NO_LINES, *unknown.values()]))
        self.tried += len(indexes) - len(postponed)
        self.built += len(indexes) - len(remaining)
        return BuiltLines(batches, remaining, unknown)

    def _fits(self, builder: TableBuilder) -> bool:
        """Whether the table of the lines has a column for each text."""
        columns = builder.table.columns if builder.table is not None and builder.in_schema else {}
        names = (field.name for field in self.projection.fields)
        return builder.verdict is None and all(name in columns and columns[name].complete for name in names)

    def reader_of(self, address: str) -> EntityReader | None:
        """The reader of entities of a schema; None where each takes the exact path."""
        if address not in self.readers:
            projection = self.projection.project_entity(address)
            self.readers[address] = (
                entity_reader(projection, self.builders.root_builder(projection.table))
                if projection is not None
                else None
            )
        reader = self.readers[address]
        return reader if reader is not None and reader.is_worthwhile else None


class _ReadEntities(NamedTuple):
    """Entities of one schema: their reader, their places among all entities, and what was read of them."""

    reader: EntityReader
    places: Indexes
    rows: EntityRows


class _LineRows:
    """The rows of some lines whose texts are known by field. `fits` is cleared for lines that are not
    ordinary. `unknown` are lines by the schema of an entity that is not known yet."""

    def __init__(self, batcher: LineBatcher, placed: PlacedLines, texts: pa.Table, indexes: Indexes) -> None:
        self.batcher, self.projection = batcher, batcher.projection
        self.texts, self.indexes = texts, indexes
        self.fits: Mask = np.ones(len(indexes), np.bool_)
        numbers = pa.array(placed.numbers[indexes]).cast(pa.string())
        self.positions = pc.binary_join_element_wise(placed.place, numbers, "")
        self.values: dict[str, pa.Array] = {}
        self.unknown: dict[str, Indexes] = {}

    def build_batches(self, id_generator: RowIdGenerator) -> list[TableBatch]:
        """The batches of the lines that fit. Raises FastPathMiss."""
        builder = self.batcher.builders.root_builder(self.projection.table)
        assert builder.table is not None
        for field in self.projection.fields:
            column, texts = builder.table.columns[field.name], single_chunk(self.texts[field.name])
            self.values[field.name] = convert_field(texts, field, column, self.fits)
        self._check_times()
        entities = split_entities(self.texts, self.projection, self.fits)
        groups = list(self._read_entities(entities))
        return [self._line_batch(builder, id_generator), *self._entity_batches(groups, entities)]

    def _check_times(self) -> None:
        name, earliest = self.projection.time_column, self.projection.earliest
        if name is not None and earliest is not None:
            is_early = pc.less(self.values[name], earliest.astimezone(timezone.utc).replace(tzinfo=None))
            self.fits &= ~pc.fill_null(is_early, True).to_numpy(zero_copy_only=False)

    def _read_entities(self, entities: Entities) -> Iterator[_ReadEntities]:
        """Read the entities of lines that still fit."""
        readers: list[tuple[EntityReader, Indexes]] = []
        for address, places in entities.by_address():
            if (reader := self.batcher.reader_of(address)) is not None:
                readers.append((reader, places))
            elif (reference := self.projection.reference_of(address)) is not None:
                self.unknown[reference] = entities.rows[places]
            else:
                self.fits[entities.rows[places]] = False
        self._postpone_unknown()
        for reader, all_places in readers:
            places = all_places[self.fits[entities.rows[all_places]]]
            if not len(places):
                continue
            read = reader.read(entities.lines.take(pa.array(places)))
            fit: Mask = np.zeros(len(places), np.bool_)
            fit[read.places] = read.fits
            self.fits[entities.rows[places[~fit]]] = False
            yield _ReadEntities(reader, places, read)

    def _postpone_unknown(self) -> None:
        """Leave out lines with entities of unknown schemas; `unknown` keeps those that are ordinary else."""
        self.unknown = {reference: rows[self.fits[rows]] for reference, rows in self.unknown.items()}
        for rows in self.unknown.values():
            self.fits[rows] = False

    def _line_batch(self, builder: TableBuilder, id_generator: RowIdGenerator) -> TableBatch:
        assert builder.table is not None
        origins = self.indexes[self.fits]
        batch, table = TableBatch(builder.name, len(origins), origins=origins), builder.table
        columns = {name: values for name, values in self.values.items() if values.null_count < len(values)}
        if self.projection.position_column is not None:
            columns[self.projection.position_column] = self.positions
        kept = None if self.fits.all() else pa.array(self.fits)
        for name, values in columns.items():
            batch.columns[name] = values if kept is None else values.filter(kept)
        for name, values in id_generator.root_columns(
            builder.place, builder.keys, len(origins), (), None
        ).items():
            batch.columns[name] = array_of(table, table.columns[name], values)
        return batch

    def _entity_batches(self, groups: list[_ReadEntities], entities: Entities) -> list[TableBatch]:
        """The rows of entities whose lines fit, table by table, in the order of the entities."""
        batches = in_order_of_input(self._entity_batch(group, entities) for group in groups)
        for batch in batches:
            assert batch.origins is not None
            batch.origins = self.indexes[entities.rows[batch.origins]]
        return batches

    def _entity_batch(self, group: _ReadEntities, entities: Entities) -> TableBatch:
        """The rows of entities of one schema; their origins are the places of the entities."""
        builder, projection, marks = group.reader.builder, group.reader.projection, self.projection
        table = builder.table
        assert table is not None
        kept = self.fits[entities.rows[group.places[group.rows.places]]]
        places = group.places[group.rows.places[kept]]
        rows = pa.array(entities.rows[places])
        batch = TableBatch(builder.name, len(places), origins=places)
        for name, text in projection.constants.items():
            batch.columns[name] = pa.repeat(pa.scalar(text, pa.string()), len(places))
        for name, inherited in marks.inherited.items():
            batch.columns[name] = array_of(table, table.columns[name], self.values[inherited].take(rows))
        if marks.label_column is not None:
            batch.columns[marks.label_column] = entities.labels.take(pa.array(places))
        if marks.position_column is not None:
            batch.columns[marks.position_column] = self.positions.take(rows)
        for name, values in group.rows.columns.items():
            if values.null_count < len(values):
                batch.columns[name] = values if kept.all() else values.filter(pa.array(kept))
        return batch
