"""Texts of fields with entities -> the JSON of each entity, and the values of entities of one schema.

A text is divided where an entity of the usual form ends and the next one begins, or seems to: whatever is
between is proven to be one object by the reader, so a text that was divided within an entity has parts that
are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.entity_lines.checks import unproven_rows
from trellis.engine.columnar.entity_lines.fields import as_column, matching
from trellis.engine.columnar.layout import READ_AS
from trellis.engine.columnar.misfits import quoted
from trellis.engine.columnar.paths import nested_schema, nodes
from trellis.engine.columnar.strict import FastPathMiss, Indexes, Mask, StrictReader, bounds_of, single_chunk
from trellis.engine.exact.slots import TableBuilder
from trellis.evolution.line_projection import EntityColumn, EntityField, EntityProjection, LineProjection
from trellis.evolution.projection import Path
from trellis.schema.model import Column, DataType

_MIN_SPLIT: Final = 16
_MAX_MISSES: Final = 100
_TRIAL_ENTITIES: Final = 400
_MIN_SHARE: Final = 0.5
"""After so many entities of a schema, at least this share must have been ordinary."""
_CLOSE: Final = ord("}")
_NEWLINE: Final = ord("\n")
_TIME: Final = r"^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?Z$"
_DATE: Final = r"^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9]$"
_STAMP: Final = pa.timestamp("us", "UTC")


class Entities(NamedTuple):
    """The entities of some lines, in the order of the lines and of the entities in these.

    `rows` are the rows of their lines. `lines` are their data, each with a newline behind.
    """

    rows: Indexes
    addresses: pa.StringArray
    lines: pa.BinaryArray
    labels: pa.StringArray

    def by_address(self) -> Iterator[tuple[str, Indexes]]:
        """The addresses, each with the places of its entities."""
        if not len(self.rows):
            return
        encoded = self.addresses.dictionary_encode()
        codes = encoded.indices.to_numpy()
        places = np.split(
            np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
        )
        yield from zip(encoded.dictionary.to_pylist(), places, strict=False)


def split_entities(texts: pa.Table, projection: LineProjection, fits: Mask) -> Entities:
    """The entities of the lines with these texts by field; clears `fits` for lines that are not of the usual
    form."""
    parts = [
        _split_field(single_chunk(texts[field.name]), field, projection, fits)
        for field in projection.entity_fields
    ]
    rows = np.concatenate([part.rows for part in parts])
    order = pa.array(np.argsort(rows, kind="stable"))
    return Entities(
        rows[order.to_numpy()],
        *(pa.concat_arrays(arrays).take(order) for arrays in list(zip(*parts, strict=True))[1:]),
    )


def _split_field(texts: pa.Array, field: EntityField, projection: LineProjection, fits: Mask) -> Entities:
    is_usual = pc.and_(
        pc.ends_with(texts, field.ending),
        _any([pc.starts_with(texts, beginning) for beginning in field.beginnings]),
    )
    usual = pc.fill_null(is_usual, False).to_numpy(zero_copy_only=False)
    if texts.null_count + np.count_nonzero(usual) < len(texts):
        fits &= usual | texts.is_null().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(usual)
    [beginning] = {len(beginning) for beginning in field.beginnings}
    parts = pc.binary_slice(texts.filter(pa.array(usual)).cast(pa.binary()), beginning, -len(field.ending))
    parts = parts.cast(pa.string())
    if field.has_list:
        lists = pc.split_pattern(parts, projection.entity_separator)
        parts, rows = lists.flatten(), np.repeat(rows, pc.list_value_length(lists).to_numpy())
    halves = pc.split_pattern(parts, projection.data_start, max_splits=1)
    is_whole = np.array(pc.list_value_length(halves).to_numpy() == 2, np.bool_)
    if not is_whole.all():
        fits[rows[~is_whole]] = False
        halves, rows = halves.filter(pa.array(is_whole)), rows[is_whole]
    both = halves.flatten()
    firsts = np.arange(0, len(both), 2)
    lines, are_closed = _with_newlines(both.take(pa.array(firsts + 1)))
    fits[rows[~are_closed]] = False
    addresses = both.take(pa.array(firsts))
    return Entities(rows, addresses, lines, pa.repeat(pa.scalar(field.label, pa.string()), len(rows)))


def _any(conditions: list[pa.Array]) -> pa.Array:
    condition, *others = conditions
    for other in others:
        condition = pc.or_(condition, other)
    return condition


def _with_newlines(texts: pa.StringArray) -> tuple[pa.BinaryArray, Mask]:
    """The texts with a newline for the brace that closes the object around them, and which have that."""
    bounds, content = bounds_of(texts)
    raw = np.frombuffer(content, np.uint8).copy() if content is not None else np.zeros(0, np.uint8)
    ends = bounds[1:] - 1
    are_closed: Mask = np.diff(bounds) > 0
    are_closed[are_closed] = raw[ends[are_closed]] == _CLOSE
    raw[ends[are_closed]] = _NEWLINE
    offsets = pa.py_buffer(np.ascontiguousarray(bounds))
    return pa.Array.from_buffers(pa.binary(), len(texts), [None, offsets, pa.py_buffer(raw)]), are_closed


class EntityRows(NamedTuple):
    """The values of entities by column. `places` are those of the entities among all that were read, `fits`
    says which of them are ordinary and valid."""

    places: Indexes
    columns: Mapping[str, pa.Array]
    fits: Mask


class EntityReader:
    """Reads entities of one schema into the columns of its table."""

    def __init__(self, projection: EntityProjection, builder: TableBuilder, schema: pa.Schema) -> None:
        assert builder.table is not None
        self.projection, self.builder = projection, builder
        self.columns = {column.name: builder.table.columns[column.name] for column in projection.columns}
        self.reader = StrictReader(schema, (), _MIN_SPLIT, _MAX_MISSES)
        self.tried = self.fitting = 0

    @property
    def is_worthwhile(self) -> bool:
        """Whether most entities are ordinary, as far as is known."""
        return self.tried < _TRIAL_ENTITIES or self.fitting >= _MIN_SHARE * self.tried

    def read(self, lines: pa.BinaryArray) -> EntityRows:
        """The values of entities; each line ends with a newline. Raises FastPathMiss."""
        read = self.reader.read(lines, np.arange(len(lines)))
        fits: Mask = np.ones(len(read.lines), np.bool_)
        self.tried += len(lines)
        if not len(fits):
            return EntityRows(read.lines, {}, fits)
        is_all = len(fits) == len(lines) and bool((np.diff(read.lines) == 1).all())
        lines = lines if is_all else lines.take(pa.array(read.lines))
        values = dict(
            nodes((), read.records.schema, [single_chunk(column) for column in read.records.columns])
        )
        columns = {
            column.name: self._convert(column, values, lines, fits) for column in self.projection.columns
        }
        self._check(values, lines, fits)
        self.fitting += int(np.count_nonzero(fits))
        return EntityRows(read.lines, columns, fits)

    def _convert(
        self, column: EntityColumn, values: Mapping[Path, pa.Array], lines: pa.BinaryArray, fits: Mask
    ) -> pa.Array:
        array = values[column.paths[0]]
        if len(column.paths) > 1:
            array = pc.coalesce(*(values[path] for path in column.paths))
        target = self.columns[column.name]
        if array.null_count == len(array):
            return array
        return CONVERTERS[column.read_as, _data_type(target)](
            array, _Place(target, lines, column.paths[0][-1], fits)
        )

    def _check(self, values: Mapping[Path, pa.Array], lines: pa.BinaryArray, fits: Mask) -> None:
        """Clear `fits` for entities that are invalid."""
        is_valid, checks = self.projection.is_valid, self.projection.checks
        if is_valid is None:
            return
        unproven: Mask = np.ones(len(fits), np.bool_)
        if checks is not None:
            have_null = pc.match_substring(lines, b"null").to_numpy(zero_copy_only=False)
            unproven = unproven_rows(checks, values, have_null)
        rows = np.flatnonzero(unproven & fits)
        texts = lines.take(pa.array(rows)).to_pylist() if len(rows) else []
        fits[rows] = [is_valid(text.decode()) for text in texts]


def entity_reader(projection: EntityProjection, builder: TableBuilder) -> EntityReader | None:
    """The reader of entities of one schema; None where the table does not fit, or no reader can read them."""
    table = builder.table
    if table is None or not builder.in_schema or builder.verdict is not None or not projection.columns:
        return None
    types: dict[Path, pa.DataType] = {}
    if not all(_takes(table.columns.get(name), text) for name, text in projection.constants.items()):
        return None
    for column in projection.columns:
        target = table.columns.get(column.name)
        if target is None or target.data_type is None or (column.read_as, target.data_type) not in CONVERTERS:
            return None
        types.update(dict.fromkeys(column.paths, READ_AS[column.read_as]))
    keys = [key for path in types for key in {*path}]
    for column in projection.columns:
        if column.read_as == "double" and _data_type(table.columns[column.name]) != "double":
            [*others, path] = column.paths
            if others or keys.count(path[-1]) > 1:  # a number as it is written is looked for by its key
                return None
    schema = nested_schema(types)
    return None if schema is None else EntityReader(projection, builder, schema)


def _takes(column: Column | None, text: str) -> bool:
    """Whether a column takes a text as it is."""
    if column is None or column.data_type != "text":
        return False
    return column.precision is None or len(text) <= column.precision


class _Place(NamedTuple):
    """Where values go: their column, and which rows have ordinary ones. `key` is theirs in the lines."""

    column: Column
    lines: pa.BinaryArray
    key: str
    fits: Mask


def _store(values: pa.Array, place: _Place) -> pa.Array:
    return as_column(values, place.column, place.fits)


def _time(values: pa.Array, place: _Place) -> pa.Array:
    try:
        return _store(matching(values, _TIME, place.fits).cast(_STAMP), place)
    except pa.ArrowInvalid:
        raise FastPathMiss from None


def _date(values: pa.Array, place: _Place) -> pa.Array:
    return _store(matching(values, _DATE, place.fits), place)


def _integer_text(values: pa.Array, place: _Place) -> pa.Array:
    """Integers as they are written; a zero may have a sign."""
    is_zero = pc.equal(values, 0)
    if pc.any(is_zero).as_py():
        has_sign = pc.match_substring_regex(place.lines, ": *-0 *[,}]")
        place.fits[pc.fill_null(pc.and_(is_zero, has_sign), False).to_numpy(zero_copy_only=False)] = False
    return values.cast(pa.string())


def _double(values: pa.Array, place: _Place) -> pa.Array:
    is_finite = pc.is_finite(values)
    if pc.all(is_finite).as_py() is False:
        place.fits[~pc.fill_null(is_finite, True).to_numpy(zero_copy_only=False)] = False
    return _store(values, place)


def _number_text(values: pa.Array, place: _Place) -> pa.Array:
    """Numbers as they are written. Outside of texts, which hold no quote, a key comes before a colon."""
    pattern = rf"{quoted(place.key)} *: *(?P<number>-?[0-9][-+.0-9eE]*)"
    texts = pc.extract_regex(place.lines, pattern).flatten()[0].cast(pa.string())
    is_missing = pc.and_(values.is_valid(), pc.or_(texts.is_null(), pc.invert(pc.is_finite(values))))
    if pc.any(is_missing).as_py():
        place.fits[pc.fill_null(is_missing, True).to_numpy(zero_copy_only=False)] = False
    return texts


def _decimal(values: pa.Array, place: _Place) -> pa.Array:
    scale, precision = place.column.scale or 0, place.column.precision or 18
    fraction = rf"(?:\.[0-9]{{1,{scale}}})?" if scale else ""
    pattern = rf"^-?[0-9]{{1,{min(precision - scale, 30)}}}{fraction}$"
    return _store(matching(_number_text(values, place), pattern, place.fits), place)


def _flag_text(values: pa.Array, place: _Place) -> pa.Array:
    return pc.if_else(values, "1", "0")


def _data_type(column: Column) -> DataType:
    assert column.data_type is not None
    return column.data_type


CONVERTERS: Final[Mapping[tuple[DataType, DataType], Callable[[pa.Array, _Place], pa.Array]]] = {
    ("text", "text"): _store,
    ("text", "timestamp"): _time,
    ("text", "date"): _date,
    ("bigint", "bigint"): _store,
    ("bigint", "text"): _integer_text,
    ("double", "double"): _double,
    ("double", "decimal"): _decimal,
    ("double", "text"): _number_text,
    ("bool", "bool"): _store,
    ("bool", "text"): _flag_text,
}
"""By what values are read as, and the type of their column."""
