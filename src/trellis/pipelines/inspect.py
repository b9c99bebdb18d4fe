"""What is really in the data: every path, every kind of value there, counts, first places, examples.

import trellis.pipelines.inspect
found = trellis.pipelines.inspect.inspect("events/*.jsonl")
found.paths[0].kinds[0].first      # a Place: file and line
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, get_args

from trellis.engine.input.blocks import Split
from trellis.engine.input.files import InputFile, input_files, split_for, splits_of
from trellis.engine.input.read_options import ReadOptions
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner, Runner
from trellis.engine.spark.progress import ProgressNote, ProgressNotes
from trellis.engine.spark.storage import current_storage
from trellis.engine.storage.storage import Storage
from trellis.engine.survey.paths import Kind, Node, Place, Seen
from trellis.engine.survey.splits import SplitSurvey, merged, scan_split, survey_split
from trellis.engine.survey.survey import Survey
from trellis.pipelines.engine import Engine, runner_of
from trellis.pipelines.records import records_of

CHUNK = 5_000
ProgressCallback = Callable[[str, int, int | None], Any]


def _silent(_: str, __: int, ___: int | None) -> None:
    return None


@dataclass(frozen=True)
class KindReport:
    """One kind of value at a path."""

    kind: Kind
    count: int
    first: Place
    example: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "count": self.count, "first": _place(self.first), "example": self.example}


@dataclass(frozen=True)
class PathReport:
    """One path. `missing` counts the objects around it that have no such key."""

    path: str
    depth: int
    count: int
    missing: int
    timestamps: int
    kinds: tuple[KindReport, ...]

    @property
    def nulls(self) -> int:
        return next((kind.count for kind in self.kinds if kind.kind == "null"), 0)

    @property
    def mixed(self) -> bool:
        """Whether values of several kinds stand here, null aside."""
        return sum(kind.kind != "null" for kind in self.kinds) > 1

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "count": self.count,
            "nulls": self.nulls,
            "missing": self.missing,
            "timestamps": self.timestamps,
            "kinds": [kind.to_dict() for kind in self.kinds],
        }


@dataclass(frozen=True)
class RecordFault:
    """Lines that are no records, or duplicate keys in an object."""

    what: str
    count: int
    first: Place
    example: str

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "first": _place(self.first), "example": self.example}


@dataclass(frozen=True)
class Inspection:
    """All that was found. Paths stand in the order in which they were first seen."""

    files: tuple[str, ...]
    records: int
    paths: tuple[PathReport, ...]
    rejects: tuple[RecordFault, ...] = ()
    duplicate_keys: tuple[RecordFault, ...] = ()

    @property
    def rejected(self) -> int:
        return sum(reject.count for reject in self.rejects)

    def to_dict(self) -> dict[str, Any]:
        """The object that `trellis inspect --json` prints."""
        return {
            "files": list(self.files),
            "rows": {"in": self.records + self.rejected, "read": self.records, "rejected": self.rejected},
            "paths": [path.to_dict() for path in self.paths],
            "rejects": {reject.what: reject.to_dict() for reject in self.rejects},
            "duplicate_keys": {duplicate.what: duplicate.to_dict() for duplicate in self.duplicate_keys},
        }


def inspect(
    source: str | Path | Sequence[str | Path] | Iterable[Any],
    tell: ProgressCallback = _silent,
    *,
    engine: Engine | None = None,
    master: str | None = None,
    remote: str | None = None,
    format: str | None = None,
    read_options: Mapping[str, Any] = MappingProxyType({}),
) -> Inspection:
    """Look at every record of some files (paths, folders, patterns) or of an iterable of dicts.

    Files are read by Spark, as `Pipeline` does it, also in any `format` that Spark reads. `tell` is called
    with ("inspect", bytes done, bytes in all). Raises UsageError for what cannot be read, SparkError.
    """
    runner = runner_of(engine, master, remote, tell)
    if isinstance(source, (str, Path)):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(path, (str, Path)) for path in source):
        paths = [str(path) for path in source]
        records = records_of(paths, runner, read_options=ReadOptions.of(format, read_options))
        if isinstance(records, FileRecords):
            names = [file.path for file in records.files]
            return inspection(_survey(records.files, runner, records.storage, tell), names)
        from trellis.engine.spark.frames import FrameRecords
        from trellis.engine.spark.survey import survey_frame

        assert isinstance(records, FrameRecords)
        return inspection(survey_frame(records), [file.name for file in records.files] or paths)
    survey = Survey()
    first, chunk = 1, list[Any]()
    for item in source:
        chunk.append(item)
        if len(chunk) == CHUNK:
            survey.items("records", chunk, first)
            first, chunk = first + CHUNK, []
    survey.items("records", chunk, first)
    return inspection(survey, [])


def survey_files(
    survey: Survey, sources: Sequence[str | Path], tell: ProgressCallback | None = None
) -> list[str]:
    """Let a survey look at every record of some files; gives the paths of the files."""
    storage = current_storage()
    files = input_files([str(path) for path in sources], storage)
    _scan(survey, files, storage, tell or _silent)
    return [file.path for file in files]


def _survey(files: Sequence[InputFile], runner: Runner, storage: Storage, tell: ProgressCallback) -> Survey:
    if isinstance(runner, InlineRunner):
        survey = Survey()
        _scan(survey, files, storage, tell)
        return survey
    runner.start()
    weight, done = sum(file.weight for file in files), 0

    def progress(size: int) -> None:
        nonlocal done
        done += size
        tell("inspect", min(done, weight), weight)

    with TemporaryDirectory(prefix="trellis-inspect-") as folder:
        splits = splits_of(files, split_for(files, runner.cores()), storage)
        with ProgressNotes(folder, progress):
            return merged(runner.parallel(partial(_survey_split, folder, storage), splits))


def _survey_split(folder: str, storage: Storage, split: Split) -> SplitSurvey:
    return survey_split(split, storage, ProgressNote(folder, f"{split.file}-{split.number}"))


def _scan(survey: Survey, files: Sequence[InputFile], storage: Storage, tell: ProgressCallback) -> None:
    weight = sum(file.weight for file in files)
    done = 0
    for file, split in zip(files, splits_of(files, sys.maxsize, storage), strict=True):
        before, part = done, 0

        def progress(size: int, before: int = before) -> None:
            nonlocal part
            part += size
            tell("inspect", min(before + part, weight), weight)

        scan_split(survey, split, storage, progress)
        done += file.weight
        tell("inspect", min(done, weight), weight)


def inspection(survey: Survey, files: Sequence[str]) -> Inspection:
    """What a survey of these files has seen, as a report."""
    number = {file: at for at, file in enumerate(files)}
    rank = {kind: at for at, kind in enumerate(get_args(Kind))}

    def met(item: tuple[Kind, Seen]) -> tuple[int, int, int]:
        kind, seen = item
        return number.get(seen.first.file, 0), seen.first.line, rank[kind]

    paths, depths = [], {id(survey.root): -1}

    def first_seen(node: Node) -> tuple[int, int, int, str]:
        """The order of paths, whatever the blocks that the records were read in."""
        file, line = min((number.get(seen.first.file, 0), seen.first.line) for seen in node.kinds.values())
        return file, line, node.position, node.path

    for node, around in survey.root.below(first_seen):
        depths[id(node)] = depth = depths[id(around)] + 1
        missing = 0 if node is around.items else around.objects - node.count
        kinds = sorted(node.kinds.items(), key=met)
        paths.append(
            PathReport(node.path, depth, node.count, missing, node.timestamps, tuple(starmap(_kind, kinds)))
        )
    faults = _faults(survey.rejects), _faults(survey.doubled)
    return Inspection(tuple(files), survey.records, tuple(paths), *faults)


def _kind(kind: Kind, seen: Seen) -> KindReport:
    return KindReport(kind, seen.count, seen.first, seen.example)


def _faults(faults: dict[str, Seen]) -> tuple[RecordFault, ...]:
    return tuple(RecordFault(what, seen.count, seen.first, seen.example) for what, seen in faults.items())


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line}
