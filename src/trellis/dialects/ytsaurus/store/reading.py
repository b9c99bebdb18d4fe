"""Rows read from tables: ranges resolved to row numbers, chunks opened only where they hold some."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.inference.operations import InputTable
from trellis.dialects.ytsaurus.paths.ranges import MIN, Limit, RowRange, Sentinel
from trellis.dialects.ytsaurus.paths.rich_path import RichPath, parse_path
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.catalog import TableInfo
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles, Key, Slice
from trellis.dialects.ytsaurus.store.key_search import encode_bound, find_key
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.dialects.ytsaurus.types.simple import simple_type
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.primitives import RANGES, wire_kind
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, Uint64, kind_of

_BEFORE_ALL, _AFTER_ALL = b"\x00", b"\xff"


@dataclass(frozen=True)
class TableVersion:
    """A table as it was when reading began. Its chunks never change."""

    info: TableInfo
    slices: tuple[Slice, ...]
    files: ChunkFiles

    @property
    def row_count(self) -> int:
        return sum(part.rows for part in self.slices)

    def read_rows(self, start: int, end: int, columns: Sequence[str] | None = None) -> Iterator[Row]:
        for part in self.cut(start, end):
            yield from self.files.read_rows(part, self.info.schema, columns)

    def cut(self, start: int, end: int) -> Iterator[Slice]:
        """The parts of chunks that hold these rows, without their keys where they were cut."""
        offset = 0
        for part in self.slices:
            first, last = max(start - offset, 0), min(end - offset, part.rows)
            if first < last:
                yield part.cut(first, last)
            offset += part.rows

    def with_keys(self, part: Slice) -> Slice:
        """The slice with the keys of its first and last row, read where they are not known."""
        names = [key.name for key in self.info.schema.keys]
        if not names:
            return part.without_keys()

        def key_of(row: int) -> Key:
            (values,) = self.files.read_rows(part.cut(row, row + 1), self.info.schema, names)
            return tuple(values[name] for name in names)

        if part.first_key_yson is None:
            part = part.with_keys(first=key_of(0))
        return part if part.last_key_yson is not None else part.with_keys(last=key_of(part.rows - 1))

    def intervals(self, ranges: Sequence[RowRange] | None) -> list[tuple[int, int]]:
        """First and last row (exclusive) of each range, in their order. Raises YtError."""
        if ranges is None:
            return [(0, self.row_count)]
        if not self.info.schema.is_sorted and any(part.has_keys for part in ranges):
            raise YtError(
                f"{self.info.path} is not sorted, so it has no ranges of keys; use row numbers: [#0:#10]"
            )
        return [self._interval(part) for part in ranges]

    def _interval(self, part: RowRange) -> tuple[int, int]:
        count = self.row_count
        if not part.exact.is_open:
            start = self._position(part.exact, 0, after=False)
            end = self._position(part.exact, 0, after=True)
        else:
            start = self._position(part.lower, 0, after=False)
            end = self._position(part.upper, count, after=False)
        start = min(max(start, 0), count)
        return start, max(min(end, count), start)

    def _position(self, limit: Limit, default: int, *, after: bool) -> int:
        """The row that a limit stands before; with `after`, the one after all rows that it means."""
        if limit.row_index is not None and limit.key is not None:
            raise YtError(f"a limit of {self.info.path} has both a row number and a key")
        if limit.row_index is not None:
            return limit.row_index + after
        if limit.key is None:
            return default
        return self._key_position(self._bound(limit.key) + (_AFTER_ALL if after else b""))

    def _bound(self, key: Key) -> bytes:
        orders = [column.sort_order for column in self.info.schema.keys]
        columns = self.info.schema.key_columns
        encoded = b""
        for index, part in enumerate(key):
            if isinstance(part, Sentinel):
                encoded += _BEFORE_ALL if part == MIN else _AFTER_ALL
                continue
            value = _convert(part, columns[index]) if index < len(columns) else part
            encoded += encode_key([value], orders[index : index + 1])
        return encoded

    def _key_position(self, bound: bytes) -> int:
        """The first row whose key is not before the bound. Opens at most one chunk."""
        keys = self.info.schema.keys
        index = bisect_left(self.slices, bound, key=lambda part: encode_bound(part.last_key, keys))
        offset = sum(part.rows for part in self.slices[:index])
        if index == len(self.slices) or encode_bound(self.slices[index].first_key, keys) >= bound:
            return offset
        return offset + find_key(self.files, self.slices[index], self.info.schema, keys, bound)


@dataclass(frozen=True)
class TableSource:
    """A table as a rich path says it: columns, ranges, new names."""

    version: TableVersion
    path: RichPath

    @property
    def input_table(self) -> InputTable:
        info = self.version.info
        columns = None if self.path.columns is None else frozenset(self.path.columns)
        return InputTable(info.schema, info.mode, info.path, columns, self.path.rename_columns or {})

    @property
    def row_source(self) -> RowSource:
        version, path = self.version, self.path
        return RowSource(
            version.files, version.info.schema, path.columns, path.rename_columns or {}, version.info.path
        )

    @property
    def schema(self) -> TableSchema:
        """The columns that are read. Of those that the table does not declare, each that is chosen is any."""
        schema = self.input_table.filtered
        chosen = () if self.path.columns is None or schema.strict else self.path.columns
        undeclared = (Column(name, ANY) for name in chosen if name not in schema.by_name)
        return replace(schema, columns=(*schema.columns, *undeclared))

    def intervals(self) -> list[tuple[int, int]]:
        return self.version.intervals(self.path.ranges)

    def read_rows(self) -> Iterator[Row]:
        """The rows of all ranges."""
        for start, end in self.intervals():
            yield from self.read_rows_between(start, end)

    def read_marked_rows(self, marks: frozenset[str]) -> Iterator[Row]:
        """As `read_rows`, each row with its place as keys: @table_index, @range_index, @row_index."""
        for index, (start, end) in enumerate(self.intervals()):
            places = {"@table_index": 0, "@range_index": index}
            places = {name: place for name, place in places.items() if name in marks}
            for number, row in enumerate(self.read_rows_between(start, end), start):
                row.update(places)
                if "@row_index" in marks:
                    row["@row_index"] = number
                yield row

    def read_rows_between(self, start: int, end: int) -> Iterator[Row]:
        """Rows by their numbers, with the columns of the filter under their new names."""
        rows = self.row_source
        for row in self.version.read_rows(start, end, rows.stored_names):
            yield rows.select(row)


def open_source(store: Store, path: Any) -> TableSource:
    """The table of a rich path, as it is now. Raises YtError."""
    rich_path = parse_path(path, store.switches)
    with store.catalog.snapshot():
        info = store.table(rich_path.path)
        files = store.files.of_table(info.path)
        version = TableVersion(info, tuple(store.catalog.slices(info.node.id)), files)
    for name in rich_path.rename_columns or {}:
        if info.schema.strict and name not in info.schema.by_name:
            raise YtError(f"{rich_path.path} has no column {name} to rename")
    return TableSource(version, rich_path)


def _convert(value: Any, column: Column) -> Any:
    """A number of a bound in the kind of the key column, where it fits."""
    name = simple_type(column.type).name
    kind = kind_of(value)
    if kind not in ("int64", "uint64"):
        return value
    if name in ("float", "double"):
        return float(value)
    if name not in RANGES:
        return value
    if wire_kind(name) == "uint64":
        return Uint64(value) if value >= 0 else value
    return int(value) if value <= MAX_INT64 else value
