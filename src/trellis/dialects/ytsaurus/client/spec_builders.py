"""Operations described step by step: `MergeSpecBuilder().input_table_paths(...).output_table_path(...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar

from trellis.dialects.ytsaurus.errors import YtError

B = TypeVar("B", bound="_Settings")
S = TypeVar("S", bound="SpecBuilder")

_TABLES: Final = {
    "input_table_paths": "source_table",
    "output_table_path": "destination_table",
    "output_table_paths": "destination_table",
}
_JOB_TABLES: Final = {**_TABLES, "stderr_table_path": "stderr_table", "job_io": "job_io"}
_JOB_SETTINGS: Final = ("command", "input_format", "output_format", "local_files")


class _Settings:
    """Settings that methods collect."""

    def __init__(self, spec: Mapping[str, Any] | None = None) -> None:
        self.settings = dict(spec or {})

    def spec(self: B, spec: Mapping[str, Any]) -> B:
        """Settings by their names in YTsaurus."""
        self.settings.update(spec)
        return self


def _setting(name: str) -> Callable[..., Any]:
    """A method that sets a value and gives the builder."""

    def set_value(self: B, value: Any = True) -> B:
        self.settings[name] = value
        return self

    return set_value


class SpecBuilder(_Settings):
    """An operation for `run_operation`. Settings that are about clusters have no effect."""

    method: ClassVar[str]
    """The method of the client that runs it."""
    arguments: ClassVar[Mapping[str, str]]
    """The settings that are arguments of the method, and their names there. The others are its spec."""
    required: ClassVar[tuple[str, ...]] = ("input_table_paths", "output_table_path")

    title = _setting("title")
    pool = _setting("pool")
    pool_trees = _setting("pool_trees")
    weight = _setting("weight")
    time_limit = _setting("time_limit")
    resource_limits = _setting("resource_limits")
    max_failed_job_count = _setting("max_failed_job_count")
    max_data_size_per_job = _setting("max_data_size_per_job")
    data_size_per_job = _setting("data_size_per_job")
    job_count = _setting("job_count")
    job_io = _setting("job_io")
    schema_inference_mode = _setting("schema_inference_mode")
    input_table_paths = _setting("input_table_paths")
    output_table_path = _setting("output_table_path")

    def build_call(self) -> tuple[str, dict[str, Any]]:
        """The method of the client and its arguments. Raises YtError where one is missing."""
        for name in self.required:
            if name not in self.settings:
                raise YtError(f"{type(self).__name__} has no {name}")
        spec = dict(self.settings)
        arguments = {name: spec.pop(key) for key, name in self.arguments.items() if key in spec}
        return self.method, {**arguments, "spec": spec}


class MergeSpecBuilder(SpecBuilder):
    method = "run_merge"
    arguments: ClassVar[Mapping[str, str]] = {**_TABLES, "mode": "mode", "merge_by": "merge_by"}
    mode = _setting("mode")
    merge_by = _setting("merge_by")
    combine_chunks = _setting("combine_chunks")
    force_transform = _setting("force_transform")


class SortSpecBuilder(SpecBuilder):
    method = "run_sort"
    arguments: ClassVar[Mapping[str, str]] = {**_TABLES, "sort_by": "sort_by"}
    required = ("input_table_paths",)
    sort_by = _setting("sort_by")
    partition_count = _setting("partition_count")


class EraseSpecBuilder(SpecBuilder):
    method = "run_erase"
    arguments: ClassVar[Mapping[str, str]] = {"table_path": "table"}
    required = ("table_path",)
    table_path = _setting("table_path")
    combine_chunks = _setting("combine_chunks")


class RemoteCopySpecBuilder(SpecBuilder):
    method = "run_remote_copy"
    arguments: ClassVar[Mapping[str, str]] = {
        **_TABLES,
        "cluster_name": "cluster_name",
        "copy_attributes": "copy_attributes",
    }
    required = (*SpecBuilder.required, "cluster_name")
    cluster_name = _setting("cluster_name")
    copy_attributes = _setting("copy_attributes")


class JobSpecBuilder(_Settings, Generic[S]):
    """A job of an operation, between `begin_mapper()` and `end_mapper()`."""

    command = _setting("command")
    format = _setting("format")
    input_format = _setting("input_format")
    output_format = _setting("output_format")
    local_files = _setting("local_files")
    environment = _setting("environment")
    cpu_limit = _setting("cpu_limit")
    memory_limit = _setting("memory_limit")
    memory_reserve_factor = _setting("memory_reserve_factor")
    job_time_limit = _setting("job_time_limit")

    def __init__(self, parent: S, name: str) -> None:
        super().__init__()
        self._parent = parent
        self._name = name

    def _end(self) -> S:
        """The operation, whose settings have those of the job: its command is that of mapper.command."""
        format = self.settings.pop("format", None)
        if format is not None:
            self.settings = {"input_format": format, "output_format": format, **self.settings}
        for name in _JOB_SETTINGS:
            if name in self.settings:
                self._parent.settings[f"{self._name}.{name}"] = self.settings.pop(name)
        self._parent.settings[self._name] = self.settings
        return self._parent

    end_mapper = end_reducer = end_reduce_combiner = _end


def _job_arguments(job: str, prefix: str = "") -> dict[str, str]:
    """The arguments of a method that its job sets."""
    return {f"{job}.{name}": f"{prefix}{name}" for name in _JOB_SETTINGS[1:]}


class MapSpecBuilder(SpecBuilder):
    method = "run_map"
    arguments: ClassVar[Mapping[str, str]] = {
        **_JOB_TABLES,
        "mapper.command": "binary",
        **_job_arguments("mapper"),
        "ordered": "ordered",
    }
    required = ("input_table_paths", "output_table_paths", "mapper.command")
    output_table_paths = _setting("output_table_paths")
    stderr_table_path = _setting("stderr_table_path")
    ordered = _setting("ordered")

    def begin_mapper(self) -> JobSpecBuilder[MapSpecBuilder]:
        return JobSpecBuilder(self, "mapper")


class ReduceSpecBuilder(SpecBuilder):
    method = "run_reduce"
    arguments: ClassVar[Mapping[str, str]] = {
        **_JOB_TABLES,
        "reducer.command": "binary",
        **_job_arguments("reducer"),
        "reduce_by": "reduce_by",
        "sort_by": "sort_by",
        "join_by": "join_by",
    }
    required: ClassVar[tuple[str, ...]] = ("input_table_paths", "output_table_paths", "reducer.command")
    output_table_paths = _setting("output_table_paths")
    stderr_table_path = _setting("stderr_table_path")
    reduce_by = _setting("reduce_by")
    sort_by = _setting("sort_by")
    join_by = _setting("join_by")

    def begin_reducer(self) -> JobSpecBuilder[ReduceSpecBuilder]:
        return JobSpecBuilder(self, "reducer")


class JoinReduceSpecBuilder(ReduceSpecBuilder):
    required = (*ReduceSpecBuilder.required, "join_by")


class MapReduceSpecBuilder(SpecBuilder):
    method = "run_map_reduce"
    arguments: ClassVar[Mapping[str, str]] = {
        **_JOB_TABLES,
        "mapper.command": "mapper",
        "reducer.command": "reducer",
        **_job_arguments("mapper", "map_"),
        "reduce_combiner.command": "reduce_combiner",
        **_job_arguments("reducer", "reduce_"),
        **_job_arguments("reduce_combiner", "reduce_combiner_"),
        "reduce_by": "reduce_by",
        "sort_by": "sort_by",
    }
    required = ("input_table_paths", "output_table_paths", "reducer.command", "reduce_by")
    output_table_paths = _setting("output_table_paths")
    stderr_table_path = _setting("stderr_table_path")
    map_job_io = _setting("map_job_io")
    sort_job_io = _setting("sort_job_io")
    reduce_job_io = _setting("reduce_job_io")
    reduce_by = _setting("reduce_by")
    sort_by = _setting("sort_by")
    partition_count = _setting("partition_count")

    def begin_mapper(self) -> JobSpecBuilder[MapReduceSpecBuilder]:
        return JobSpecBuilder(self, "mapper")

    def begin_reducer(self) -> JobSpecBuilder[MapReduceSpecBuilder]:
        return JobSpecBuilder(self, "reducer")

    def begin_reduce_combiner(self) -> JobSpecBuilder[MapReduceSpecBuilder]:
        return JobSpecBuilder(self, "reduce_combiner")

    def build_call(self) -> tuple[str, dict[str, Any]]:
        """Without a mapper the rows of the inputs are sorted as they are."""
        method, arguments = super().build_call()
        return method, {"mapper": None, **arguments}
