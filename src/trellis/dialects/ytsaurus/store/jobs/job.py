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
from trellis.dialects.ytsaurus.formats.row import ReadingNotes, Row
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes, to_key
from trellis.errors import TrellisError, nearest

TABLE_INDEX: Final = "@table_index"
"""The key of a row of a function that numbers its output, from 0; of a row for a job, its input."""
RANGE_INDEX: Final = "@range_index"
ROW_INDEX: Final = "@row_index"
KEY_SWITCH: Final = "@key_switch"
"""Commands get it between the groups of rows."""
_CONTROLS: Final = {f"enable_{mark[1:]}": mark for mark in (TABLE_INDEX, RANGE_INDEX, ROW_INDEX, KEY_SWITCH)}
_ROW_FORMATS: Final = ("yson", "json", "dsv", "schemaful_dsv", "yaml")
_STDERR_SIZE: Final = 2000
_MAX_OUTPUTS: Final = 3
"""Outputs have the descriptors 1, 4, 7; shells know those of one digit."""

_DEFAULT_FORMAT: Final = Attributed("yson", {"format": "text"})

_PLACES: Final = (TABLE_INDEX, RANGE_INDEX, ROW_INDEX)

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

    @property
    def marks(self) -> frozenset[str]:
        """What rows tell of their places, as keys: @table_index, @range_index, @row_index."""
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
    marks: frozenset[str] = frozenset()
    """They come as control attributes between the rows."""

    def __post_init__(self) -> None:
        for format in (self.input_format, self.output_format):
            if format.name not in _ROW_FORMATS:
                raise YtError(
                    f"the format {format.name} is not one of jobs; expected one of {', '.join(_ROW_FORMATS)}"
                )
        if self.marks and self.input_format.name not in ("yson", "json"):
            raise YtError(
                f"the format {self.input_format.name} has no control attributes; expected yson or json"
            )

    @classmethod
    def parse(cls, document: Mapping[str, Any], job_io: Mapping[str, Any] | None = None) -> Command:
        """As `mapper` or `reducer` of the spec of an operation, and its `job_io`. Raises YtError."""
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
        return cls(
            to_key(document["command"]),
            input_format,
            output_format,
            environment=environment,
            marks=parse_marks((job_io or {}).get("control_attributes")),
        )

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
            self._run_process(sandbox, results, self._write_groups(groups))
            for index, path in enumerate(results):
                with path.open("rb") as stream:
                    yield from ((index, row) for row in self._read_output(stream))

    def _write_groups(self, groups: Iterable[RowGroup]) -> Iterator[bytes]:
        if not self.marks:
            yield from self.input_format.write_rows(chain.from_iterable(rows for _, rows in groups))
            return
        places: dict[str, int] = {}
        for number, (_, rows) in enumerate(groups):
            if number and KEY_SWITCH in self.marks:
                yield self.input_format.write_marks({KEY_SWITCH[1:]: True})
            for row in rows:
                marks: dict[str, int] = {name: row.pop(name) for name in _PLACES if name in row}
                news = {name[1:]: mark for name, mark in marks.items() if places.get(name) != mark}
                yield self.input_format.write_marks(news)
                yield from self.input_format.write_rows([row])
                places = {**marks, ROW_INDEX: marks.get(ROW_INDEX, 0) + 1}

    def _read_output(self, stream: BinaryIO) -> Iterator[Row]:
        place, notes = f"the output of the command {shlex.quote(self.command)}", ReadingNotes()
        try:
            yield from self.output_format.read_rows(stream, notes)
        except YtError as error:
            raise YtError(f"{place}: {error.message}", ErrorCode.USER_JOB_FAILED) from None
        notes.tell(place)

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
class TaskFunction:
    """A function that takes the groups of a task, common columns with their rows, and gives rows."""

    function: Callable[[Iterable[RowGroup]], Iterable[Row]]
    marks: frozenset[str] = frozenset()
    input_forms: ValueForms = DEFAULT_FORMS
    output_forms: ValueForms = DEFAULT_FORMS

    def run(self, groups: Iterable[RowGroup], outputs: int) -> Iterator[OutputRow]:
        try:
            for row in self.function(groups):
                yield _route(row, outputs)
        except TrellisError:
            raise
        except Exception as error:
            name = getattr(self.function, "__qualname__", repr(self.function))
            raise YtError(
                f"the function {name} failed: {type(error).__name__}: {error}", ErrorCode.USER_JOB_FAILED
            ) from error


def parse_marks(control_attributes: Any) -> frozenset[str]:
    """What `enable_row_index` and the like ask for. Raises YtError for what is not known."""
    settings, _ = split_attributes(control_attributes or {})
    if not isinstance(settings, Mapping):
        raise YtError("control_attributes is not a map; expected one such as {enable_row_index=%true}")
    unknown = settings.keys() - {*_CONTROLS, "enable_tablet_index", "enable_end_of_stream"}
    if unknown:
        name = min(unknown)
        raise YtError(f"there is no control attribute {name!r}{nearest(name, _CONTROLS)}")
    flags = {name: parse_flag(value) for name, value in settings.items()}
    wrong = [name for name, flag in flags.items() if flag is None or (flag and name not in _CONTROLS)]
    if wrong:
        raise YtError(f"the control attribute {wrong[0]} cannot be {settings[wrong[0]]!r} here")
    return frozenset(_CONTROLS[name] for name, flag in flags.items() if flag)


def _write_blocks(stream: IO[bytes], blocks: Iterable[bytes]) -> None:
    try:
        with stream:
            stream.writelines(blocks)
    except BrokenPipeError:  # the command needs no more rows, as `head` does
        return


def _route(row: Row, outputs: int) -> OutputRow:
    if not isinstance(row, Mapping) or TABLE_INDEX not in row:
        return 0, row
    index = 0 if row[TABLE_INDEX] is None else row[TABLE_INDEX]
    if not isinstance(index, int) or not 0 <= index < outputs:
        raise YtError(f"{TABLE_INDEX} is {index!r}; there are {outputs} outputs, counted from 0")
    return index, {name: value for name, value in row.items() if name != TABLE_INDEX}
