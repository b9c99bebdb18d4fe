"""The rows of a frame on their way into a table."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.inference.shapes import sort_schema
from trellis.dialects.ytsaurus.inference.writes import WritePlan
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.document import parse_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.spark.types import (
    TypeOptions,
    declared_type,
    spark_type,
    table_schema,
    takes_values,
)
from trellis.dialects.ytsaurus.spark.values import to_stored
from trellis.dialects.ytsaurus.store.catalog import TableInfo
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.columns import arrow_schema, stored_name
from trellis.dialects.ytsaurus.store.rewriting.computed import ComputedColumns
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, check_borders, write_batches
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, last_row_key
from trellis.dialects.ytsaurus.types.model import ANY, Type
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.yson.writer import dumps


@dataclass
class WrittenChunks(WriterCommitMessage):
    """What one task wrote."""

    slices: list[Slice]


@dataclass(frozen=True)
class TableWriter:
    """Writes batches of a frame as chunks, and commits them."""

    url: str
    path: str
    output: OutputFiles
    append: bool
    transaction: str
    strings: frozenset[str]
    """Columns of the type any whose values in the frame are strings; those of others are YSON."""

    @classmethod
    def plan(
        cls,
        url: str,
        path: str,
        fields: StructType,
        types: TypeOptions,
        *,
        hint: Mapping[str, Type],
        keys: Sequence[SortColumn],
        unique_keys: bool,
        optimize_for: str | None,
        append: bool,
        transaction: str = "",
    ) -> TableWriter:
        """Raises YtError where the table does not take the columns of the frame."""
        with open_store(url, transaction) as store:
            path = parse_path(path, store.switches).path
            table = None if store.find(path) is None else store.table(path)
            if append and table is not None and table.mode == "strong":
                schema = table.schema
                _check_columns(path, schema, fields, keys)
            elif append and table is not None and store.catalog.last_slice(table.node.id) is not None:
                raise YtError(
                    f"the schema of {path} is weak, and a frame has types; write with mode overwrite, or "
                    "give the table a schema"
                )
            else:
                new = sort_schema(_hinted(table_schema(fields, types), hint), keys)
                schema = parse_schema(schema_document(replace(new, unique_keys=unique_keys)), store.switches)
            _check_types(path, schema, fields, types)
            declared = {field.name: declared_type(field, types) for field in fields if field.name not in hint}
            _check_any(path, schema, declared)
            strings = string_columns(fields, types) - hint.keys()
            layout = optimize_for or ("scan" if table is None else table.optimize_for)
            files = OutputFiles(store.files, schema, layout, secrets.token_hex(8), ())
            return cls(url, path, files, append, transaction, strings)

    def write(self, batches: Iterable[pa.RecordBatch]) -> WrittenChunks:
        """Raises YtError for values that do not fit, and rows out of order."""
        rows = FrameRows(self.output.schema, self.strings)
        return WrittenChunks(write_batches(self.output, map(rows.to_stored, batches)))

    def commit(self, slices: Sequence[Slice]) -> None:
        """Raises YtError; the table stays as it was then."""
        schema, files = self.output.schema, self.output.files
        kept: list[str] = []
        try:
            with open_store(self.url, self.transaction) as opened, opened.command("write") as store:
                store.create("table", self.path, recursive=True, ignore_existing=True)
                table = store.table(self.path)
                excludes = self._plan(store, table).excludes_others
                table = store.lock(table, "write", exclusive=excludes)
                plan = self._plan(store, table)
                if plan.excludes_others and not excludes:
                    raise self._altered()
                if schema.is_sorted:
                    check_borders(schema, slices, last_row_key(store, table) if plan.append else None)
                commit_slices(store, table, plan, self.output.optimize_for, slices)
                # Before the commit, of which a lost connection may not say whether it was made.
                kept += (part.chunk.id for part in slices)
        finally:
            files.delete_operation(self.output.operation, kept)

    def abort(self) -> None:
        """Spark also says so where a commit was made, but its process died, or the answer was lost."""
        with Store.open(self.url) as store:
            store.delete_uncommitted(self.output.operation)

    def _plan(self, store: Store, table: TableInfo) -> WritePlan:
        """Raises YtError where the table has rows of another schema than when the frame was planned."""
        fits = (table.schema, table.mode) == (self.output.schema, "strong")
        if self.append and not fits and store.catalog.last_slice(table.node.id) is not None:
            raise self._altered()
        return WritePlan(self.output.schema, "strong", self.append and fits)

    def _altered(self) -> YtError:
        return YtError(f"{self.path} was altered meanwhile; write again", ErrorCode.CONCURRENT_LOCK)


class FrameRows:
    """Batches of a frame as rows of a table: columns that a frame lacks are null, or computed."""

    def __init__(self, schema: TableSchema, strings: frozenset[str]) -> None:
        self._strings = strings
        self._columns = {stored_name(column): column for column in schema.columns}
        self._fields = arrow_schema(schema)
        self._computed = ComputedColumns(schema)

    def to_stored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Raises YtError for values that do not fit."""
        arrays = [self._to_array(batch, self._columns.get(field.name), field.type) for field in self._fields]
        return self._computed.fill(pa.RecordBatch.from_arrays(arrays, schema=self._fields))

    def _to_array(self, batch: pa.RecordBatch, column: Column | None, type: pa.DataType) -> pa.Array:
        if column is None:
            return pa.nulls(batch.num_rows, type)
        if column.name not in batch.schema.names or column.expression is not None:
            return to_stored(pa.nulls(batch.num_rows, type), column.name, column.type)
        array = batch.column(column.name)
        if column.type == ANY and column.name in self._strings:
            texts = (
                None if text is None else dumps(text, yson_format="binary") for text in array.to_pylist()
            )
            array = pa.array(texts, pa.binary())
        return to_stored(array, column.name, column.type)


def string_columns(fields: StructType, types: TypeOptions) -> frozenset[str]:
    """The columns of a frame that were strings in a table."""
    declared = ((field.name, declared_type(field, types)) for field in fields)
    return frozenset(name for name, type in declared if type is not None and plain_name(type) == "string")


@contextmanager
def open_store(url: str, transaction: str) -> Iterator[Store]:
    """The store as a transaction sees it, if one is named. Raises UsageError, and YtError (11000)."""
    with Store.open(url) as store:
        yield store.within(transaction) if transaction else store


def _hinted(schema: TableSchema, hint: Mapping[str, Type]) -> TableSchema:
    columns = (replace(column, type=hint.get(column.name, column.type)) for column in schema.columns)
    return replace(schema, columns=tuple(columns))


def _check_columns(path: str, schema: TableSchema, fields: StructType, keys: Sequence[SortColumn]) -> None:
    unknown = [field.name for field in fields if field.name not in schema.by_name]
    if unknown:
        raise YtError(
            f"{path} has no column {unknown[0]}; it has {', '.join(schema.names)}", ErrorCode.SCHEMA_VIOLATION
        )
    if keys and tuple(keys) != schema.keys:
        names = ", ".join(map(str, schema.keys)) or "nothing"
        raise YtError(f"{path} is sorted by {names}; what is appended must be sorted by the same columns")


def _check_types(path: str, schema: TableSchema, fields: StructType, types: TypeOptions) -> None:
    for field in fields:
        column = schema.by_name[field.name]
        if column.expression is None and not takes_values(column.type, field.dataType):
            expected = spark_type(column.type, types).simpleString()
            raise YtError(
                f'column "{column.name}" of {path} is {column.type}, and that of the frame '
                f"{field.dataType.simpleString()}; cast it to {expected}",
                ErrorCode.SCHEMA_VIOLATION,
            )


def _check_any(path: str, schema: TableSchema, declared: Mapping[str, Type | None]) -> None:
    """Values of the type any are no others, although Spark has bytes for them as it has for strings."""
    for name, type in declared.items():
        column = schema.by_name[name]
        if type == ANY and column.type != ANY and column.expression is None:
            raise YtError(
                f'column "{name}" of {path} is {column.type}, and that of the frame any; read it with '
                f'schema_hint({{"{name}": ...}})',
                ErrorCode.SCHEMA_VIOLATION,
            )
