"""What an operation does with chunks: which it takes over as they are, which rows it writes anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.chunks import CHUNK_WEIGHT, Slice, row_groups
from trellis.dialects.ytsaurus.store.key_search import encode_bound
from trellis.dialects.ytsaurus.store.reading import TableSource

RANGE_WEIGHT = CHUNK_WEIGHT // 4
"""What the rows of a range of keys weigh about that one task merges."""


@dataclass(frozen=True)
class Piece:
    """Rows of an input, all in one chunk."""

    source: int
    """The number of the input."""
    slice: Slice
    first_row: int
    """The number of the first row, counted through all inputs."""
    range_index: int = 0
    """The number of the range of the input that it is in."""
    row_index: int = 0
    """The number of the first row in its table."""


@dataclass(frozen=True)
class Rewrite:
    """Rows that one task writes anew: the pieces one after the other, or merged by their keys.

    Of pieces that are merged the rows with keys from `lower` up to `upper` are meant, in the encoding of
    `encode_key`; None is no bound.
    """

    pieces: tuple[Piece, ...]
    merged: bool = False
    lower: bytes | None = None
    upper: bytes | None = None


Part = Piece | Rewrite
"""A part of the output, which is all of them in their order. A piece is taken over as it is."""


def list_pieces(inputs: Sequence[TableSource]) -> list[Piece]:
    """The rows of inputs, one after the other."""
    pieces, row = [], 0
    for number, source in enumerate(inputs):
        for range_index, (start, end) in enumerate(source.intervals()):
            row_index = start
            for part in source.version.cut(start, end):
                pieces.append(Piece(number, part, row, range_index, row_index))
                row += part.rows
                row_index += part.rows
    return pieces


def plan_concatenation(
    pieces: Sequence[Piece], moves: Callable[[Piece], bool], *, combines: bool = False
) -> list[Part]:
    """The pieces in their order. Those that may move are taken over, but small ones that are combined."""

    def is_taken(piece: Piece) -> bool:
        return moves(piece) and not (combines and piece.slice.weight < CHUNK_WEIGHT // 2)

    parts: list[Part] = []
    for taken, run in groupby(pieces, is_taken):
        if taken:
            parts += run
            continue
        for group in pack_pieces(run):
            (piece, *others) = group
            if not others and moves(piece):
                parts.append(piece)  # nothing to combine it with
            else:
                parts.append(Rewrite(group))
    return parts


def divide_pieces(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, ...]]:
    """Rows in their order, in groups of about `RANGE_WEIGHT`."""
    return pack_pieces((part for piece in pieces for part in _divide(piece)), RANGE_WEIGHT)


def _divide(piece: Piece) -> Iterator[Piece]:
    rows = piece.slice.rows
    step = max(rows * RANGE_WEIGHT // max(piece.slice.weight, 1), 1)
    for start in range(0, rows, step):
        part = piece.slice.cut(start, min(start + step, rows))
        places = {"first_row": piece.first_row + start, "row_index": piece.row_index + start}
        yield replace(piece, slice=part, **places)


def pack_pieces(pieces: Iterable[Piece], max_weight: int | None = None) -> Iterator[tuple[Piece, ...]]:
    """Pieces in their order, in groups of at most a weight where there are several; None: about one chunk."""
    max_weight = CHUNK_WEIGHT if max_weight is None else max_weight
    group: list[Piece] = []
    weight = 0
    for piece in pieces:
        if group and weight + piece.slice.weight > max_weight:
            yield tuple(group)
            group, weight = [], 0
        group.append(piece)
        weight += piece.slice.weight
    if group:
        yield tuple(group)


@dataclass(frozen=True)
class _Run:
    """A piece with the encoded keys of its first and last row."""

    piece: Piece
    first: bytes
    last: bytes

    @property
    def start(self) -> tuple[bytes, int]:
        """Rows of equal keys come in the order of the inputs."""
        return self.first, self.piece.source

    @property
    def end(self) -> tuple[bytes, int]:
        return self.last, self.piece.source


def plan_sorted_merge(
    inputs: Sequence[TableSource],
    pieces: Sequence[Piece],
    keys: Sequence[SortColumn],
    moves: Callable[[Piece], bool],
    *,
    combines: bool = False,
) -> list[Part]:
    """Pieces that overlap no other are taken over if they may move; the others are merged range by range."""
    parts: list[Part] = []
    single: list[Piece] = []
    for runs in _overlapping(_runs(inputs, pieces, keys)):
        if len(runs) == 1:
            single.append(runs[0].piece)
            continue
        parts += plan_concatenation(single, moves, combines=combines)
        single = []
        parts += _merge_ranges(inputs, runs, keys)
    return [*parts, *plan_concatenation(single, moves, combines=combines)]


def plan_key_ranges(
    inputs: Sequence[TableSource], pieces: Sequence[Piece], keys: Sequence[SortColumn]
) -> list[Rewrite]:
    """Tasks for ranges of keys: all rows of a key are in one of them."""
    runs = [*_runs(inputs, pieces, keys)]
    return [*_merge_ranges(inputs, runs, keys)] if runs else []


def _runs(
    inputs: Sequence[TableSource], pieces: Iterable[Piece], keys: Sequence[SortColumn]
) -> Iterator[_Run]:
    for piece in pieces:
        part = inputs[piece.source].version.with_keys(piece.slice)
        first, last = encode_bound(part.first_key, keys), encode_bound(part.last_key, keys)
        yield _Run(replace(piece, slice=part), first, last)


def _overlapping(runs: Iterable[_Run]) -> Iterator[list[_Run]]:
    """Runs in the order of their keys, in groups that share keys."""
    group: list[_Run] = []
    end: tuple[bytes, int] = (b"", 0)
    for run in sorted(runs, key=lambda run: (run.start, run.piece.first_row)):
        if group and end <= run.start:
            yield group
            group = []
        end = run.end if not group else max(end, run.end)
        group.append(run)
    if group:
        yield group


def _merge_ranges(
    inputs: Sequence[TableSource], runs: Sequence[_Run], keys: Sequence[SortColumn]
) -> Iterator[Rewrite]:
    bounds = [None, *_bounds(inputs, runs, keys), None]
    runs = sorted(runs, key=lambda run: run.piece.first_row)
    for lower, upper in pairwise(bounds):
        pieces = tuple(
            run.piece
            for run in runs
            if (lower is None or run.last >= lower) and (upper is None or run.first < upper)
        )
        yield Rewrite(pieces, True, lower, upper)


def _bounds(inputs: Sequence[TableSource], runs: Sequence[_Run], keys: Sequence[SortColumn]) -> list[bytes]:
    """Keys that divide runs into ranges of about equal weight, from the first keys of their row groups."""
    if sum(run.piece.slice.weight for run in runs) <= RANGE_WEIGHT:
        return []
    starts: list[tuple[bytes, int]] = []
    for run in runs:
        part = run.piece.slice
        with inputs[run.piece.source].version.files.open(part.chunk) as file:
            groups = [group for group in row_groups(file) if part.start <= group.start < part.end]
        weight = part.weight // max(len(groups), 1)
        starts += ((encode_bound(group.first_key, keys), weight) for group in groups)
    bounds, weight = list[bytes](), 0
    for key, group_weight in sorted(starts):
        if weight >= RANGE_WEIGHT and (not bounds or key > bounds[-1]):
            bounds.append(key)
            weight = 0
        weight += group_weight
    return bounds
