"""A survey of one split at a time, in any process, and the surveys of all splits put together in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from trellis.engine.input.blocks import Split, read_blocks
from trellis.engine.input.parquet import read_batches, rows_of
from trellis.engine.storage.storage import Storage
from trellis.engine.survey.paths import Kind, Node, Place, Seen
from trellis.engine.survey.survey import Survey

K = TypeVar("K")


class PathCounts(NamedTuple):
    """One path of a split: the number of the one around it (0 is the record), its last step (None: items)."""

    around: int
    key: str | None
    kinds: dict[Kind, Seen]
    objects: int
    timestamps: int
    position: int


@dataclass(frozen=True)
class SplitSurvey:
    """What is in a split, as flat as it has to be to be sent: records may nest deeper than pickle can."""

    split: Split
    lines: int
    records: int
    objects: int
    paths: list[PathCounts]
    rejects: dict[str, Seen]
    doubled: dict[str, Seen]


def scan_split(survey: Survey, split: Split, storage: Storage, progress: Callable[[int], object]) -> int:
    """Let a survey look at every record of a split; the number of its lines. Raises UsageError."""
    lines = 0
    if split.layout == "parquet":
        for part in read_batches(split, storage):
            survey.items(split.path, rows_of(part.batch), part.first + 1)
            lines = part.first + part.batch.num_rows
            progress(part.batch.nbytes)
        return lines
    for block in read_blocks(split, storage=storage):
        survey.block(split.path, block)
        lines = block.line + len(block.lines)
        progress(len(block.data))
    return lines


def survey_split(split: Split, storage: Storage, progress: Callable[[int], object]) -> SplitSurvey:
    """What is in a split; its lines are counted from its start. Raises UsageError."""
    survey = Survey()
    lines = scan_split(survey, split, storage, progress)
    return flat_survey(survey, split, lines)


def flat_survey(survey: Survey, split: Split, lines: int) -> SplitSurvey:
    """What a survey of a split has seen, as flat as it has to be to be sent."""
    root = survey.root
    flat = SplitSurvey(split, lines, survey.records, root.objects, [], survey.rejects, survey.doubled)
    stack: list[tuple[int, str | None, Node]] = [(0, key, node) for key, node in reversed(root.keys.items())]
    while stack:
        around, key, node = stack.pop()
        flat.paths.append(PathCounts(around, key, node.kinds, node.objects, node.timestamps, node.position))
        number = len(flat.paths)
        stack += ((number, name, inner) for name, inner in reversed(node.keys.items()))
        if node.items is not None:
            stack.append((number, None, node.items))
    return flat


def merged(surveys: Iterable[SplitSurvey]) -> Survey:
    """The survey of all splits, as if one had read them one after the other."""
    whole, file, before = Survey(), None, 0
    for part in sorted(surveys, key=lambda survey: (survey.split.file, survey.split.number)):
        if part.split.file != file:
            file, before = part.split.file, 0
        _add(whole, part, before)
        before += part.lines
    return whole


def _add(whole: Survey, part: SplitSurvey, before: int) -> None:
    """Add what stands further on; so many lines of the same file are before it."""
    whole.records += part.records
    whole.root.objects += part.objects
    nodes = [whole.root]
    for path in part.paths:
        around = nodes[path.around]
        is_new = path.key not in around.keys
        node = around.item() if path.key is None else around.key(path.key)
        if is_new:
            node.position = path.position
        nodes.append(node)
        node.objects += path.objects
        node.timestamps += path.timestamps
        _count(node.kinds, path.kinds, before)
    _count(whole.rejects, part.rejects, before)
    _count(whole.doubled, part.doubled, before)


def _count(into: dict[K, Seen], further: dict[K, Seen], before: int) -> None:
    for what, seen in further.items():
        if what in into:
            into[what].count += seen.count
        else:
            place = Place(seen.first.file, seen.first.line + before)
            into[what] = Seen(seen.count, place, seen.example)
