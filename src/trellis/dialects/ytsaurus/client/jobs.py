"""Jobs of scripts: commands, or functions on rows as scripts know them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from trellis.dialects.ytsaurus.client.values import from_python, to_python
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.store.jobs.job import Command, Job, MapFunction, ReduceFunction
from trellis.errors import UsageError

Mapper = Callable[[Any], Iterable[Any]]
Reducer = Callable[[Any, Iterable[Any]], Iterable[Any]]


def map_job(job: str | Mapper, input_format: Format, output_format: Format, local_files: Any) -> Job:
    if isinstance(job, str):
        return Command(job, input_format, output_format, read_files(local_files))
    return MapFunction(_converted(job))


def reduce_job(job: str | Reducer, input_format: Format, output_format: Format, local_files: Any) -> Job:
    if isinstance(job, str):
        return Command(job, input_format, output_format, read_files(local_files))
    return ReduceFunction(_converted(job))


def read_files(paths: Any) -> Mapping[str, bytes]:
    """The files that a command finds in its folder, by their names. Raises UsageError."""
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths or ())]
    try:
        return {file.name: file.read_bytes() for file in files}
    except OSError as error:
        raise UsageError(f"a file of the job cannot be read: {error}") from None


def _converted(function: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
    @wraps(function)
    def converted(*arguments: Any) -> Iterator[Any]:
        rows = function(*(_argument(argument) for argument in arguments))
        return map(from_python, rows or ())

    return converted


def _argument(value: Any) -> Any:
    """A row or a key, or the rows of a key."""
    return to_python(value) if isinstance(value, Mapping) else map(to_python, value)
