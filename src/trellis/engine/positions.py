"""After the tasks: line numbers within a split become line numbers of the file."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.engine.staging.dead_letters import DEAD_LETTER_TABLES
from trellis.engine.staging.stage import StagedFile
from trellis.engine.task import Outcome

POSITION = "position"


def renumber_positions(files: Sequence[StagedFile], outcomes: Sequence[Outcome]) -> list[StagedFile]:
    """The staged files, those of rejects and discards with positions that count from 1 in their file."""
    before = _lines_before(outcomes)
    split_of = {file.path: outcome.split for outcome in outcomes for file in outcome.files}
    return [
        _renumber(file, before[split_of[file.path]]) if file.table in DEAD_LETTER_TABLES else file
        for file in files
    ]


def place_of(position: Sequence[int], outcomes: Sequence[Outcome]) -> str:
    """The file and line, from 1, of what was observed at a position; empty where these are not known."""
    lines = _lines_before(outcomes)
    for outcome in outcomes:
        if outcome.path and outcome.split == tuple(position[:2]):
            return f"{outcome.path}:{lines[outcome.split] + position[2] + 1}"
    return ""


def _lines_before(outcomes: Sequence[Outcome]) -> dict[tuple[int, int], int]:
    lines: dict[tuple[int, int], int] = {}
    for outcome in outcomes:
        lines[outcome.split] = max(lines.get(outcome.split, 0), outcome.lines)
    before: dict[tuple[int, int], int] = {}
    file, total = -1, 0
    for split in sorted(lines):
        if split[0] != file:
            file, total = split[0], 0
        before[split] = total
        total += lines[split]
    return before


def _renumber(file: StagedFile, before: int) -> StagedFile:
    path = f"{os.path.splitext(file.path)[0]}-counted.parquet"
    source = pq.ParquetFile(file.path)
    with pq.ParquetWriter(path, source.schema_arrow) as writer:
        for batch in source.iter_batches():
            table = pa.Table.from_batches([batch])
            index = table.schema.get_field_index(POSITION)
            renumbered = pc.add(table.column(index), before + 1)
            writer.write_table(table.set_column(index, table.schema.field(index), renumbered))
    source.close()
    os.unlink(file.path)
    return StagedFile(file.table, path, file.rows)
