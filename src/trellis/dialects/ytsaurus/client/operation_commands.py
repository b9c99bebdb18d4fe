"""Operations on the tables of a store with the methods of the client of YTsaurus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from trellis.dialects.ytsaurus.client.job_steps import (
    JobStep,
    ScriptJob,
    check_absent,
    job_settings,
    prepare_step,
)
from trellis.dialects.ytsaurus.client.jobs import JobSettings
from trellis.dialects.ytsaurus.client.operation import Operation, run_operation
from trellis.dialects.ytsaurus.client.schema.table_schema import SortColumn, TableSchema
from trellis.dialects.ytsaurus.client.spec_builders import SpecBuilder
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.values import from_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
from trellis.dialects.ytsaurus.schema.model import SortColumn as StoreSortColumn
from trellis.dialects.ytsaurus.store import operations
from trellis.dialects.ytsaurus.store.jobs.job import Job
from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows, map_rows, reduce_rows
from trellis.dialects.ytsaurus.store.operations import MergeMode, OperationSpec
from trellis.dialects.ytsaurus.store.store import Store

Spec = Mapping[str, Any] | None


class OperationCommands(ABC):
    """Operations run at once, also with `sync=False`, where an error is raised by `Operation.wait`.

    What is about clusters has no effect here: job_count, table_writer, memory_limit and the like, of job_io
    all but its control_attributes.
    """

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store in the transaction that the client is in."""

    @abstractmethod
    def _find_schema(self, table: TablePath) -> TableSchema | None:
        """None where there is no such table."""

    def run_merge(
        self,
        source_table: Any,
        destination_table: Any,
        mode: MergeMode | None = None,
        sync: bool = True,
        job_io: Spec = None,
        table_writer: object = None,
        job_count: object = None,
        spec: Spec = None,
        merge_by: Any = None,
    ) -> Operation:
        document = dict(spec or {})
        if merge_by is not None:
            document["merge_by"] = _columns(merge_by)

        def run() -> None:
            operations.merge(
                self.store,
                _paths(source_table),
                path_document(destination_table),
                mode or "auto",
                _settings(document),
            )

        return run_operation("merge", sync, run)

    def concatenate(self, source_paths: Any, destination_path: Any) -> None:
        """One table after the other."""
        operations.merge(self.store, _paths(source_paths), path_document(destination_path), "ordered")

    def run_sort(
        self,
        source_table: Any,
        destination_table: Any = None,
        sort_by: Any = None,
        sync: bool = True,
        job_io: Spec = None,
        table_writer: object = None,
        spec: Spec = None,
    ) -> Operation:
        target = source_table if destination_table is None else destination_table

        def run() -> None:
            keys = parse_sort_columns(from_python(_columns(sort_by or ())), "sort_by")
            operations.sort(self.store, _paths(source_table), path_document(target), keys, _settings(spec))

        return run_operation("sort", sync, run)

    def run_erase(self, table: Any, spec: Spec = None, sync: bool = True) -> Operation:
        return run_operation(
            "erase", sync, lambda: operations.erase(self.store, path_document(table), _settings(spec))
        )

    def run_remote_copy(
        self,
        source_table: Any,
        destination_table: Any,
        cluster_name: str,
        *,
        copy_attributes: bool = False,
        spec: Spec = None,
        sync: bool = True,
    ) -> Operation:
        """Copy a table of another store; `cluster_name` is its URL, yt:FOLDER."""
        sources = _paths(source_table)
        if len(sources) != 1:
            raise YtError(f"remote copy takes exactly one table, not {len(sources)}")

        def run() -> None:
            with Store.open(cluster_name, create=False) as cluster:
                operations.remote_copy(
                    *(self.store, cluster, sources[0], path_document(destination_table), _settings(spec)),
                    copy_attributes=copy_attributes,
                )

        return run_operation("remote_copy", sync, run)

    def run_map(
        self,
        binary: ScriptJob,
        source_table: Any,
        destination_table: Any = None,
        local_files: Any = None,
        yt_files: Any = None,
        format: Any = None,
        input_format: Any = None,
        output_format: Any = None,
        sync: bool = True,
        job_io: Spec = None,
        table_writer: object = None,
        job_count: object = None,
        memory_limit: object = None,
        spec: Spec = None,
        ordered: object = None,
        stderr_table: Any = None,
    ) -> Operation:
        """Rows through a function that takes one and gives some, or a command. Their order is kept."""
        check_absent(yt_files=yt_files, stderr_table=stderr_table)
        formats = format, input_format, output_format
        settings = job_settings("mapper", spec, job_io, formats, local_files)
        step = prepare_step(
            binary, settings, _tables(source_table), _tables(destination_table), self._find_schema
        )
        return run_operation("map", sync, partial(map_rows, self.store, step.job, step.inputs, step.outputs))

    def run_reduce(
        self,
        binary: ScriptJob,
        source_table: Any,
        destination_table: Any = None,
        local_files: Any = None,
        yt_files: Any = None,
        format: Any = None,
        input_format: Any = None,
        output_format: Any = None,
        sync: bool = True,
        job_io: Spec = None,
        table_writer: object = None,
        job_count: object = None,
        memory_limit: object = None,
        spec: Spec = None,
        sort_by: Any = None,
        reduce_by: Any = None,
        join_by: Any = None,
        stderr_table: Any = None,
        enable_key_guarantee: object = None,
    ) -> Operation:
        """The rows of each key through a function that takes both, or a command. Inputs are sorted.

        With `join_by` the groups have the rows of foreign tables, TablePath(..., foreign=True), too.
        """
        check_absent(yt_files=yt_files, stderr_table=stderr_table)
        formats = format, input_format, output_format
        settings = job_settings("reducer", spec, job_io, formats, local_files)
        step = prepare_step(
            *(binary, settings, _tables(source_table), _tables(destination_table), self._find_schema),
            is_grouped=True,
        )
        keys = _sort_columns(reduce_by, "reduce_by"), _sort_columns(sort_by, "sort_by")
        run = partial(reduce_rows, self.store, step.job, step.inputs, step.outputs, *keys)
        return run_operation("reduce", sync, partial(run, join_by=_sort_columns(join_by, "join_by")))

    def run_join_reduce(
        self,
        binary: ScriptJob,
        source_table: Any,
        destination_table: Any,
        **settings: Any,
    ) -> Operation:
        """A reduce whose groups are those of `join_by`."""
        return self.run_reduce(binary, source_table, destination_table, **settings)

    def run_map_reduce(
        self,
        mapper: ScriptJob | None,
        reducer: ScriptJob,
        source_table: Any,
        destination_table: Any,
        format: Any = None,
        map_input_format: Any = None,
        map_output_format: Any = None,
        reduce_input_format: Any = None,
        reduce_output_format: Any = None,
        sync: bool = True,
        job_io: Spec = None,
        table_writer: object = None,
        spec: Spec = None,
        map_local_files: Any = None,
        map_yt_files: Any = None,
        reduce_local_files: Any = None,
        reduce_yt_files: Any = None,
        mapper_memory_limit: object = None,
        reducer_memory_limit: object = None,
        sort_by: Any = None,
        reduce_by: Any = None,
        reduce_combiner: ScriptJob | None = None,
        reduce_combiner_input_format: Any = None,
        reduce_combiner_output_format: Any = None,
        reduce_combiner_local_files: Any = None,
        reduce_combiner_yt_files: Any = None,
        reduce_combiner_memory_limit: object = None,
        stderr_table: Any = None,
    ) -> Operation:
        """As a map, a sort and a reduce, without tables between them.

        The combiner takes the rows of each key before the reducer does; here it takes all of them.
        """
        check_absent(
            map_yt_files=map_yt_files,
            reduce_yt_files=reduce_yt_files,
            reduce_combiner_yt_files=reduce_combiner_yt_files,
            stderr_table=stderr_table,
        )
        steps: list[JobStep] = []

        def prepare(
            job: Any, settings: JobSettings, outputs: Sequence[TablePath | None] = (None,), **options: bool
        ) -> Job | None:
            if job is None:
                return None
            inputs = [None] if steps else _tables(source_table)
            steps.append(prepare_step(job, settings, inputs, outputs, self._find_schema, **options))
            return steps[-1].job

        formats = format, map_input_format, map_output_format
        map_settings = job_settings("mapper", spec, job_io, formats, map_local_files)
        formats = format, reduce_combiner_input_format, reduce_combiner_output_format
        files = reduce_combiner_local_files
        combiner_settings = job_settings("reduce_combiner", spec, job_io, formats, files)
        formats = format, reduce_input_format, reduce_output_format
        reduce_settings = job_settings("reducer", spec, job_io, formats, reduce_local_files)
        map_job = prepare(mapper, map_settings)
        combiner = prepare(reduce_combiner, combiner_settings, is_grouped=True, is_sorted=True)
        tables = _tables(destination_table)
        reduce_job = prepare(reducer, reduce_settings, tables, is_grouped=True, is_sorted=True)
        if reduce_job is None:
            raise YtError("there is no reducer; a map without one is run_map")
        keys = _sort_columns(reduce_by, "reduce_by"), _sort_columns(sort_by, "sort_by")
        run = partial(map_reduce_rows, self.store, map_job, reduce_job, combiner=combiner)
        tables_and_keys = steps[0].inputs, steps[-1].outputs, *keys
        return run_operation("map_reduce", sync, partial(run, *tables_and_keys))

    def run_operation(self, spec_builder: SpecBuilder, sync: bool = True, **settings: object) -> Operation:
        """The operation that a spec builder describes. Settings have no effect here."""
        method, arguments = spec_builder.build_call()
        operation: Operation = getattr(self, method)(**arguments, sync=sync)
        return operation


def path_document(table: Any) -> Any:
    return TablePath(table).to_yson_type()


def _paths(tables: Any) -> list[Any]:
    return [path_document(table) for table in _tables(tables)]


def _tables(tables: Any) -> list[TablePath]:
    if tables is None:
        return []
    return [TablePath(table) for table in (tables if isinstance(tables, list | tuple) else [tables])]


def _settings(spec: Spec) -> OperationSpec:
    return OperationSpec.parse(from_python(spec or {}))


def _columns(columns: Any) -> Any:
    return [columns] if isinstance(columns, str | SortColumn | Mapping) else list(columns)


def _sort_columns(columns: Any, name: str) -> Sequence[StoreSortColumn]:
    return () if columns is None else parse_sort_columns(from_python(_columns(columns)), name)
