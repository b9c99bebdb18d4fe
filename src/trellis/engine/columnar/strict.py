"""Lines of JSON objects -> one Arrow table, and the lines that only the exact path can convert.

Arrow's JSON reader, given an explicit schema, is strict: an unknown key, a key given twice, a value of
another kind, an integer beyond 64 bits or a malformed line is an error. So what it reads is proven to fit the
schema. What it accepts too freely (several objects on a line, an object
over several lines, bytes that are not UTF-8) is checked here.

One line that does not fit fails all lines that are read with it. So lines known not to fit are set aside
first, by byte patterns (`misfits.py`). A pattern that is wrong costs time, never a value: a line that
it misses is an error of the reader, which mostly names the row; otherwise the lines are halved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

MIN_SPLIT: Final = 64
MAX_MISSES: Final = 12
MAX_MATCH_SHARE: Final = 0.5
"""A pattern that matches a larger share of the lines is ignored."""

UnknownKeys = Literal["error", "ignore", "infer"]
"""What the reader does with keys that the schema lacks."""
Indexes = npt.NDArray[np.int64]

_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
_ROW = re.compile(r"in row (\d+)$")


class FastPathMiss(Exception):
    """Something that only the exact path can convert; `row` is its row, if that is known."""

    def __init__(self, row: int | None = None) -> None:
        super().__init__(row)
        self.row = row


class SpecialRows(FastPathMiss):
    """`rows` hold a special value in some column; other rows may hold one in another column."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__()
        self.rows = rows


class StrictRead(NamedTuple):
    """The records that were read and the indexes of lines: read, not fitting, and not read.

    Lines are left unread after too many failures.
    """

    records: pa.Table
    lines: Indexes
    misfits: Indexes
    unread: Indexes


class StrictReader:
    """Reads lines under one schema. `misfits` are patterns (RE2, over bytes) of lines that do not fit it.

    At most `min_split` lines are not halved any more; after more than `max_misses` failed reads the other
    lines are left unread. The more the exact path costs for a line, the higher both may be.
    """

    def __init__(
        self,
        schema: pa.Schema,
        misfits: Sequence[str] = (),
        min_split: int = MIN_SPLIT,
        max_misses: int = MAX_MISSES,
        unknown_keys: UnknownKeys = "error",
    ) -> None:
        self.schema = schema
        self.unknown_keys = unknown_keys
        self.min_split = min_split
        self.max_misses = max_misses
        self.misfits = tuple(dict.fromkeys(misfits))

    def read(self, lines: pa.BinaryArray, chosen: Indexes) -> StrictRead:
        """The records of the chosen lines that fit; each line ends with a newline."""
        takes_all = len(chosen) == len(lines)
        candidates = lines if takes_all else lines.take(pa.array(chosen))
        fits = _are_objects(candidates)
        if self.misfits:
            fits &= ~self._suspects(candidates)
        tables: list[pa.Table] = []
        pieces: list[Indexes] = []
        misfits, unread = [chosen[~fits]], list[Indexes]()
        pending, misses = [chosen[fits]], 0
        while pending:
            indexes = pending.pop()
            if misses > self.max_misses:
                unread.append(indexes)
                continue
            if not len(indexes):
                continue
            try:
                part = lines if len(indexes) == len(lines) else lines.take(pa.array(indexes))
                tables.append(read_strictly(_joined_bytes(part), self.schema, len(part), self.unknown_keys))
                pieces.append(indexes)
            except FastPathMiss as miss:
                misses += 1
                if miss.row is not None and miss.row < len(indexes):
                    misfits.append(indexes[miss.row : miss.row + 1])
                    pending += [indexes[miss.row + 1 :], indexes[: miss.row]]
                elif len(indexes) <= self.min_split:
                    misfits.append(indexes)
                else:
                    middle = len(indexes) // 2
                    pending += [indexes[middle:], indexes[:middle]]
        records = pa.concat_tables(tables) if tables else self.schema.empty_table()
        return StrictRead(records, _joined(pieces), np.sort(_joined(misfits)), np.sort(_joined(unread)))

    def _suspects(self, lines: pa.BinaryArray) -> npt.NDArray[np.bool_]:
        """Which lines match the pattern of a value that does not fit."""
        matches = _matching(lines, "|".join(self.misfits))
        if matches.mean() <= MAX_MATCH_SHARE:
            return matches
        matches[:] = False
        for pattern in self.misfits:
            pattern_matches = _matching(lines, pattern)
            if pattern_matches.mean() <= MAX_MATCH_SHARE:
                matches |= pattern_matches
        return matches


def _matching(lines: pa.BinaryArray, pattern: str) -> npt.NDArray[np.bool_]:
    matches = pc.match_substring_regex(lines, pattern).to_numpy(zero_copy_only=False)
    return np.array(matches, np.bool_)


def _joined(parts: Sequence[Indexes]) -> Indexes:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _joined_bytes(lines: pa.BinaryArray) -> pa.Buffer:
    """The bytes of the lines, one after the other."""
    _, offsets, content = lines.buffers()
    bounds = np.frombuffer(offsets, np.int32)[[lines.offset, lines.offset + len(lines)]]
    return content.slice(int(bounds[0]), int(bounds[1] - bounds[0]))


def _are_objects(lines: pa.BinaryArray) -> npt.NDArray[np.bool_]:
    """Which lines begin and end like an object."""
    _, offsets, content = lines.buffers()
    if not len(lines):
        return np.zeros(0, np.bool_)
    bounds = np.frombuffer(offsets, np.int32)[lines.offset : lines.offset + len(lines) + 1]
    raw = np.frombuffer(content, np.uint8)
    ends = bounds[1:] - 2
    last = raw[np.maximum(ends, 0)]
    returns = last == _RETURN
    if returns.any():
        last = np.where(returns, raw[np.maximum(ends - 1, 0)], last)
    are_objects: npt.NDArray[np.bool_] = (
        (raw[bounds[:-1]] == _OPEN) & (last == _CLOSE) & (np.diff(bounds) > 2)
    )
    return are_objects


def read_strictly(
    data: bytes | pa.Buffer,
    schema: pa.Schema,
    lines: int,
    unknown_keys: UnknownKeys = "error",
) -> pa.Table:
    """As many `lines` of objects as a table under a schema.

    Raises FastPathMiss.
    """
    size = data.size if isinstance(data, pa.Buffer) else len(data)
    _refuse_other_encodings(data)
    try:
        records = pj.read_json(
            pa.BufferReader(data),
            pj.ReadOptions(use_threads=False, block_size=size + 1),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unknown_keys),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        named_row = _ROW.search(str(error))
        raise FastPathMiss(int(named_row[1]) if named_row else None) from None
    if records.num_rows != lines:
        raise FastPathMiss
    return records


def _refuse_other_encodings(data: Any) -> None:
    """Raises FastPathMiss for bytes that are not UTF-8, with the number of the line if there are several."""
    content = bytes(data) if isinstance(data, pa.Buffer) else data
    if content.isascii():
        return
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FastPathMiss(content.count(b"\n", 0, error.start)) from None


def single_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
