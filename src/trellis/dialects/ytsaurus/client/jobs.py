"""Jobs of scripts: commands, or functions on rows as scripts know them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from trellis.dialects.ytsaurus.client.values import from_python, to_python
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.store.jobs.job import (
    Command,
    GroupsFunction,
    Job,
    MapFunction,
    ReduceFunction,
)
from trellis.errors import UsageError

Mapper = Callable[[Any], Iterable[Any]]
Reducer = Callable[[Any, Iterable[Any]], Iterable[Any]]


F = TypeVar("F", bound=Callable[..., Any])


def aggregator(function: F) -> F:
    """Mark a function of a map that takes all rows of a task, and not one."""
    function.is_aggregator = True  # type: ignore[attr-defined]
    return function


def reduce_aggregator(function: F) -> F:
    """Mark a function of a reduce that takes all keys of a task with their rows, and not one."""
    function.is_reduce_aggregator = True  # type: ignore[attr-defined]
    return function


def map_job(
    job: str | Mapper,
    input_format: Format,
    output_format: Format,
    local_files: Any,
    environment: Mapping[str, str],
) -> Job:
    if isinstance(job, str):
        return Command(job, input_format, output_format, read_files(local_files), environment)
    if getattr(job, "is_aggregator", False):
        return GroupsFunction(_converted(job), with_keys=False)
    return MapFunction(_converted(job))


def reduce_job(
    job: str | Reducer,
    input_format: Format,
    output_format: Format,
    local_files: Any,
    environment: Mapping[str, str],
) -> Job:
    if isinstance(job, str):
        return Command(job, input_format, output_format, read_files(local_files), environment)
    if getattr(job, "is_reduce_aggregator", False):
        return GroupsFunction(_converted(job), with_keys=True)
    return ReduceFunction(_converted(job))


def read_files(paths: Any) -> Mapping[str, bytes]:
    """The files that a command finds in its folder, by their names. Raises UsageError."""
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths or ())]
    try:
        return {file.name: file.read_bytes() for file in files}
    except OSError as error:
        raise UsageError(f"the file {error.filename} of the job cannot be read: {error.strerror}") from None


def _converted(function: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
    @wraps(function)
    def converted(*arguments: Any) -> Iterator[Any]:
        rows = function(*(_argument(argument) for argument in arguments))
        return map(from_python, rows or ())

    return converted


def _argument(value: Any) -> Any:
    """A row or a key, rows, or keys with their rows."""
    if isinstance(value, tuple):
        return tuple(map(_argument, value))
    return to_python(value) if isinstance(value, Mapping) else map(_argument, value)
