"""Jobs whose rows are objects of dataclasses."""

from __future__ import annotations

import typing
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.ytsaurus.client.contexts import Context, RowIterator
from trellis.dialects.ytsaurus.client.schema.job_types import OutputRow, Variant
from trellis.dialects.ytsaurus.client.schema.row_types import (
    field_types,
    is_yt_dataclass,
    row_reader,
    row_writer,
)
from trellis.dialects.ytsaurus.client.schema.table_schema import TableSchema
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.values import from_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.store.jobs.job import TABLE_INDEX

_ITERABLES: Final = (Generator, Iterator, Iterable, RowIterator)


class TypedJob:
    """A job whose `__call__` takes and gives objects of dataclasses.

    A mapper takes an object, a reducer the objects of a group. What the inputs and outputs hold follows from
    the annotations of `__call__`, or from `prepare_operation`.
    """

    def prepare_operation(self, context: OperationPreparationContext, preparer: OperationPreparer) -> None:
        """Name the types of rows: `preparer.input(0, type=Visit).outputs([0, 1], type=Count)`."""
        takes, gives = _annotated_types(self)
        for index, row_type in enumerate(_spread(takes, context.get_input_count(), "input", self)):
            preparer.input(index, type=row_type)
        for index, row_type in enumerate(_spread(gives, context.get_output_count(), "output", self)):
            preparer.output(index, type=row_type)

    def get_intermediate_stream_count(self) -> int | None:
        """A mapper has one here: what it gives is sorted as one table."""
        return None


@dataclass(frozen=True)
class OperationPreparationContext:
    """The tables of a job; paths and schemas are None between the steps of a map-reduce."""

    input_paths: Sequence[TablePath | None]
    output_paths: Sequence[TablePath | None]
    find_schema: Callable[[TablePath], TableSchema | None]

    def get_input_count(self) -> int:
        return len(self.input_paths)

    def get_output_count(self) -> int:
        return len(self.output_paths)

    def get_input_paths(self) -> Sequence[TablePath | None]:
        return self.input_paths

    def get_output_paths(self) -> Sequence[TablePath | None]:
        return self.output_paths

    def get_input_schemas(self) -> list[TableSchema | None]:
        return [None if path is None else self.find_schema(path) for path in self.input_paths]

    def get_output_schemas(self) -> list[TableSchema | None]:
        """None for tables that do not exist."""
        return [None if path is None else self.find_schema(path) for path in self.output_paths]


class OperationPreparer:
    """The types of the rows of a job, and what is read and written of its tables."""

    def __init__(self, context: OperationPreparationContext) -> None:
        self._context = context
        self._inputs: dict[int, dict[str, Any]] = {}
        self._outputs: dict[int, dict[str, Any]] = {}

    def input(self, index: int, type: type | None = None, **settings: Any) -> OperationPreparer:
        return self.inputs([index], type, **settings)

    def inputs(
        self,
        indices: Iterable[int],
        type: type | None = None,
        column_filter: Iterable[str] | None = None,
        column_renaming: Mapping[str, str] | None = None,
    ) -> OperationPreparer:
        """Raises YtError where a number is that of no table, or a type no dataclass."""
        settings = {"type": type, "columns": column_filter, "rename_columns": column_renaming}
        return self._set(self._inputs, "input", self._context.get_input_count(), indices, settings)

    def output(self, index: int, type: type | None = None, **settings: Any) -> OperationPreparer:
        return self.outputs([index], type, **settings)

    def outputs(
        self,
        indices: Iterable[int],
        type: type | None = None,
        schema: TableSchema | None = None,
        infer_strict_schema: bool = True,
    ) -> OperationPreparer:
        """The schema, by default that of the type, is for tables that are new or have none."""
        settings = {"type": type, "schema": schema, "strict": infer_strict_schema}
        return self._set(self._outputs, "output", self._context.get_output_count(), indices, settings)

    def _set(
        self,
        tables: dict[int, dict[str, Any]],
        side: str,
        count: int,
        indices: Iterable[int],
        settings: Mapping[str, Any],
    ) -> OperationPreparer:
        row_type = settings["type"]
        if row_type is not None and not is_yt_dataclass(row_type):
            raise YtError(f"the {side} type {row_type!r} is not a dataclass; mark it with yt_dataclass")
        for index in indices:
            if not 0 <= index < count:
                raise YtError(f"there is no {side} table {index}; the job has {count}, counted from 0")
            chosen = {name: value for name, value in settings.items() if value is not None}
            tables.setdefault(index, {}).update(chosen)
        return self

    def finish(self) -> tuple[TypedRows, list[TablePath | None], list[TablePath | None]]:
        """The rows, and the paths with the columns that are read and the schemas of new tables."""
        inputs, outputs = [], []
        for index, path in enumerate(self._context.input_paths):
            settings = _settings(self._inputs, index, "input", path)
            inputs.append(None if path is None else _read_path(path, settings))
        schemas = self._context.get_output_schemas()
        for index, path in enumerate(self._context.output_paths):
            settings = _settings(self._outputs, index, "output", path)
            outputs.append(None if path is None else _written_path(path, settings, schemas[index]))
        rows = TypedRows(
            tuple(self._inputs[index]["type"] for index in range(len(inputs))),
            tuple(self._outputs[index]["type"] for index in range(len(outputs))),
        )
        return rows, inputs, outputs


@dataclass(frozen=True)
class TypedRows:
    """The types of the rows that a job takes and gives, one for each table."""

    input_types: tuple[type, ...]
    output_types: tuple[type, ...]

    def reader(self, context: Context) -> Callable[[Row], Any]:
        """Makes objects of the rows that a context follows."""
        readers = [*map(row_reader, self.input_types)]

        def read(row: Row) -> Any:
            return readers[context.table_index or 0](row)

        return read

    def writer(self) -> Callable[[Any], Row]:
        """Makes rows of objects. Raises YtError for those of no output."""
        writers = [*map(row_writer, self.output_types)]

        def write(value: Any) -> Row:
            output = value if isinstance(value, OutputRow) else OutputRow(value)
            if not 0 <= output.table_index < len(writers):
                raise YtError(
                    f"table_index is {output.table_index!r}; there are {len(writers)} outputs, counted from 0"
                )
            row: Row = from_python(writers[output.table_index](output.row))
            return {**row, TABLE_INDEX: output.table_index}

        return write


def prepare_job(
    job: TypedJob,
    inputs: Sequence[TablePath | None],
    outputs: Sequence[TablePath | None],
    find_schema: Callable[[TablePath], TableSchema | None],
) -> tuple[TypedRows, list[TablePath | None], list[TablePath | None]]:
    """The types of a job's rows, and the paths to read and write. Raises YtError."""
    context = OperationPreparationContext(inputs, outputs, find_schema)
    if job.get_intermediate_stream_count() not in (None, 1):
        raise YtError(
            f"get_intermediate_stream_count of {type(job).__qualname__} is "
            f"{job.get_intermediate_stream_count()}; a mapper gives one stream here, so give rows of one type"
        )
    preparer = OperationPreparer(context)
    job.prepare_operation(context, preparer)
    return preparer.finish()


def _settings(
    tables: Mapping[int, Mapping[str, Any]], index: int, side: str, path: TablePath | None
) -> Mapping[str, Any]:
    settings = tables.get(index, {})
    if "type" not in settings:
        place = "" if path is None else f", {path.path}"
        raise YtError(f"the {side} table {index}{place} has no type; name it in prepare_operation")
    return settings


def _read_path(path: TablePath, settings: Mapping[str, Any]) -> TablePath:
    read = TablePath(path, rename_columns=settings.get("rename_columns"))
    names = settings.get("columns") or field_types(settings["type"])
    read.attributes.setdefault("columns", [*names])
    return read


def _written_path(path: TablePath, settings: Mapping[str, Any], schema: TableSchema | None) -> TablePath:
    if schema is not None and not schema.is_empty_nonstrict():
        return path
    new = settings.get("schema") or TableSchema.from_row_type(settings["type"], strict=settings["strict"])
    written = TablePath(path)
    sorted_by = written.attributes.pop("sorted_by", None)
    written.attributes.setdefault("schema", new.build_schema_sorted_by(sorted_by) if sorted_by else new)
    return written


# --- Annotations -----------------------------------------------------------------------------------------


def _annotated_types(job: TypedJob) -> tuple[list[Any], list[Any]]:
    """The types that `__call__` takes and gives. Raises YtError."""
    hints = typing.get_type_hints(type(job).__call__)
    name = type(job).__qualname__
    gives = hints.pop("return", None)
    if not hints or gives is None:
        raise YtError(
            f"{name}.__call__ has no annotations of its first argument and of what it gives; expected some "
            "such as (self, row: Visit) -> Iterable[Count], or prepare_operation"
        )
    takes = next(iter(hints.values()))
    if typing.get_origin(takes) in _ITERABLES:
        (takes,) = typing.get_args(takes)[:1]
    if typing.get_origin(gives) not in _ITERABLES:
        raise YtError(f"{name}.__call__ gives {gives}; expected an iterable of rows such as Iterable[Count]")
    gives = typing.get_args(gives)[0]
    if typing.get_origin(gives) is OutputRow:
        gives = typing.get_args(gives)[0]
    return _alternatives(takes), _alternatives(gives)


def _alternatives(annotation: Any) -> list[Any]:
    return [*typing.get_args(annotation)] if typing.get_origin(annotation) is Variant else [annotation]


def _spread(types: list[Any], count: int, side: str, job: TypedJob) -> list[Any]:
    """A type for each table; a single one is that of all."""
    if len(types) == 1:
        return types * count
    if len(types) != count:
        raise YtError(
            f"{type(job).__qualname__}.__call__ names {len(types)} {side} types; the job has {count} tables"
        )
    return types
