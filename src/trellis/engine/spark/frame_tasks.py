"""What tasks make of the rows of a frame: splits, and their blocks of lines or batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.conform.choose import Conformer
from trellis.engine.conform.outcome import Conformed
from trellis.engine.input.blocks import BLOCK, BOM, Block, Split
from trellis.engine.input.files import HEAD, layout_of
from trellis.engine.input.parquet import BATCH, RowBatch
from trellis.engine.input.places import FILE, POSITION, Places
from trellis.engine.input.source_format import MALFORMED
from trellis.engine.plan import Counts, Plan, Reject
from trellis.engine.spark.reader import file_key
from trellis.engine.task import (
    Outcome,
    Part,
    Waiting,
    run_parts,
    spooling_lines,
    spooling_rows,
)
from trellis.errors import UsageError

VALUE: Final = "value"
Batches = Iterable[pa.RecordBatch]
JsonPath = tuple[str, ...]
ELEMENT: Final = ""
"""The step of a path to what is in a list, and to the values of a map."""


@dataclass(frozen=True)
class MalformedRows:
    """Texts that Spark's reader could not read as rows.

    `first` counts the rows of the split before the batch, `end` those up to its end.
    """

    number: int
    first: int
    end: int
    indexes: list[int]
    texts: list[str]
    reason: str


Content = Block | RowBatch | MalformedRows


@dataclass(frozen=True)
class FrameLayout:
    """How tasks divide the rows of a frame into splits, and how they read these. It travels to the tasks.

    `keys` are the columns whose values name the split of a row. `read` takes the bytes of a block.
    `names` are those of columns that travel under another one.
    """

    keys: tuple[str, ...]
    split_of: Callable[..., Split]
    read: Callable[[Split, Batches, int], Iterator[Content]]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ConformPartition:
    """What runs on an executor: the rows of each split become staged files and an outcome."""

    plan: Plan
    layout: FrameLayout

    def __call__(self, batches: Batches) -> Iterator[Outcome]:
        for split, run in frame_splits(batches, self.layout):
            name = f"{split.file:06d}-{split.number:015d}-0"
            yield run_parts(self.plan, name, split, partial(self._parts, split, run), None, lambda size: None)

    def _parts(self, split: Split, batches: Batches, conformer: Conformer) -> Iterator[Part]:
        for content in self.layout.read(split, batches, BLOCK * conformer.times):
            if isinstance(content, Block):
                yield from spooling_lines(self.plan, split, [content], conformer)
            elif isinstance(content, RowBatch):
                yield from spooling_rows(self.plan, split, [content], conformer)
            else:
                yield _rejected(content)


def split_of_partition(title: str, partition: int) -> Split:
    return Split(0, partition, title)


def split_of_file(files: Mapping[str, tuple[int, str]], path: str, start: int) -> Split:
    """The split of rows of a file. Raises UsageError for a file that was not there when files were listed."""
    key = file_key(path)
    if key not in files:
        raise UsageError(f"{key}: the file appeared while its folder was being read; run the load again")
    number, name = files[key]
    return Split(number, start, name)


def frame_splits(batches: Batches, layout: FrameLayout) -> Iterator[tuple[Split, Batches]]:
    """The rows of each split, without the columns that name it."""

    def runs() -> Iterator[tuple[tuple[object, ...], pa.RecordBatch]]:
        for batch in batches:
            at = [batch.schema.get_field_index(key) for key in layout.keys]
            rows = batch.select([column for column in range(batch.num_columns) if column not in at])
            rows = rows.rename_columns([layout.names.get(name, name) for name in rows.schema.names])
            keys = [batch.column(column) for column in at]
            start = 0
            for end in sorted({end for key in keys for end in pc.run_end_encode(key).run_ends.to_pylist()}):
                yield tuple(key[start].as_py() for key in keys), rows.slice(start, end - start)
                start = end

    for values, run in groupby(runs(), key=lambda item: item[0]):
        yield layout.split_of(*values), (rows for _, rows in run)


def row_batches(
    malformed_reason: str,
    json_paths: Mapping[str, Collection[JsonPath]],
    split: Split,
    batches: Batches,
    size: int,
) -> Iterator[RowBatch | MalformedRows]:
    """The rows in batches of the usual size, and beside them those that Spark's reader could not read.

    Columns hold texts of JSON at `json_paths`.
    """
    first = number = 0
    for batch in batches:
        for name, paths in json_paths.items():
            at = batch.schema.get_field_index(name)
            values = batch.column(at)
            batch = batch.set_column(at, name, values.cast(_with_json_types(values.type, paths)))
        for start in range(0, batch.num_rows, BATCH):
            rows = batch.slice(start, BATCH)
            if not malformed_reason:
                yield RowBatch(number, first, rows)
            else:
                yield from _without_malformed(malformed_reason, number, first, rows)
            first, number = first + rows.num_rows, number + 1


def _with_json_types(type_: pa.DataType, paths: Collection[JsonPath]) -> pa.DataType:
    """The type with JSON at some paths.

    >>> _with_json_types(pa.list_(pa.struct({"v": pa.string()})), [(ELEMENT, "v")])
    ListType(list<item: struct<v: extension<arrow.json>>>)
    """
    if () in paths:
        return pa.json_()

    def inner(step: str, field: pa.Field) -> pa.Field:
        below = [path[1:] for path in paths if path[0] == step]
        return field.with_type(_with_json_types(field.type, below)) if below else field

    if pa.types.is_struct(type_):
        return pa.struct([inner(field.name, field) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(type_.key_field, inner(ELEMENT, type_.item_field))
    return pa.list_(inner(ELEMENT, type_.value_field))


def _without_malformed(
    reason: str, number: int, first: int, batch: pa.RecordBatch
) -> Iterator[RowBatch | MalformedRows]:
    at = batch.schema.get_field_index(MALFORMED)
    rows, texts = batch.remove_column(at), batch.column(at)
    bad = pc.indices_nonzero(texts.is_valid())
    if not len(bad):
        yield RowBatch(number, first, rows)
        return
    indexes = bad.to_pylist()
    yield MalformedRows(number, first, first + len(texts), indexes, texts.take(bad).to_pylist(), reason)
    positions = pc.add(pc.indices_nonzero(texts.is_null()).cast(pa.int64()), first)
    if len(positions):
        places = Places.of(first, positions)
        yield RowBatch(number, first, rows.filter(texts.is_null()), places=places)


def _rejected(rows: MalformedRows) -> Part:
    """Rows that Spark's reader could not read, as rejects."""

    def conform(only: object = None) -> Conformed:
        lines = zip(rows.indexes, rows.texts, strict=True)
        rejects = [Reject(rows.first + at, text.encode(), rows.reason) for at, text in lines]
        return Conformed(Counts(read=len(rejects), rejected=len(rejects)), rejects=rejects)

    return Part(rows.number, 0, rows.end, conform, _never_waits, _never_conformed)


def _never_waits(lines: tuple[int, ...] | None) -> Waiting:
    raise AssertionError("rejected rows do not wait")


def _never_conformed(number: int) -> str:
    raise AssertionError("rejected rows are no records")


def file_blocks(split: Split, batches: Batches, size: int) -> Iterator[Block]:
    """Lines of a file, byte for byte, as blocks of about so many bytes. Raises UsageError for an array."""
    for block in _blocks(batches, size, _lines_of_file):
        if not split.number and not block.line and layout_of(block.data[:HEAD].lstrip()) == "array":
            raise UsageError(
                f"{split.path}: is a JSON array, and only JSON lines are read from a file system that only "
                "Spark has; write one record on each line"
            )
        yield block


def value_blocks(split: Split, batches: Batches, size: int) -> Iterator[Block]:
    """The JSON of the first column as blocks of lines of about so many bytes, one line for each row."""
    return _blocks(batches, size, _one_line_each)


def _blocks(batches: Batches, size: int, lines_of: Callable[[pa.Array, bool], pa.Array]) -> Iterator[Block]:
    line = offset = rows = held_bytes = 0
    held: list[pa.RecordBatch] = []
    for batch in batches:
        values = lines_of(batch.column(0), line == rows == 0)
        held.append(batch.set_column(0, VALUE, values))
        rows, held_bytes = rows + len(values), held_bytes + values.nbytes
        if held_bytes >= size:
            block = _block(held, line, offset)
            yield block
            line, offset, rows, held_bytes, held = line + rows, offset + len(block.data), 0, 0, []
    if rows:
        yield _block(held, line, offset)


def _block(batches: Sequence[pa.RecordBatch], line: int, offset: int) -> Block:
    table = pa.Table.from_batches(batches)
    places = None
    if POSITION in table.schema.names:
        places = Places.of(line, table.column(POSITION), table.column(FILE))
    return Block(_joined(table.column(0).chunks), line, offset, places=places)


def _lines_of_file(values: pa.Array, first: bool) -> pa.Array:
    return values.cast(pa.binary())


def _one_line_each(values: pa.Array, first: bool) -> pa.Array:
    """The values without line breaks, which JSON allows between its tokens alone; a missing one is `null`."""
    values = values.cast(pa.binary())
    for newline in (b"\n", b"\r"):
        if pc.any(pc.match_substring(values, newline), min_count=0).as_py():
            values = pc.replace_substring(values, newline, b" ")
    if first and len(values) and (values[0].as_py() or b"").startswith(BOM):
        values = pa.concat_arrays([pa.array([values[0].as_py()[len(BOM) :]], pa.binary()), values.slice(1)])
    return pc.fill_null(values, b"null") if values.null_count else values


def _joined(values: Sequence[pa.Array]) -> bytes:
    """The values, each with a newline."""
    lines = pc.binary_join_element_wise(pa.concat_arrays(values), pa.scalar(b""), pa.scalar(b"\n"))
    content = lines.buffers()[2]
    return content.to_pybytes() if content is not None else b""
