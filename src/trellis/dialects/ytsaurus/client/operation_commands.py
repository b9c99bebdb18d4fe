"""Operations on the tables of a store with the methods of the client of YTsaurus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from trellis.dialects.ytsaurus.client.formats import parse_format
from trellis.dialects.ytsaurus.client.jobs import map_job, reduce_job
from trellis.dialects.ytsaurus.client.operation import Operation, run_operation
from trellis.dialects.ytsaurus.client.spec_builders import SpecBuilder
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.table_schema import SortColumn
from trellis.dialects.ytsaurus.client.values import from_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
from trellis.dialects.ytsaurus.schema.model import SortColumn as StoreSortColumn
from trellis.dialects.ytsaurus.store import operations
from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows, map_rows, reduce_rows
from trellis.dialects.ytsaurus.store.operations import MergeMode, OperationSpec
from trellis.dialects.ytsaurus.store.store import Store

Spec = Mapping[str, Any] | None
_TUNING: Final = {
    *("job_count", "job_io", "table_writer", "memory_limit", "mapper_memory_limit", "reducer_memory_limit")
}
_JOB_IO: Final = ("job_io", "map_job_io", "reduce_job_io")


class OperationCommands(ABC):
    """Operations run at once, also with `sync=False`, where an error is raised by `Operation.wait`.

    The options of `tuning` are about clusters and have no effect here: job_count, job_io, table_writer,
    memory_limit and the like.
    """

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store in the transaction that the client is in."""

    def run_merge(
        self,
        source_table: Any,
        destination_table: Any,
        mode: MergeMode = "auto",
        merge_by: Any = None,
        spec: Spec = None,
        sync: bool = True,
        **tuning: object,
    ) -> Operation:
        _check_tuning(tuning)
        document = dict(spec or {})
        if merge_by is not None:
            document["merge_by"] = _columns(merge_by)

        def run() -> None:
            operations.merge(
                self.store, _paths(source_table), path_document(destination_table), mode, _settings(document)
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
        spec: Spec = None,
        sync: bool = True,
        **tuning: object,
    ) -> Operation:
        _check_tuning(tuning)
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
        binary: str | Callable[[Any], Iterable[Any]],
        source_table: Any,
        destination_table: Any,
        local_files: Any = (),
        format: Any = None,
        input_format: Any = None,
        output_format: Any = None,
        ordered: object = None,
        spec: Spec = None,
        sync: bool = True,
        **tuning: object,
    ) -> Operation:
        """Rows through a function that takes one and gives some, or a command. Their order is kept."""
        _check_tuning(tuning, spec)
        formats = _formats(format, input_format, output_format)
        job = map_job(binary, *formats, local_files, _environment(spec, "mapper"))
        tables = _paths(source_table), _paths(destination_table)
        return run_operation("map", sync, partial(map_rows, self.store, job, *tables))

    def run_reduce(
        self,
        binary: str | Callable[[Any, Iterable[Any]], Iterable[Any]],
        source_table: Any,
        destination_table: Any,
        local_files: Any = (),
        format: Any = None,
        input_format: Any = None,
        output_format: Any = None,
        sort_by: Any = None,
        reduce_by: Any = None,
        spec: Spec = None,
        sync: bool = True,
        **tuning: object,
    ) -> Operation:
        """The rows of each key through a function that takes both, or a command. Inputs are sorted."""
        _check_tuning(tuning, spec)
        formats = _formats(format, input_format, output_format)
        job = reduce_job(binary, *formats, local_files, _environment(spec, "reducer"))
        tables = _paths(source_table), _paths(destination_table)
        keys = _sort_columns(reduce_by, "reduce_by"), _sort_columns(sort_by, "sort_by")
        return run_operation("reduce", sync, partial(reduce_rows, self.store, job, *tables, *keys))

    def run_map_reduce(
        self,
        mapper: str | Callable[[Any], Iterable[Any]] | None,
        reducer: str | Callable[[Any, Iterable[Any]], Iterable[Any]],
        source_table: Any,
        destination_table: Any,
        format: Any = None,
        map_input_format: Any = None,
        map_output_format: Any = None,
        reduce_input_format: Any = None,
        reduce_output_format: Any = None,
        map_local_files: Any = (),
        reduce_local_files: Any = (),
        sort_by: Any = None,
        reduce_by: Any = None,
        spec: Spec = None,
        sync: bool = True,
        **tuning: object,
    ) -> Operation:
        """As a map, a sort and a reduce, without tables between them."""
        _check_tuning(tuning, spec)
        map_step = None
        if mapper is not None:
            formats = _formats(format, map_input_format, map_output_format)
            map_step = map_job(mapper, *formats, map_local_files, _environment(spec, "mapper"))
        formats = _formats(format, reduce_input_format, reduce_output_format)
        reduce_step = reduce_job(reducer, *formats, reduce_local_files, _environment(spec, "reducer"))
        tables = _paths(source_table), _paths(destination_table)
        keys = _sort_columns(reduce_by, "reduce_by"), _sort_columns(sort_by, "sort_by")
        run = partial(map_reduce_rows, self.store, map_step, reduce_step, *tables, *keys)
        return run_operation("map_reduce", sync, run)

    def run_operation(self, spec_builder: SpecBuilder, sync: bool = True, **settings: object) -> Operation:
        """The operation that a spec builder describes. Settings have no effect here."""
        method, arguments = spec_builder.build_call()
        operation: Operation = getattr(self, method)(**arguments, sync=sync)
        return operation


def path_document(table: Any) -> Any:
    return TablePath(table).to_yson_type()


def _paths(tables: Any) -> list[Any]:
    return [path_document(table) for table in (tables if isinstance(tables, list | tuple) else [tables])]


def _settings(spec: Spec) -> OperationSpec:
    return OperationSpec.parse(from_python(spec or {}))


def _columns(columns: Any) -> Any:
    return [columns] if isinstance(columns, str | SortColumn | Mapping) else list(columns)


def _sort_columns(columns: Any, name: str) -> Sequence[StoreSortColumn]:
    return () if columns is None else parse_sort_columns(from_python(_columns(columns)), name)


def _formats(format: Any, input_format: Any, output_format: Any) -> tuple[Format, Format]:
    return parse_format(input_format or format), parse_format(output_format or format)


def _environment(spec: Spec, job: str) -> Mapping[str, str]:
    """The variables that the spec of an operation sets for a job."""
    section = (spec or {}).get(job) or {}
    return {str(name): str(value) for name, value in section.get("environment", {}).items()}


def _check_tuning(tuning: Mapping[str, Any], spec: Spec = None) -> None:
    """Raises YtError for options that would change what an operation does."""
    unknown = tuning.keys() - _TUNING
    if unknown:
        raise YtError(f"an operation on a store has no option {min(unknown)}")
    for section in [tuning.get("job_io"), *((spec or {}).get(name) for name in _JOB_IO)]:
        if section and section.get("control_attributes"):
            raise YtError("job_io has control_attributes, which jobs on a store do not get")
