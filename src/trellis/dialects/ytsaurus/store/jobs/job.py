"""What a job does with its rows: a command of the shell reads and writes them, or a function takes them."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO, Final, Protocol

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms
from trellis.dialects.ytsaurus.yson.values import Attributed, to_key

TABLE_INDEX: Final = "@table_index"
"""The key of a row of a function that numbers its output, from 0."""
_STDERR_SIZE: Final = 2000
_MAX_OUTPUTS: Final = 3
"""Outputs have the descriptors 1, 4, 7; shells know those of one digit."""

_DEFAULT_FORMAT: Final = Attributed("yson", {"format": "text"})

RowGroup = tuple[Row, Iterable[Row]]
"""The columns that rows have in common, and the rows. A map has one group without common columns."""
OutputRow = tuple[int, Row]
"""The number of the output, and the row."""


class Job(Protocol):
    """What a task does with its rows. Jobs are pickled."""

    @property
    def input_forms(self) -> ValueForms:
        """The forms that values have for the job."""
        ...

    @property
    def output_forms(self) -> ValueForms:
        """The forms that values of the job have."""
        ...

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        """Raises YtError with the code 1205 where the job fails."""
        ...


@dataclass(frozen=True)
class Command:
    """A command of the shell: rows come at its standard input, and go to the descriptors 1, 4 and 7.

    It runs in an empty folder that has only the `files`, and its output counts if it ends with 0.
    """

    command: str
    input_format: Format
    output_format: Format
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Command:
        """As `mapper` or `reducer` of the spec of an operation. Raises YtError."""
        if "command" not in document:
            raise YtError("the spec of the job has no command")
        if document.get("file_paths"):
            raise YtError(
                "file_paths name files of a cluster, which a store does not have; use `trellis table` with "
                "--local-file"
            )
        default = document.get("format", _DEFAULT_FORMAT)
        input_format = Format.from_document(document.get("input_format", default))
        output_format = Format.from_document(document.get("output_format", default))
        environment = {to_key(name): to_key(value) for name, value in document.get("environment", {}).items()}
        return cls(to_key(document["command"]), input_format, output_format, environment=environment)

    @property
    def input_forms(self) -> ValueForms:
        return self.input_format.forms

    @property
    def output_forms(self) -> ValueForms:
        return self.output_format.forms

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        if outputs > _MAX_OUTPUTS:
            raise YtError(f"a command writes at most {_MAX_OUTPUTS} tables, not {outputs}; use a function")
        with TemporaryDirectory(prefix="trellis-job-") as folder:
            results = [Path(folder) / f"output{index}" for index in range(outputs)]
            sandbox = Path(folder) / "sandbox"
            sandbox.mkdir()
            for name, data in self.files.items():
                (sandbox / name).write_bytes(data)
                (sandbox / name).chmod(0o755)
            rows = chain.from_iterable(rows for _, rows in groups)
            self._run_process(sandbox, results, self.input_format.write_rows(rows))
            for index, path in enumerate(results):
                with path.open("rb") as stream:
                    yield from ((index, row) for row in self._read_output(stream))

    def _read_output(self, stream: BinaryIO) -> Iterator[Row]:
        try:
            yield from self.output_format.read_rows(stream)
        except YtError as error:
            raise YtError(
                f"the output of the command {shlex.quote(self.command)}: {error.message}",
                ErrorCode.USER_JOB_FAILED,
            ) from None

    def _run_process(self, sandbox: Path, results: list[Path], blocks: Iterable[bytes]) -> None:
        redirects = "".join(
            f"exec {1 + 3 * index}>{shlex.quote(str(path))}; " for index, path in enumerate(results)
        )
        log = sandbox.parent / "stderr"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                ["/bin/sh", "-c", f"{redirects}{self.command}"],
                cwd=sandbox,
                env={**os.environ, **self.environment},
                stdin=subprocess.PIPE,
                stderr=stderr,
            )
            try:
                assert process.stdin is not None
                _write_blocks(process.stdin, blocks)
            except BaseException:
                process.kill()
                raise
            finally:
                code = process.wait()
        if code:
            text = log.read_bytes()[-_STDERR_SIZE:].decode("utf-8", "backslashreplace").strip()
            raise YtError(
                f"the command {shlex.quote(self.command)} ended with code {code}: {text or 'no message'}",
                ErrorCode.USER_JOB_FAILED,
                attributes={"stderr": text},
            )


@dataclass(frozen=True)
class MapFunction:
    """A function that takes a row and gives rows."""

    function: Callable[[Row], Iterable[Row]]
    input_forms: ValueForms = DEFAULT_FORMS
    output_forms: ValueForms = DEFAULT_FORMS

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        for _, rows in groups:
            for row in rows:
                yield from _call(self.function, outputs, row)


@dataclass(frozen=True)
class ReduceFunction:
    """A function that takes a key and the rows that have it, and gives rows."""

    function: Callable[[Row, Iterable[Row]], Iterable[Row]]
    input_forms: ValueForms = DEFAULT_FORMS
    output_forms: ValueForms = DEFAULT_FORMS

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        for key, rows in groups:
            yield from _call(self.function, outputs, key, rows)


@dataclass(frozen=True)
class GroupsFunction:
    """A function that takes all keys of a task with their rows, or the rows alone, and gives rows."""

    function: Callable[[Iterable[Any]], Iterable[Row]]
    with_keys: bool
    input_forms: ValueForms = DEFAULT_FORMS
    output_forms: ValueForms = DEFAULT_FORMS

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        rows = groups if self.with_keys else chain.from_iterable(rows for _, rows in groups)
        yield from _call(self.function, outputs, rows)


def _write_blocks(stream: IO[bytes], blocks: Iterable[bytes]) -> None:
    try:
        with stream:
            stream.writelines(blocks)
    except BrokenPipeError:  # the command needs no more rows, as `head` does
        return


def _call(function: Callable[..., Iterable[Row]], outputs: int, *arguments: Any) -> Iterator[OutputRow]:
    try:
        for row in function(*arguments) or ():
            yield _route(row, outputs)
    except YtError:
        raise
    except Exception as error:
        name = getattr(function, "__qualname__", repr(function))
        raise YtError(
            f"the function {name} failed: {type(error).__name__}: {error}", ErrorCode.USER_JOB_FAILED
        ) from error


def _route(row: Row, outputs: int) -> OutputRow:
    if not isinstance(row, Mapping) or TABLE_INDEX not in row:
        return 0, row
    index = row[TABLE_INDEX]
    if not isinstance(index, int) or not 0 <= index < outputs:
        raise YtError(f"{TABLE_INDEX} is {index!r}; there are {outputs} outputs, counted from 0")
    return index, {name: value for name, value in row.items() if name != TABLE_INDEX}
