"""Records that wait until the schema has room for them, and are not read a second time.

They are written beside the staged files as they came: lines with their numbers, or rows with their types. A
frame may be expensive to compute or give other rows when it is computed again; a file has the same lines, but
those that wait are few among many.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.input.places import FILE, NUMBER, POSITION, Places
from trellis.engine.storage.storage import Storage

FOLDER: Final = "_waiting"
LINE: Final = "line"
_OFFSET, _FIRST = b"trellis.offset", b"trellis.first"


@dataclass(frozen=True)
class Spooled:
    """A file of so many records of one split that wait; `holds_lines` tells lines from rows with types."""

    path: str
    split: Split
    holds_lines: bool
    records: int


def spool_lines(
    staging: str, storage: Storage, split: Split, block: Block, waiting: tuple[int, ...] | None
) -> Spooled:
    """Write the lines of a block with these numbers, or all of them."""
    selected = None if waiting is None else {*waiting}
    chosen = [(at, line) for at, line in block.numbered if selected is None or at in selected]
    numbers, lines = zip(*chosen, strict=True)
    table = pa.table({NUMBER: pa.array(numbers, pa.int64()), LINE: pa.array(lines, pa.binary())})
    table = _with_places(table, block.places, table.column(NUMBER))
    return Spooled(_write(staging, storage, table, block.offset, block.line), split, True, len(lines))


def spool_rows(
    staging: str, storage: Storage, split: Split, rows: RowBatch, waiting: tuple[int, ...] | None
) -> Spooled:
    """Write a batch of rows with types, all of them: they wait together."""
    numbers = pa.array(range(rows.first, rows.first + rows.batch.num_rows), pa.int64())
    table = _with_places(pa.Table.from_batches([rows.batch]), rows.places, numbers)
    return Spooled(
        _write(staging, storage, table, rows.number, rows.first), split, False, rows.batch.num_rows
    )


def spooled_block(spooled: Spooled, storage: Storage) -> Block:
    """The lines that were written, with the numbers that they had."""
    table, offset, first = _read(spooled.path, storage)
    data = b"".join(line + b"\n" for line in table.column(LINE).to_pylist())
    numbers = tuple(table.column(NUMBER).to_pylist())
    return Block(data, first, offset, numbers, _places(table.drop_columns([LINE])))


def spooled_rows(spooled: Spooled, storage: Storage) -> RowBatch:
    """The rows that were written."""
    table, number, first = _read(spooled.path, storage)
    helpers = [name for name in (POSITION, FILE) if name in table.schema.names]
    numbers = pa.array(range(first, first + table.num_rows), pa.int64())
    places = _places(table.select(helpers).append_column(NUMBER, numbers))
    table = table.drop_columns(helpers)
    (batch,) = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    return RowBatch(number, first, batch, places=places)


def _with_places(table: pa.Table, places: Places | None, numbers: pa.Array) -> pa.Table:
    if places is not None:
        chosen = places.select(numbers)
        for name in chosen.schema.names:
            table = table.append_column(name, chosen.column(name))
    return table


def _places(table: pa.Table) -> Places | None:
    return Places(table) if POSITION in table.schema.names else None


def _write(staging: str, storage: Storage, table: pa.Table, offset: int, first: int) -> str:
    folder = f"{staging}/{FOLDER}"
    storage.make_folder(folder)
    path = f"{folder}/{os.urandom(8).hex()}.arrow"
    places = {_OFFSET: str(offset), _FIRST: str(first)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **places})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    storage.write_file(path, sink.getvalue().to_pybytes())
    return path


def _read(path: str, storage: Storage) -> tuple[pa.Table, int, int]:
    """What was written, and its place in the split."""
    with storage.open_input(path) as file:
        table = pa.ipc.open_stream(file.read()).read_all()
    metadata = table.schema.metadata
    offset, first = int(metadata[_OFFSET]), int(metadata[_FIRST])
    others = {key: value for key, value in metadata.items() if key not in (_OFFSET, _FIRST)}
    return table.replace_schema_metadata(others or None), offset, first
