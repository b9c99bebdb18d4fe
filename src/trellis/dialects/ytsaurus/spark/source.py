"""The data source `yt`: tables of a store as frames, and frames as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.spark.row_filters import (
    ColumnFilter,
    parse_filters,
    select_row_groups,
    select_slice,
)
from trellis.dialects.ytsaurus.spark.table_writer import TableWriter, WrittenChunks, open_store
from trellis.dialects.ytsaurus.spark.types import (
    TypeOptions,
    is_composite,
    parse_flag,
    parse_hint,
    spark_schema,
)
from trellis.dialects.ytsaurus.spark.values import to_spark
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.store.reading import TableSource, open_source
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, list_pieces, pack_pieces
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.types.model import ANY, Type
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.errors import UsageError

FORMAT: Final = "yt"


class YtDataSource(spark.DataSource):
    """Options: `store`, a URL; `path`, or `paths` as a JSON list; `schema_hint`, a YSON map of types;
    `string_to_utf8`, `null_type_allowed`, `parsing_type_v3` and `write_type_v3`; `transaction`, the id of one
    to read and write in; to write `sorted_by`, a JSON list, `unique_keys` and `optimize_for`.
    """

    default_store = ""
    """The URL of the store where the option names none."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        with open_store(self._store, self._transaction) as store:
            return spark_schema(self._view(self._open_sources(store)), self._types)

    def reader(self, schema: StructType) -> YtReader:
        with open_store(self._store, self._transaction) as store:
            sources = self._open_sources(store)
        return YtReader(sources, self._view(sources), self._types)

    def writer(self, schema: StructType, overwrite: bool) -> YtWriter:
        (path,) = self._paths
        keys = tuple(map(SortColumn, json.loads(self.options.get("sorted_by", "[]"))))
        writer = TableWriter.plan(
            self._store,
            path,
            schema,
            self._types,
            hint=self._hint,
            keys=keys,
            unique_keys=parse_flag(self.options, "unique_keys"),
            optimize_for=self.options.get("optimize_for"),
            append=not overwrite,
            transaction=self._transaction,
        )
        return YtWriter(writer)

    @property
    def _store(self) -> str:
        url = str(self.options.get("store", self.default_store))
        if not url:
            raise UsageError('the option store is missing; expected .option("store", "yt:FOLDER")')
        return url

    @property
    def _transaction(self) -> str:
        return str(self.options.get("transaction", ""))

    @property
    def _paths(self) -> list[str]:
        if "paths" in self.options:
            return list(json.loads(self.options["paths"]))
        if "path" not in self.options:
            raise UsageError('the path of a table is missing; expected .load("//home/t")')
        return [self.options["path"]]

    @property
    def _hint(self) -> Mapping[str, Type]:
        return parse_hint(loads(self.options.get("schema_hint", "{}")))

    @property
    def _types(self) -> TypeOptions:
        return TypeOptions.parse(self.options)

    def _open_sources(self, store: Store) -> list[TableSource]:
        return [open_source(store, path) for path in self._paths]

    def _view(self, sources: Sequence[TableSource]) -> TableSchema:
        """The columns that are read, of the types of the tables or of the hint. Raises UsageError."""
        first, *others = [self._columns(source) for source in sources]
        for source, columns in zip(sources[1:], others, strict=True):
            if columns != first:
                raise UsageError(
                    f"{source.path.path} and {sources[0].path.path} have different columns; read them one by "
                    "one and unite the frames"
                )
        return TableSchema(first)

    def _columns(self, source: TableSource) -> tuple[Column, ...]:
        columns = {column.name: column.stripped() for column in source.input_table.filtered.columns}
        if not self._types.parsing_type_v3:
            for name, column in columns.items():
                columns[name] = replace(column, type=ANY) if is_composite(column.type) else column
        for name, type in self._hint.items():
            if source.row_source.shows(name):
                columns[name] = Column(name, type)
        return tuple(columns.values())


class YtReader(spark.DataSourceReader):
    """Reads the columns of a view: each partition has rows of about one chunk."""

    def __init__(self, sources: Sequence[TableSource], view: TableSchema, types: TypeOptions) -> None:
        self.sources = sources
        self.view = view
        self.fields = spark_schema(view, types)
        self.filters: list[list[ColumnFilter]] = [[] for _ in sources]

    @property
    def arrow_schema(self) -> pa.Schema:
        return to_arrow_schema(self.fields)

    @property
    def keys(self) -> tuple[SortColumn, ...]:
        """What the rows of all partitions, one after the other, are sorted by."""
        if len(self.sources) != 1 or len(self.sources[0].path.ranges or ()) > 1:
            return ()
        table = self.sources[0].input_table.filtered
        return tuple(
            takewhile(
                lambda key: self.view.by_name[key.name].type == table.by_name[key.name].type, table.keys
            )
        )

    def pushFilters(self, filters: list[spark.Filter]) -> Iterable[spark.Filter]:  # noqa: N802
        """Chunks and row groups that have no row which passes are left unread; Spark filters the others."""
        self.filters = [parse_filters(filters, source.row_source, self.view) for source in self.sources]
        return filters

    def partitions(self) -> Sequence[spark.InputPartition]:
        pieces = (piece for piece in list_pieces(self.sources) if self._may_pass(piece))
        return [spark.InputPartition(group) for group in pack_pieces(pieces)]

    def read(self, partition: spark.InputPartition) -> Iterator[pa.RecordBatch]:
        pieces = (part for piece in _pieces_of(partition) for part in self._select_row_groups(piece))
        for _, batch in self.output_files().read_pieces(pieces):
            yield self.to_spark(batch)

    def output_files(self) -> OutputFiles:
        """What reads the rows of the tables as rows of the view."""
        names = tuple(self.view.names)
        rows = tuple(replace(source.row_source, columns=names) for source in self.sources)
        return OutputFiles(self.sources[0].version.files, self.view, "scan", "", rows)

    def to_spark(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of the view with the values that Spark has for them."""
        schema = self.arrow_schema
        arrays = [
            to_spark(batch.column(stored_name(column)), column.type, field.type)
            for column, field in zip(self.view.columns, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _may_pass(self, piece: Piece) -> bool:
        table = self.sources[piece.source].version.info.schema
        return select_slice(piece.slice, table, self.filters[piece.source])

    def _select_row_groups(self, piece: Piece) -> Iterator[Piece]:
        files = self.sources[piece.source].version.files
        for part in select_row_groups(files, piece.slice, self.filters[piece.source]):
            yield replace(piece, slice=part, first_row=piece.first_row + part.start - piece.slice.start)


class YtWriter(spark.DataSourceArrowWriter):
    """Each task writes its chunks; one commit puts them into the table, in the order of the partitions."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenChunks:
        return self._writer.write(iterator)

    def commit(self, messages: Sequence[Any]) -> None:
        self._writer.commit([part for message in messages if message is not None for part in message.slices])

    def abort(self, messages: Sequence[Any]) -> None:
        self._writer.abort()


def _pieces_of(partition: spark.InputPartition) -> tuple[Piece, ...]:
    pieces: tuple[Piece, ...] = partition.value
    return pieces
