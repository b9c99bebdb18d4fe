"""The jobs of operations, put together from the arguments of their methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.ytsaurus.client.formats import parse_format
from trellis.dialects.ytsaurus.client.jobs import JobSettings, make_job
from trellis.dialects.ytsaurus.client.schema.table_schema import TableSchema
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.typed_jobs import TypedJob, prepare_job
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.store.jobs.job import TABLE_INDEX, Job, parse_marks

Spec = Mapping[str, Any] | None
ScriptJob = str | Callable[..., Any] | TypedJob
"""A command, a function, or a job on objects."""
_JOB_IO: Final = {
    "mapper": "map_job_io",
    "reduce_combiner": "sort_job_io",
    "reducer": "reduce_job_io",
}


@dataclass(frozen=True)
class JobStep:
    """A job, and the documents of the paths that it reads and writes; None between two steps."""

    job: Job
    inputs: Sequence[Any]
    outputs: Sequence[Any]


def job_settings(
    section: str, spec: Spec, job_io: Spec, formats: tuple[Any, Any, Any], local_files: Any
) -> JobSettings:
    """`section` is that of the spec; `formats` are that of both sides, of the input and of the output.

    Raises YtError.
    """
    common, input_format, output_format = formats
    document = (spec or {}).get(section) or {}
    controls: dict[str, Any] = {}
    for settings in (job_io, (spec or {}).get("job_io"), (spec or {}).get(_JOB_IO[section])):
        controls |= (settings or {}).get("control_attributes") or {}
    marks = parse_marks(controls)
    if document.get("enable_input_table_index"):
        marks |= {TABLE_INDEX}
    return JobSettings(
        parse_format(input_format or common),
        parse_format(output_format or common),
        local_files,
        {str(name): str(value) for name, value in document.get("environment", {}).items()},
        marks,
    )


def prepare_step(
    job: ScriptJob,
    settings: JobSettings,
    inputs: Sequence[TablePath | None],
    outputs: Sequence[TablePath | None],
    find_schema: Callable[[TablePath], TableSchema | None],
    *,
    is_grouped: bool = False,
    is_sorted: bool = False,
) -> JobStep:
    """The job with its tables; with `is_sorted` the inputs are one table by then. Raises YtError."""
    typed = None
    if isinstance(job, TypedJob):
        typed, inputs, outputs = prepare_job(job, inputs, outputs, find_schema)
        if is_sorted and len({*typed.input_types}) > 1:
            raise YtError(
                f"{type(job).__qualname__} takes rows of several types, and a map-reduce sorts its inputs as "
                "one table; give rows of one type, by a mapper"
            )
    step_job = make_job(job, settings, is_grouped=is_grouped, typed=typed)
    return JobStep(
        step_job, *([path and path.to_yson_type() for path in paths] for paths in (inputs, outputs))
    )


def check_absent(**arguments: Any) -> None:
    """Raises YtError for arguments that name what a store does not have."""
    for name, value in arguments.items():
        if value and name.endswith("yt_files"):
            local = name.replace("yt_files", "local_files")
            raise YtError(f"{name}: a store has no files; name those of this machine with {local}")
        if value:
            raise YtError(
                f"{name}: a store keeps no errors of jobs; that of one that fails is in its message"
            )
