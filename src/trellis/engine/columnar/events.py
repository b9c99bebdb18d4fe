"""Records of one sort -> rows, many at a time, where nothing about them is special.

Arrow reads the lines under a schema made from the recipe and the types of the columns; it is strict, so what
it reads holds only what the recipe allows. What it does not look at is looked at here: text that is a time,
or nothing but white space. Everything else is left to the exact way (`spread.py`), which is the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.layout import CLASSES
from trellis.engine.columnar.misfits import beginnings, misfit_pattern
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of
from trellis.evolution.recipe import Constant, First, Moment, Path, Recipe, Rows, Shifted, Source
from trellis.schema.model import Column, DataType

Arrays = Mapping[Path, pa.Array]
Mask = npt.NDArray[np.bool_]
Seen = Mapping[Path, pa.DataType]

_READ: Final[Mapping[DataType, pa.DataType]] = {
    "text": pa.string(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.string(),
}
_TIME: Final = r"^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$"
_STAMP: Final = pa.timestamp("us", "UTC")
_FIRST, _LAST = (int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000 for year in (2, 9999))
SAMPLE: Final = 16
"""Lines that are looked at together for their types."""
_DASH: Final = 4
"""Where a text that is a time has its first dash."""


@dataclass(frozen=True)
class ProjectedColumns:
    """A recipe with the tables it is for.

    `schema` is what the lines must look like, `misfits` are patterns of those that do not.
    """

    recipe: Recipe
    builders: tuple[TableBuilder, ...]
    schema: pa.Schema
    misfits: tuple[str, ...]
    leaves: tuple[Mapping[Path, Column], ...]
    times: frozenset[Path]
    empty: frozenset[Path]
    """Where something may stand that is blank."""

    def relearned(self) -> ProjectedColumns:
        """The same with the patterns for what was met by now."""
        return replace(self, misfits=tuple(self._misfits()))

    def _misfits(self) -> Iterator[str]:
        """The patterns of lines with values of classes that their column does not take as they are."""
        for leaves, builder in zip(self.leaves, self.builders, strict=True):
            for path, column in leaves.items():
                binding = builder.bindings.get(column.name)
                accepted = CLASSES[_READ[_type(column)]]
                others = [each for each in binding.classes if each not in accepted] if binding else []
                for begins in beginnings(others, accepted):
                    yield misfit_pattern(path[-1], path[-2] if len(path) > 1 else None, begins)

    def rows(
        self, records: pa.Table, lines: Sequence[bytes], id_generator: RowIdGenerator
    ) -> tuple[list[TableBatch], int]:
        """The batches of records that were read, and how many of them are odd.

        Raises FastPathMiss, or SpecialRows where these are known.
        """
        arrays = _flat((), records.schema, [_one(column) for column in records.columns])
        special: Mask = np.zeros(records.num_rows, np.bool_)
        values = {path: self._clean(path, array, lines, special) for path, array in arrays}
        for path in self.recipe.required:
            _mark(special, pc.is_null(values[path]))
        if special.any():
            raise SpecialRows(np.flatnonzero(special).tolist())
        ready = _Ready(self, values)
        batches = [
            ready.batch(rows, builder, leaves, id_generator)
            for rows, builder, leaves in zip(self.recipe.rows, self.builders, self.leaves, strict=True)
        ]
        ready.check(batches[0])
        return [batch for batch in batches if batch.rows], ready.odd()

    def _clean(self, path: Path, array: pa.Array, lines: Sequence[bytes], special: Mask) -> pa.Array:
        """The values at a path as they are stored; rows that need the exact way are marked as special."""
        if pa.types.is_list(array.type):
            return _lists(path, array, lines, self.recipe.list_text)
        if not pa.types.is_string(array.type):
            if pa.types.is_floating(array.type) and pc.all(pc.is_finite(array)).as_py() is False:
                _mark(special, pc.invert(pc.is_finite(array)))
            return array
        array = _without_blanks(array)
        if path in self.empty and array.null_count < len(array):
            _mark(special, pc.is_valid(array))
        if path in self.times:
            return _moments(array, self.recipe.time_of, special)
        _mark_special(array, self.recipe.is_plain, self.recipe.longest, special)
        return array


def prepare(recipe: Recipe, walk_of: Callable[[str], TableBuilder], seen: Seen) -> ProjectedColumns | None:
    """The recipe made ready for the tables as they are; None where they do not suit it.

    `seen` are the types of what stands in some of the records: it tells lists, and what is never filled.
    """
    builders = tuple(walk_of(rows.table) for rows in recipe.rows)
    if any(
        not builder.in_schema or builder.verdict is not None or builder.table is None for builder in builders
    ):
        return None
    texts = {*recipe.texts, *recipe.same}
    kinds: dict[Path, DataType] = {}
    unfit = {*texts, *recipe.flags}
    for rows, builder in zip(recipe.rows, builders, strict=True):
        if not _suits(rows, builder):
            return None
        for path, name in rows.leaves.items():
            column = _column(builder, name)
            if column is None or kinds.setdefault(path, _type(column)) != _type(column):
                unfit.add(path)
    kinds = {path: kind for path, kind in kinds.items() if path not in unfit and kind in _READ}
    types = {path: _READ[kind] for path, kind in kinds.items()}
    types.update({path: seen[path] for path in seen if kinds.get(path) == "text" and _is_list(seen[path])})
    types.update(dict.fromkeys(texts, pa.string()))
    types.update(dict.fromkeys(recipe.flags, pa.bool_()))
    times = {path for path, kind in kinds.items() if kind == "timestamp"}
    times.update(path for rows in recipe.rows for each in rows.columns.values() for path in _times(each))
    leaves = tuple(
        {
            path: builder.table.columns[name]
            for path, name in rows.leaves.items()
            if path in kinds and builder.table
        }
        for rows, builder in zip(recipe.rows, builders, strict=True)
    )
    empty = {path for path, type_ in seen.items() if _is_empty(type_) and _fits_beside(path, types)}
    types.update({path: seen[path] if pa.types.is_struct(seen[path]) else pa.string() for path in empty})
    schema = _schema(types)
    if schema is None:
        return None
    by = ProjectedColumns(recipe, builders, schema, (), leaves, frozenset(times), frozenset(empty))
    return by.relearned()


def seen_in(lines: Sequence[bytes]) -> Seen:
    """The types of what stands in some lines: null where all is blank, none where they are mixed."""
    found: dict[Path, pa.DataType | None] = {}
    for start in range(0, len(lines), SAMPLE):
        data = b"\n".join(lines[start : start + SAMPLE]) + b"\n"
        try:
            read = pj.read_json(pa.BufferReader(data), pj.ReadOptions(use_threads=False))
        except (pa.ArrowException, UnicodeDecodeError):
            continue
        for path, type_ in _seen((), read.schema, [_one(column) for column in read.columns]):
            known = found.setdefault(path, type_)
            if known is not None and known != type_:
                found[path] = _both(known, type_)
    return {path: type_ for path, type_ in found.items() if type_ is not None}


def _both(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds what both hold."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_list(one) and pa.types.is_list(other):
        inner = _both(one.value_type, other.value_type)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {each.name: each.type for each in one}
        for each in other:
            inner = _both(fields[each.name], each.type) if each.name in fields else each.type
            if inner is None:
                return None
            fields[each.name] = inner
        return pa.struct(list(fields.items()))
    numbers = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in (one, other))
    return pa.float64() if numbers else None


def _seen(above: Path, fields: Any, arrays: list[pa.Array]) -> Iterator[tuple[Path, pa.DataType]]:
    for at, array in enumerate(arrays):
        path = (*above, fields.field(at).name)
        if pa.types.is_struct(array.type) and array.type.num_fields:
            yield from _seen(path, array.type, array.flatten())
        elif pa.types.is_string(array.type) and not pc.max(pc.binary_length(array)).as_py():
            yield path, pa.null()
        else:
            yield path, _read_as(array.type)


def _read_as(type_: pa.DataType) -> pa.DataType:
    """The type without what Arrow makes of texts."""
    if pa.types.is_timestamp(type_):
        return pa.string()
    if pa.types.is_list(type_):
        return pa.list_(_read_as(type_.value_type))
    if pa.types.is_struct(type_):
        fields = (type_.field(at) for at in range(type_.num_fields))
        return pa.struct([pa.field(each.name, _read_as(each.type)) for each in fields])
    return type_


def _is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_))


def _is_empty(type_: pa.DataType) -> bool:
    """Whether it is the type of what was never filled."""
    return bool(pa.types.is_null(type_) or pa.types.is_struct(type_))


def _fits_beside(path: Path, types: Mapping[Path, pa.DataType]) -> bool:
    """Whether no known path is this one, the beginning of it, or goes on from it."""
    return not any(path[: len(other)] == other or other[: len(path)] == path for other in types)


def _type(column: Column) -> DataType:
    assert column.data_type is not None
    return column.data_type


def _suits(rows: Rows, builder: TableBuilder) -> bool:
    """Whether the dialect's own columns are there with the types that a recipe gives."""
    for name, source in rows.columns.items():
        column = _column(builder, name)
        wanted = "timestamp" if isinstance(source, (Moment, Shifted)) else "text"
        if column is not None and column.data_type != wanted:
            return False
    return True


def _column(builder: TableBuilder, name: str) -> Column | None:
    assert builder.table is not None
    column = builder.table.columns.get(name)
    if column is None or column.required or column.precision is not None:
        return None
    return column if column.complete else None


def _times(source: Source) -> tuple[Path, ...]:
    match source:
        case Moment(paths):
            return paths
        case Shifted(path, base, plus, minus):
            return (path, *base.paths, *plus.paths, *minus.paths)
        case _:
            return ()


def _schema(types: Mapping[Path, pa.DataType]) -> pa.Schema | None:
    """Nested as the paths are; None where one path is the beginning of another."""
    tree: dict[str, Any] = {}
    for path, type_ in types.items():
        place = tree
        for key in path[:-1]:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                return None
        if path[-1] in place:
            return None
        place[path[-1]] = type_
    return pa.schema(_fields(tree))


def _fields(tree: Mapping[str, Any]) -> list[pa.Field]:
    return [
        pa.field(key, pa.struct(_fields(inner)) if isinstance(inner, dict) else inner)
        for key, inner in tree.items()
    ]


def _flat(above: Path, fields: Any, arrays: list[pa.Array]) -> Iterator[tuple[Path, pa.Array]]:
    for at, array in enumerate(arrays):
        path = (*above, fields.field(at).name)
        if pa.types.is_struct(array.type):
            yield from _flat(path, array.type, array.flatten())
        else:
            yield path, array


class _Ready:
    """The values of some records, by their paths: texts without blanks, times as times."""

    def __init__(self, by: ProjectedColumns, values: Arrays) -> None:
        self.by = by
        self.values = values
        self.size = len(next(iter(values.values())))

    def batch(
        self, rows: Rows, builder: TableBuilder, leaves: Mapping[Path, Column], id_generator: RowIdGenerator
    ) -> TableBatch:
        table = builder.table
        assert table is not None
        made = {name: self._source(source) for name, source in rows.columns.items()}
        for path, column in leaves.items():
            array = self.values[path]
            other = made.get(column.name)
            made[column.name] = array if other is None else _either(other, array)
        chosen = None
        if rows.where is not None:
            there = pc.is_valid(self.values[rows.where])
            chosen = None if pc.all(there).as_py() else there
        size = self.size if chosen is None else int(pc.sum(chosen).as_py() or 0)
        batch = TableBatch(builder.name, size)
        for name, array in made.items():
            if array.null_count == len(array):
                continue
            known = _column(builder, name)
            if known is None:
                raise FastPathMiss
            fitted = array if chosen is None else array.filter(chosen)
            batch.columns[name] = fitted.cast(arrow_type(known))
        for name, values in id_generator.root(builder.place, builder.keys, size, (), None).items():
            if name not in table.columns:
                raise FastPathMiss
            batch.columns[name] = array_of(table, table.columns[name], values)
        return batch

    def check(self, batch: TableBatch) -> None:
        """Raises FastPathMiss where a text does not repeat what a column says."""
        for path, column in self.by.recipe.same.items():
            said = self.values[path]
            if said.null_count == len(said):
                continue
            known = batch.columns.get(column)
            if known is None or pc.all(pc.equal(said, known.cast(said.type)), min_count=0).as_py() is False:
                raise FastPathMiss
            if pc.any(pc.and_(pc.is_valid(said), pc.is_null(known)), min_count=0).as_py():
                raise FastPathMiss

    def odd(self) -> int:
        if self.by.recipe.early is None:
            return 0
        first, second = (self._source(moment) for moment in self.by.recipe.early)
        return int(pc.sum(pc.less(first, second)).as_py() or 0)

    def _source(self, source: Source) -> pa.Array:
        match source:
            case Constant(value):
                return pa.repeat(pa.scalar(value, pa.string()), self.size)
            case First(paths) | Moment(paths):
                there = [self.values[path] for path in paths if path in self.values]
                if not there:
                    return pa.nulls(self.size, pa.string())
                return there[0] if len(there) == 1 else pc.coalesce(*there)
            case Shifted(path, base, plus, minus):
                return self._shifted(self.values[path], base, plus, minus)

    def _shifted(self, said: pa.Array, base: Moment, plus: Moment, minus: Moment) -> pa.Array:
        if not said.null_count:
            return said
        start, more, less = (self._source(each).cast(pa.int64()) for each in (base, plus, minus))
        moved = pc.subtract(start, pc.subtract(less, more))
        bounds = pc.min_max(moved).as_py()
        if bounds["min"] is not None and (bounds["min"] < _FIRST or bounds["max"] >= _LAST):
            raise FastPathMiss
        return pc.coalesce(said, moved.cast(_STAMP))


def _either(one: pa.Array, other: pa.Array) -> pa.Array:
    """Of two keys of one column the one that is there. Raises FastPathMiss where both are."""
    if pc.any(pc.and_(pc.is_valid(one), pc.is_valid(other))).as_py():
        raise FastPathMiss
    return pc.coalesce(one, other)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _without_blanks(array: pa.Array) -> pa.Array:
    lengths = pc.binary_length(array)
    if pc.min(lengths).as_py() != 0:
        return array
    return pc.if_else(pc.equal(lengths, 0), pa.scalar(None, pa.string()), array)


def _mark(special: Mask, rows: pa.Array) -> None:
    """Mark the rows for which an array is true."""
    special |= pc.fill_null(rows, False).to_numpy(zero_copy_only=False)


def _moments(array: pa.Array, time_of: Callable[[str], datetime | None], special: Mask) -> pa.Array:
    """Texts of the common shape all at once, of others one by one; those that are no times are special."""
    if array.null_count == len(array):
        return pa.nulls(len(array), _STAMP)
    odd = pc.fill_null(pc.invert(pc.match_substring_regex(array, _TIME)), False)
    others: list[datetime | None] = []
    if pc.any(odd).as_py():
        others = [time_of(text) for text in array.filter(odd).to_pylist()]
        special[np.flatnonzero(odd.to_numpy(zero_copy_only=False))[[each is None for each in others]]] = True
        array = pc.if_else(odd, pa.scalar(None, pa.string()), array)
    try:
        made = pc.floor_temporal(array.cast(_STAMP), unit="millisecond")
    except pa.ArrowException:
        raise FastPathMiss from None
    return pc.replace_with_mask(made, odd, pa.array(others, _STAMP)) if others else made


def _lists(
    path: Path, array: pa.Array, lines: Sequence[bytes], list_text: Callable[[list[Any]], str | None]
) -> pa.Array:
    """The lists as text. Where a key of an object may be absent or null, its line is read once more."""
    lists = array.to_pylist()
    if _has_gaps(pc.list_flatten(array)):
        for at, each in enumerate(lists):
            if each is not None:
                lists[at] = _at(orjson.loads(lines[at]), path)
    return pa.array([None if each is None else list_text(each) for each in lists], pa.string())


def _at(record: Any, path: Path) -> Any:
    for key in path:
        record = record[key]
    return record


def _has_gaps(values: pa.Array) -> bool:
    if pa.types.is_list(values.type):
        return _has_gaps(pc.list_flatten(values))
    if not pa.types.is_struct(values.type):
        return False
    if values.null_count:
        return True
    inner = values.flatten()
    return any(each.null_count or _has_gaps(each) for each in inner)


def _mark_special(
    array: pa.Array, is_plain: Callable[[str], bool], longest: int | None, marked: Mask
) -> None:
    """Marks the rows in which a text is a time, white space alone, or too long."""
    if array.null_count == len(array):
        return
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    starts, lengths = bounds[:-1], np.diff(bounds)
    if longest is not None:
        marked |= lengths > longest
    raw = np.frombuffer(content, np.uint8)
    filled = lengths > 0
    first = raw[starts[filled]]
    special = np.zeros(len(starts), np.bool_)
    special[filled] = (first <= ord(" ")) | (first > ord("~"))
    long = lengths > _DASH
    special[long] |= raw[starts[long] + _DASH] == ord("-")
    places = np.flatnonzero(special)
    if len(places):
        texts = array.take(pa.array(places)).to_pylist()
        marked[places[[text is not None and not is_plain(text) for text in texts]]] = True
