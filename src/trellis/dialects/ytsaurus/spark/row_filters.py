"""Filters of Spark on blocks of rows: on chunks by their keys, on row groups by the statistics of Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)

from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles, Slice
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.primitives import RANGES
from trellis.dialects.ytsaurus.yson.values import to_bytes

_FLOATS: Final = ("float", "double")
_COMPARABLE: Final = frozenset((*RANGES, *_FLOATS, "bool", "string", "utf8", "json", "uuid"))
"""Types whose stored values have the order of Spark's."""
_SECONDS: Final = ("datetime", "datetime64")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ValueRange:
    """What a block of rows has in a column. By default nothing is known."""

    low: Any = None
    """No value is less; None where the least is not known."""
    high: Any = None
    has_nulls: bool = True
    has_values: bool = True


@dataclass(frozen=True)
class ColumnFilter:
    """A filter on a column of a table; its values are comparable with those that are stored."""

    column: Column
    filter: Filter

    def may_pass(self, values: ValueRange) -> bool:
        """Whether a row of a block may pass."""
        match self.filter:
            case IsNull() | EqualNullSafe(_, None):
                return values.has_nulls
            case IsNotNull():
                return values.has_values
            case In(_, items):
                return values.has_values and any(_may_equal(values, item) for item in items)
        return values.has_values and _may_compare(self.filter, values)


def parse_filters(filters: Iterable[Filter], source: RowSource, view: TableSchema) -> list[ColumnFilter]:
    """The filters on columns of a table that tell blocks apart. Names are those of the view."""
    columns = {source.new_name(column.name): column for column in source.schema.columns}
    parsed = []
    for item in filters:
        path: Any = getattr(item, "attribute", ())
        column = columns.get(path[0]) if len(path) == 1 else None
        if column is None or column.type != view.by_name[path[0]].type:
            continue
        name = plain_name(column.type)
        if name is not None and name in _COMPARABLE:
            parsed.append(ColumnFilter(column, _with_stored_values(item, name)))
    return parsed


def select_slice(part: Slice, table: TableSchema, filters: Sequence[ColumnFilter]) -> bool:
    """Whether rows of a slice may pass, by the keys of its first and last row."""
    if not filters or part.first_key_yson is None or part.last_key_yson is None:
        return True
    ranges = _key_ranges(part, table)
    return all(item.may_pass(ranges.get(item.column.name, ValueRange())) for item in filters)


def select_row_groups(files: ChunkFiles, part: Slice, filters: Sequence[ColumnFilter]) -> list[Slice]:
    """The rows of a slice without the row groups that have none which passes."""
    if not filters:
        return [part]
    stored = {column.identity: stored_name(column) for column in part.chunk.schema.columns}
    with files.open(part.chunk) as file:
        groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
    runs: list[tuple[int, int]] = []
    for start, end, group in _numbered(groups, part):
        statistics = {group.column(index).path_in_schema: index for index in range(group.num_columns)}
        if not all(_may_group_pass(group, statistics, stored, item) for item in filters):
            continue
        if runs and runs[-1][1] == start:
            start = runs.pop()[0]
        runs.append((start, end))
    return [part.cut(start, end) for start, end in runs]


def _numbered(groups: Iterable[pq.RowGroupMetaData], part: Slice) -> Iterator[tuple[int, int, Any]]:
    """The row groups that have rows of a slice, and the numbers of these rows in the slice."""
    offset = -part.start
    for group in groups:
        start, end = max(offset, 0), min(offset + group.num_rows, part.rows)
        if start < end:
            yield start, end, group
        offset += group.num_rows


def _may_group_pass(
    group: Any, indices: Mapping[str, int], stored: Mapping[str, str], item: ColumnFilter
) -> bool:
    if item.column.identity not in stored:
        return item.may_pass(ValueRange(has_values=False))
    statistics = group.column(indices[stored[item.column.identity]]).statistics
    if statistics is None:
        return True
    values = ValueRange(
        has_nulls=not statistics.has_null_count or statistics.null_count > 0,
        has_values=not statistics.has_null_count or statistics.null_count < group.num_rows,
    )
    if statistics.has_min_max:
        values = _bounded(values, item.column, statistics.min, statistics.max)
    return item.may_pass(values)


def _key_ranges(part: Slice, table: TableSchema) -> dict[str, ValueRange]:
    """The values of the key columns, up to the first that differs between the first and the last row."""
    ranges = {}
    first, last = part.first_key or (), part.last_key or ()
    for index, column in enumerate(table.key_columns):
        # A key column that was added since is null.
        ends = [key[index] if index < len(key) else None for key in (first, last)]
        low, high = ends if column.sort_order == "ascending" else ends[::-1]
        values = ValueRange(has_nulls=low is None, has_values=high is not None)
        ranges[column.name] = _bounded(values, column, low, high)
        if low != high:
            break
    return ranges


def _bounded(values: ValueRange, column: Column, low: Any, high: Any) -> ValueRange:
    if plain_name(column.type) in _FLOATS:
        high = None  # NaN is greater than all, and statistics pass over it
    return replace(values, low=_comparable(low), high=_comparable(high))


def _may_equal(values: ValueRange, item: Any) -> bool:
    if item is None or (values.low is not None and values.low > item):
        return False
    return not (values.high is not None and values.high < item)


def _may_compare(item: Filter, values: ValueRange) -> bool:
    low, high = values.low, values.high
    match item:
        case EqualTo(_, value) | EqualNullSafe(_, value):
            return _may_equal(values, value)
        case LessThan(_, value):
            return not (low is not None and low >= value)
        case LessThanOrEqual(_, value):
            return not (low is not None and low > value)
        case GreaterThan(_, value):
            return not (high is not None and high <= value)
        case GreaterThanOrEqual(_, value):
            return not (high is not None and high < value)
        case StringStartsWith(_, value):
            starts_later = low is not None and low[: len(value)] > value
            return not starts_later and not (high is not None and high < value)
    return True


def _with_stored_values(item: Filter, name: str) -> Filter:
    """The filter with values as a column of a type stores them."""
    value = getattr(item, "value", None)
    if value is None:
        return item
    if isinstance(item, In):
        return replace(item, value=tuple(_stored_value(part, name) for part in item.value))
    return replace(item, value=_stored_value(value, name))  # type: ignore[call-arg]


def _stored_value(value: Any, name: str) -> Any:
    if isinstance(value, datetime):
        micros = (value - _EPOCH) // timedelta(microseconds=1)
        return Fraction(micros, 1_000_000) if name in _SECONDS else micros
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    return int(value) if isinstance(value, Decimal) else _comparable(value)


def _comparable(value: Any) -> Any:
    return to_bytes(value) if isinstance(value, str) else value
