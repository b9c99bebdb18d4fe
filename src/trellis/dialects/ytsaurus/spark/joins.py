"""Joins of tables that are sorted by the same columns: range by range, without a shuffle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.spark.source import YtDataSource, YtReader
from trellis.dialects.ytsaurus.store.chunks import BATCH_ROWS
from trellis.dialects.ytsaurus.store.rewriting.planning import Rewrite, list_pieces, plan_key_ranges
from trellis.dialects.ytsaurus.types.model import Decimal, Optional, Primitive, Type, without_tags

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMAT: Final = "yt_join"
_TABLE: Final = "_trellis_table"
"""The attribute of a frame that is a table, as it was read."""
_FLOATS: Final = frozenset((Primitive("float"), Primitive("double")))
"""Keys that Spark and Arrow join differently: NaN, and zeros of either sign."""


@dataclass(frozen=True)
class TableRead:
    """The paths and options that `spark.read.yt` had."""

    paths: tuple[str, ...]
    options: Mapping[str, str]


def remember_table(frame: DataFrame, table: TableRead) -> DataFrame:
    """The frame, which knows its table. Frames that are made of it are other objects, and do not."""
    frame.__dict__[_TABLE] = table
    return frame


def merge_join(a: DataFrame, b: DataFrame, on: str | Sequence[str]) -> DataFrame:
    """The rows of two frames with equal values in the columns `on`: those of `a.join(b, on)`.

    Two tables of one store, as `spark.read.yt` gave them, that are sorted by these columns first, are joined
    without a shuffle: each task reads a range of keys of both. Other frames are joined by Spark.

        merge_join(spark.read.yt("//home/visits"), spark.read.yt("//home/users"), "user")
    """
    names = [on] if isinstance(on, str) else list(on)
    joined = a.join(b, names)
    tables = [frame.__dict__.get(_TABLE) for frame in (a, b)]
    if None in tables or len({*joined.columns}) < len(joined.columns):
        return joined
    sides = json.dumps([asdict(table) for table in tables if table is not None])
    a.sparkSession.dataSource.register(YtJoinSource)
    reader = a.sparkSession.read.format(FORMAT).option("tables", sides).option("on", json.dumps(names))
    merged = reader.load()
    return merged if merged.columns == joined.columns else joined


class YtJoinSource(spark.DataSource):
    """Options: `tables`, the paths and options of both as JSON; `on`, the columns. Without columns: no join.

    What the tables are is looked up where Spark runs, which in Spark Connect is not where the script does.
    """

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        left, right = self._readers()
        if not _can_merge(left, right, self._on):
            return StructType([])
        others = [field for reader in (left, right) for field in reader.fields if field.name not in self._on]
        return StructType([*(left.fields[name] for name in self._on), *others])

    def reader(self, schema: StructType) -> YtJoinReader:
        return YtJoinReader(*self._readers(), self._on)

    @property
    def _on(self) -> list[str]:
        return list(json.loads(self.options["on"]))

    def _readers(self) -> tuple[YtReader, YtReader]:
        left, right = map(_reader_of, json.loads(self.options["tables"]))
        return left, right


class YtJoinReader(spark.DataSourceReader):
    """Each partition joins the rows of a range of keys."""

    def __init__(self, left: YtReader, right: YtReader, on: Sequence[str]) -> None:
        self._sides = (left, right)
        self._on = list(on)

    def partitions(self) -> Sequence[spark.InputPartition]:
        sources = [source for side in self._sides for source in side.sources]
        keys = tuple(map(SortColumn, self._on))
        ranges = plan_key_ranges(sources, list_pieces(sources), keys)
        return [
            spark.InputPartition(task) for task in ranges if {piece.source for piece in task.pieces} == {0, 1}
        ]

    def read(self, partition: spark.InputPartition) -> Iterator[pa.RecordBatch]:
        left, right = (self._read_side(number, partition.value) for number in range(2))
        pairs = _matching_rows(left.select(self._on), right.select(self._on))
        others = [name for name in right.column_names if name not in self._on]
        left_names = [*self._on, *(name for name in left.column_names if name not in self._on)]
        for start in range(0, len(pairs), BATCH_ROWS):
            part = pairs.slice(start, BATCH_ROWS)
            columns = {
                **_columns(left.select(left_names), part.column("left")),
                **_columns(right.select(others), part.column("right")),
            }
            yield from pa.table(columns).combine_chunks().to_batches()

    def _read_side(self, number: int, task: Rewrite) -> pa.Table:
        """The rows of one table that are in the range of a task."""
        side, keys = self._sides[number], tuple(map(SortColumn, self._on))
        pieces = (replace(piece, source=0) for piece in task.pieces if piece.source == number)
        output = side.output_files()
        batches = (
            side.to_spark(batch) for piece in pieces for _, batch in output.read_range(piece, keys, task)
        )
        return pa.Table.from_batches(batches, side.arrow_schema)


def _reader_of(table: Mapping[str, Any]) -> YtReader:
    options: Any = CaseInsensitiveDict({**table["options"], "paths": json.dumps(table["paths"])})
    return YtDataSource(options).reader(StructType([]))


def _can_merge(left: YtReader, right: YtReader, on: Sequence[str]) -> bool:
    """Whether ranges of keys divide both tables so that rows with equal keys are in one range."""
    sources = [*left.sources, *right.sources]
    if len(sources) != 2 or sources[0].version.files.folder != sources[1].version.files.folder:
        return False
    keys = [_key_types(reader, on) for reader in (left, right)]
    return bool(on) and keys[0] is not None and keys[0] == keys[1]


def _key_types(reader: YtReader, on: Sequence[str]) -> list[Type] | None:
    """The types of columns that a table is sorted by; None if it is not, or has values of other types."""
    if reader.keys[: len(on)] != tuple(map(SortColumn, on)):
        return None
    types = [_required_type(reader.view.by_name[name].type) for name in on]
    are_plain = all(isinstance(type, Primitive | Decimal) and type not in _FLOATS for type in types)
    return types if are_plain else None


def _required_type(type: Type) -> Type:
    plain = without_tags(type)
    return without_tags(plain.item) if isinstance(plain, Optional) else plain


def _matching_rows(left: pa.Table, right: pa.Table) -> pa.Table:
    """The numbers of rows with equal keys, as columns `left` and `right`, in their order."""
    keys = [str(number) for number in range(left.num_columns)]
    numbered = [
        table.rename_columns(keys).append_column(name, pa.array(np.arange(table.num_rows)))
        for table, name in ((left, "left"), (right, "right"))
    ]
    pairs: Any = numbered[0].join(numbered[1], keys, join_type="inner", use_threads=False)
    return pairs.select(["left", "right"]).sort_by([("left", "ascending"), ("right", "ascending")])


def _columns(table: pa.Table, rows: pa.ChunkedArray) -> dict[str, pa.ChunkedArray]:
    taken = table.take(rows)
    return dict(zip(taken.column_names, taken.columns, strict=True))
