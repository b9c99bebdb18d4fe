"""Records of one event type -> rows, many at a time, where no value needs special treatment.

A projection is compiled for the columns that its tables have: then it says which values under which keys need
no special treatment. Everything else is left to the exact path (`exact/routed_rows.py`), which is the
definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.layout import ACCEPTED_CLASSES, READ_AS
from trellis.engine.columnar.misfits import misfit_pattern, value_starts
from trellis.engine.columnar.paths import nested_schema
from trellis.engine.columnar.sampled_types import TypesByPath
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of
from trellis.evolution.projection import Constant, First, Moment, Path, Projection, Shifted, Source, TableRows
from trellis.schema.model import Column, DataType

Arrays = Mapping[Path, pa.Array]
_READ_AS: Final[Mapping[DataType, pa.DataType]] = {
    kind: type_ for kind, type_ in READ_AS.items() if kind != "date"
}
"""What Arrow reads the values of a column as; dates take the exact path."""
_STAMP: Final = pa.timestamp("us", "UTC")
_FIRST_MICROSECOND, _LAST_MICROSECOND = (
    int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000 for year in (2, 9999)
)


@dataclass(frozen=True)
class CompiledProjection:
    """A projection with the tables of its rows.

    Records have `types` by path; `misfits` are patterns of lines that do not.
    """

    projection: Projection
    builders: tuple[TableBuilder, ...]
    types: TypesByPath
    misfits: tuple[str, ...]
    leaves: tuple[Mapping[Path, Column], ...]
    times: frozenset[Path]
    empty: frozenset[Path]
    """Paths that were blank in every sampled record."""

    def with_current_misfits(self) -> CompiledProjection:
        """The same with patterns of all values met so far."""
        return replace(self, misfits=tuple(self._misfits()))

    def _misfits(self) -> Iterator[str]:
        """The patterns of lines with values that their column does not take unchanged."""
        for leaves, builder in zip(self.leaves, self.builders, strict=True):
            for path, column in leaves.items():
                binding = builder.bindings.get(column.name)
                accepted = ACCEPTED_CLASSES[_READ_AS[_type(column)]]
                misfits = [class_ for class_ in binding.classes if class_ not in accepted] if binding else []
                for value_start in value_starts(misfits, accepted):
                    yield misfit_pattern(path[-1], path[-2] if len(path) > 1 else None, value_start)

    @cached_property
    def filled_paths(self) -> Set[Path]:
        """The paths under which its records may have a value, and those of the objects that these are in."""
        objects = _parents(self.types)
        empty_objects = {path for path in self.empty if pa.types.is_struct(self.types[path])}
        return objects | empty_objects | (self.types.keys() - self.empty)

    def build_batches(self, values: Arrays, id_generator: RowIdGenerator) -> tuple[list[TableBatch], int]:
        """The batches of records of which the stored values are known by path, and how many of them call for
        a warning. The origins of rows are the indexes of the records.

        Raises FastPathMiss, or SpecialRows where these are known.
        """
        for path in self.projection.required:
            if values[path].null_count:
                raise special_rows(pc.is_null(values[path]))
        projector = _Projector(self, values)
        batches = [
            projector.build_batch(rows, builder, leaves, id_generator)
            for rows, builder, leaves in zip(self.projection.rows, self.builders, self.leaves, strict=True)
        ]
        projector.check_equal_texts(batches[0])
        return [batch for batch in batches if batch.rows], projector.warning_count()


def compile_projection(
    projection: Projection, walk_of: Callable[[str], TableBuilder], sample_types: TypesByPath
) -> CompiledProjection | None:
    """A projection compiled for the current tables; None where they do not fit it.

    `sample_types` are the types of values in some records: they show lists, and what is never filled.
    """
    builders = tuple(walk_of(rows.table) for rows in projection.rows)
    if any(
        not builder.in_schema or builder.verdict is not None or builder.table is None for builder in builders
    ):
        return None
    text_paths = {*projection.texts, *projection.same}
    kinds: dict[Path, DataType] = {}
    unfit_paths = {*text_paths, *projection.flags}
    for rows, builder in zip(projection.rows, builders, strict=True):
        if not _has_expected_types(rows, builder):
            return None
        for path, name in rows.leaves.items():
            column = _column(builder, name)
            if column is None or kinds.setdefault(path, _type(column)) != _type(column):
                unfit_paths.add(path)
    kinds = {path: kind for path, kind in kinds.items() if path not in unfit_paths and kind in _READ_AS}
    types = {path: _READ_AS[kind] for path, kind in kinds.items()}
    types.update(
        {
            path: sample_types[path]
            for path in sample_types
            if kinds.get(path) == "text" and _is_list(sample_types[path])
        }
    )
    types.update(dict.fromkeys(text_paths, pa.string()))
    types.update(dict.fromkeys(projection.flags, pa.bool_()))
    time_paths = {path for path, kind in kinds.items() if kind == "timestamp"}
    time_paths.update(
        path for rows in projection.rows for source in rows.columns.values() for path in _time_paths(source)
    )
    leaves = tuple(
        {
            path: builder.table.columns[name]
            for path, name in rows.leaves.items()
            if path in kinds and builder.table
        }
        for rows, builder in zip(projection.rows, builders, strict=True)
    )
    objects = _parents(types)
    empty_paths = {
        path
        for path, type_ in sample_types.items()
        if _is_empty(type_)
        and path not in types
        and path not in objects
        and _parents([path]).isdisjoint(types)
    }
    types.update(
        {
            path: sample_types[path] if pa.types.is_struct(sample_types[path]) else pa.string()
            for path in empty_paths
        }
    )
    if nested_schema(types) is None:
        return None
    compiled = CompiledProjection(
        projection, builders, types, (), leaves, frozenset(time_paths), frozenset(empty_paths)
    )
    return compiled.with_current_misfits()


def _is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_))


def _is_empty(type_: pa.DataType) -> bool:
    """Whether it is the type of values that are all blank or empty."""
    return bool(pa.types.is_null(type_) or pa.types.is_struct(type_))


def _parents(paths: Iterable[Path]) -> set[Path]:
    """The paths of the objects that values are in."""
    return {path[:depth] for path in paths for depth in range(1, len(path))}


def _type(column: Column) -> DataType:
    assert column.data_type is not None
    return column.data_type


def _has_expected_types(rows: TableRows, builder: TableBuilder) -> bool:
    """Whether existing system columns have the types that the projection gives them."""
    for name, source in rows.columns.items():
        column = _column(builder, name)
        expected_type = "timestamp" if isinstance(source, (Moment, Shifted)) else "text"
        if column is not None and column.data_type != expected_type:
            return False
    return True


def _column(builder: TableBuilder, name: str) -> Column | None:
    assert builder.table is not None
    column = builder.table.columns.get(name)
    if column is None or column.required or column.precision is not None:
        return None
    return column if column.complete else None


def _time_paths(source: Source) -> tuple[Path, ...]:
    match source:
        case Moment(paths):
            return paths
        case Shifted(path, base, plus, minus):
            return (path, *base.paths, *plus.paths, *minus.paths)
        case _:
            return ()


class _Projector:
    """Builds batches from the values of some records by path: texts without blanks, times as times."""

    def __init__(self, compiled: CompiledProjection, values: Arrays) -> None:
        self.compiled = compiled
        self.values = values
        self.size = len(next(iter(values.values())))
        self.by_source: dict[Source, pa.Array] = {}

    def build_batch(
        self,
        rows: TableRows,
        builder: TableBuilder,
        leaves: Mapping[Path, Column],
        id_generator: RowIdGenerator,
    ) -> TableBatch:
        table = builder.table
        assert table is not None
        columns = {name: self._values_of(source) for name, source in rows.columns.items()}
        for path, column in leaves.items():
            array = self.values[path]
            same_column = columns.get(column.name)
            columns[column.name] = array if same_column is None else _coalesce_exclusive(same_column, array)
        selected = None
        if rows.where is not None:
            is_present = pc.is_valid(self.values[rows.where])
            selected = None if pc.all(is_present).as_py() else is_present
        size = self.size if selected is None else int(pc.sum(selected).as_py() or 0)
        origins = np.arange(self.size)
        if selected is not None:
            origins = np.flatnonzero(selected.to_numpy(zero_copy_only=False))
        batch = TableBatch(builder.name, size, origins=origins)
        for name, array in columns.items():
            if array.null_count == len(array):
                continue
            stored = array if selected is None else array.filter(selected)
            schema_column = _column(builder, name)
            if schema_column is None:
                if stored.null_count == len(stored):
                    continue
                raise special_rows(pc.is_valid(array))
            type_ = arrow_type(schema_column)
            batch.columns[name] = stored if stored.type == type_ else stored.cast(type_)
        for name, values in id_generator.root_columns(builder.place, builder.keys, size, (), None).items():
            if name not in table.columns:
                raise FastPathMiss
            batch.columns[name] = array_of(table, table.columns[name], values)
        return batch

    def check_equal_texts(self, batch: TableBatch) -> None:
        """Raises SpecialRows where a text differs from the column that it has to equal."""
        for path, column in self.compiled.projection.same.items():
            texts = self.values[path]
            if texts.null_count == len(texts):
                continue
            stored = batch.columns.get(column, pa.nulls(len(texts), pa.string())).cast(texts.type)
            differs = pc.and_(pc.is_valid(texts), pc.invert(pc.fill_null(pc.equal(texts, stored), False)))
            if pc.any(differs, min_count=0).as_py():
                raise special_rows(differs)

    def warning_count(self) -> int:
        if self.compiled.projection.early is None:
            return 0
        first, second = (self._values_of(moment) for moment in self.compiled.projection.early)
        return int(pc.sum(pc.less(first, second)).as_py() or 0)

    def _values_of(self, source: Source) -> pa.Array:
        if source not in self.by_source:
            self.by_source[source] = self._build(source)
        return self.by_source[source]

    def _build(self, source: Source) -> pa.Array:
        match source:
            case Constant(value):
                return pa.repeat(pa.scalar(value, pa.string()), self.size)
            case First(paths) | Moment(paths):
                arrays = [self.values[path] for path in paths if path in self.values]
                if not arrays:
                    return pa.nulls(self.size, pa.string())
                return arrays[0] if len(arrays) == 1 else pc.coalesce(*arrays)
            case Shifted(path, base, plus, minus):
                return self._shifted(self.values[path], base, plus, minus)

    def _shifted(self, array: pa.Array, base: Moment, plus: Moment, minus: Moment) -> pa.Array:
        if not array.null_count:
            return array
        start, more, less = (self._values_of(moment).cast(pa.int64()) for moment in (base, plus, minus))
        shifted = pc.subtract(start, pc.subtract(less, more))
        bounds = pc.min_max(shifted).as_py()
        if bounds["min"] is not None and (
            bounds["min"] < _FIRST_MICROSECOND or bounds["max"] >= _LAST_MICROSECOND
        ):
            raise special_rows(
                pc.or_(pc.less(shifted, _FIRST_MICROSECOND), pc.greater_equal(shifted, _LAST_MICROSECOND))
            )
        return pc.coalesce(array, shifted.cast(_STAMP))


def _coalesce_exclusive(left: pa.Array, right: pa.Array) -> pa.Array:
    """The values of two keys of one column. Raises SpecialRows where a record has both."""
    has_both = pc.and_(pc.is_valid(left), pc.is_valid(right))
    if pc.any(has_both, min_count=0).as_py():
        raise special_rows(has_both)
    return pc.coalesce(left, right)


def special_rows(are_special: pa.Array) -> SpecialRows:
    rows = pc.fill_null(are_special, False).to_numpy(zero_copy_only=False)
    return SpecialRows(np.flatnonzero(rows).tolist())
