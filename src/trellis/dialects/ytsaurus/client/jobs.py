"""Jobs of scripts: commands, or functions on rows as scripts know them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from trellis.dialects.ytsaurus.client.contexts import ALL_MARKS, Context, RowIterator, with_table_index
from trellis.dialects.ytsaurus.client.formats import has_marks_in_rows
from trellis.dialects.ytsaurus.client.typed_jobs import TypedRows
from trellis.dialects.ytsaurus.client.values import YsonEntity, from_python, to_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.store.jobs.job import (
    KEY_SWITCH,
    TABLE_INDEX,
    Command,
    Job,
    RowGroup,
    TaskFunction,
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


def with_context(function: F) -> F:
    """Mark a function that takes `context=`, which tells where the row that it read last comes from."""
    function.takes_context = True  # type: ignore[attr-defined]
    return function


def create_table_switch(table_index: int) -> YsonEntity:
    """What a function gives so that the rows after it go to the output of this number."""
    switch = YsonEntity()
    switch.attributes = {"table_index": table_index}
    return switch


@dataclass(frozen=True)
class JobSettings:
    """What the arguments of an operation say about one of its jobs."""

    input_format: Format
    output_format: Format
    local_files: Any = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()
    """What rows are to tell of their places."""


def make_job(job: Any, settings: JobSettings, *, is_grouped: bool, typed: TypedRows | None = None) -> Job:
    """A command, or a function on rows: on each, or with `is_grouped` on each key and its rows."""
    if isinstance(job, str):
        files = read_files(settings.local_files)
        formats = settings.input_format, settings.output_format
        return Command(job, *formats, files, settings.environment, settings.marks)
    for format in (settings.input_format, settings.output_format):
        if format.name not in ("yson", "json"):
            raise YtError(
                f"the format {format.name} is for commands; a function takes and gives rows of yson or json"
            )
    marks = settings.marks - {KEY_SWITCH}
    in_rows = has_marks_in_rows(settings.input_format)
    takes_context = getattr(job, "takes_context", False)
    if typed is not None:
        marks = ALL_MARKS
    elif takes_context:
        marks |= {TABLE_INDEX}
    elif not in_rows:
        marks = frozenset()
    return TaskFunction(_FunctionOfTask(job, is_grouped, typed, in_rows), marks)


def read_files(paths: Any) -> Mapping[str, bytes]:
    """The files that a command finds in its folder, by their names. Raises UsageError."""
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths or ())]
    try:
        return {file.name: file.read_bytes() for file in files}
    except OSError as error:
        raise UsageError(f"the file {error.filename} of the job cannot be read: {error.strerror}") from None


class _FunctionOfTask:
    """A function of a script as one that takes the groups of a task."""

    def __init__(
        self, job: Callable[..., Any], is_grouped: bool, typed: TypedRows | None, has_marks: bool
    ) -> None:
        self._job = job
        self._is_grouped = is_grouped
        self._typed = typed
        self._has_marks = has_marks
        self.__qualname__ = getattr(job, "__qualname__", type(job).__qualname__)

    def __call__(self, groups: Iterable[RowGroup]) -> Iterator[Row]:
        results = chain.from_iterable(result or () for result in self._results(groups))
        return _route_rows(results) if self._typed is None else map(self._typed.writer(), results)

    def _results(self, groups: Iterable[RowGroup]) -> Iterator[Iterable[Any] | None]:
        """What the calls of the function give, one after the other."""
        job, context = self._job, Context()
        options = {"context": context} if getattr(job, "takes_context", False) else {}

        def convert(rows: Iterable[Row]) -> Iterator[Any]:
            if self._typed is not None:
                return RowIterator(context.follow_marks(rows), self._typed.reader(context), context)
            if options:
                return RowIterator(context.follow_marks(rows), to_python, context)
            return map(to_python, map(with_table_index, rows) if self._has_marks else rows)

        if getattr(job, "is_aggregator", False):
            yield job(convert(chain.from_iterable(rows for _, rows in groups)), **options)
            return
        calls: Iterator[tuple[Any, ...]]
        if not self._is_grouped:
            calls = ((row,) for _, rows in groups for row in convert(rows))
        elif self._typed is None:
            calls = ((to_python(key), convert(rows)) for key, rows in groups)
        else:
            calls = ((convert(rows),) for _, rows in groups)
        if getattr(job, "is_reduce_aggregator", False):
            yield job((call if self._typed is None else call[0] for call in calls), **options)
            return
        yield _call_method(job, "start")
        for call in calls:
            yield job(*call, **options)
        yield _call_method(job, "finish")


def _call_method(job: Any, name: str) -> Iterable[Any] | None:
    """What a class of jobs gives before its first row and after its last."""
    method = getattr(job, name, None)
    return method() if callable(method) else None


def _route_rows(results: Iterable[Any]) -> Iterator[Row]:
    """Rows with the outputs that switches between them name."""
    switch: dict[str, int] = {}
    for row in results:
        if isinstance(row, YsonEntity):
            switch = {TABLE_INDEX: row.attributes["table_index"]}
        else:
            yield {**switch, **from_python(row)} if switch else from_python(row)
