"""The rows of a frame on their way into a table."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.inference.shapes import sort_schema
from trellis.dialects.ytsaurus.inference.writes import WritePlan
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.document import parse_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.spark.types import (
    TypeOptions,
    declared_type,
    field_type,
    is_composite,
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
from trellis.dialects.ytsaurus.types.model import ANY, Optional, Type, is_nullable
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.yson.writer import dumps

_COMPOSITE: Final = (ArrayType, MapType, StructType)


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
    any_values: Mapping[str, Type]
    """The types that values of columns of the type any have in the frame; those of others are YSON."""

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
                new = sort_schema(_hinted(table_schema(fields, types), types, hint), keys)
                schema = parse_schema(schema_document(replace(new, unique_keys=unique_keys)), store.switches)
            any_values = types_of_any(fields.fields, types, hint)
            _check_types(path, schema, fields, types, any_values)
            declared = {field.name: declared_type(field, types) for field in fields if field.name not in hint}
            _check_any(path, schema, declared)
            layout = optimize_for or ("scan" if table is None else table.optimize_for)
            files = OutputFiles(store.files, schema, layout, secrets.token_hex(8), ())
            return cls(url, path, files, append, transaction, any_values)

    def write(self, batches: Iterable[pa.RecordBatch]) -> WrittenChunks:
        """Raises YtError for values that do not fit, and rows out of order."""
        rows = FrameRows(self.output.schema, self.any_values)
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

    def __init__(self, schema: TableSchema, any_values: Mapping[str, Type]) -> None:
        self._any_values = any_values
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
        source = self._any_values.get(column.name)
        if column.type != ANY or source is None:
            return to_stored(array, column.name, column.type)
        stored = to_stored(array, column.name, source)
        if plain_name(source) is None:
            return stored
        texts = (None if text is None else dumps(text, yson_format="binary") for text in stored.to_pylist())
        return pa.array(texts, pa.binary())


def types_of_any(
    fields: Iterable[StructField], types: TypeOptions, hint: Mapping[str, Type] = MappingProxyType({})
) -> dict[str, Type]:
    """The types of the columns of a frame that a column of the type any takes, if it is not YSON already.

    These were strings in a table, or are composite where the user has these written as any.
    """
    result = {}
    for field in fields:
        declared = declared_type(field, types)
        if field.name not in hint and declared is not None and plain_name(declared) == "string":
            result[field.name] = _optional(declared)
        elif not types.write_type_v3 and isinstance(field.dataType, _COMPOSITE):
            result[field.name] = _optional(field_type(field, types))
    return result


def _optional(type: Type) -> Type:
    return type if is_nullable(type) else Optional(type)


@contextmanager
def open_store(url: str, transaction: str) -> Iterator[Store]:
    """The store as a transaction sees it, if one is named. Raises UsageError, and YtError (11000)."""
    with Store.open(url) as store:
        yield store.within(transaction) if transaction else store


def _hinted(schema: TableSchema, types: TypeOptions, hint: Mapping[str, Type]) -> TableSchema:
    columns = []
    for column in schema.columns:
        is_any = is_composite(column.type) and not types.write_type_v3
        columns.append(replace(column, type=hint.get(column.name, ANY if is_any else column.type)))
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


def _check_types(
    path: str, schema: TableSchema, fields: StructType, types: TypeOptions, any_values: Mapping[str, Type]
) -> None:
    for field in fields:
        column = schema.by_name[field.name]
        if column.type == ANY and field.name in any_values:
            continue
        if column.expression is None and not takes_values(column.type, field.dataType):
            remedy = f"cast it to {spark_type(column.type, types).simpleString()}"
            if column.type == ANY and isinstance(field.dataType, _COMPOSITE):
                remedy = "write it with the option write_type_v3=false"
            raise YtError(
                f'column "{column.name}" of {path} is {column.type}, and that of the frame '
                f"{field.dataType.simpleString()}; {remedy}",
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
