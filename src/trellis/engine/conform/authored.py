"""Records of an authored schema -> batches of its one table: nothing is learned, so no block waits.

Blocks and batches go by columns (`vector.py`) where the program says how; the records of those that hold
something special go through the program one at a time, which is the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import pyarrow as pa

from trellis.engine.columnar.authored.columns import Read, Vectors
from trellis.engine.columnar.authored.lines import LineVectors
from trellis.engine.columnar.authored.regular import is_regular
from trellis.engine.columnar.authored.typed import TypedRecords
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.columnar.typed.kinds import marked_rows
from trellis.engine.conform.learned import Conformed
from trellis.engine.exact.text import count_keys, to_json
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import BadLine, duplicates, has_long_number, may_repeat, record
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Counts, Discard, Plan, Reject
from trellis.engine.staging.batches import Keyring, TableBatch, array_of
from trellis.engine.staging.column_defaults import plain_array
from trellis.errors import ContractError
from trellis.evolution.program import Made, RowProgram
from trellis.evolution.record import Rejected, Stopped

FEW: Final = 64
"""So many records are not divided any more."""
_DOUBLED = "duplicate key: a later value of the same key replaced it"


class AuthoredConformer:
    """Makes the rows of the records of a task by a program."""

    times = 1
    learns = False

    def __init__(self, plan: Plan, program: RowProgram, fast: bool = True) -> None:
        self.plan = plan
        self.program = program
        self.table = plan.schema.tables[program.table]
        self.oddities: Counter[str] = Counter()
        self.examples: list[bytes] = []
        self.vectors = Vectors(self.table, program.fast) if fast and program.fast is not None else None
        self.lines = None if self.vectors is None else LineVectors(self.vectors)

    def untyped(self) -> set[tuple[str, str]]:
        return set()

    def shared(self) -> dict[str, set[str]]:
        return {}

    def rest(self) -> list[TableBatch]:
        return []

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block. Raises ContractError where a record stops the load."""
        made = Conformed()
        self._lines(split, block.offset, block.line, block.lines, made, first=True)
        return made

    def _lines(
        self, split: Split, offset: int, at: int, lines: Sequence[bytes], made: Conformed, first: bool = False
    ) -> None:
        """Conform lines by columns; where that fails the halves of them, and a few one by one."""
        seed = self._seed(split, offset, at)
        if self.lines is not None:
            if self.lines.schema is None:
                self.lines.learn(lines)
            try:
                self._take(self.lines.read(lines), seed, made)
                return
            except FastPathMiss:
                self.program.taken()  # what was counted so far is counted again
                if first:
                    self.lines.learn(lines)
            if len(lines) > FEW and self.lines.schema is not None:
                half = len(lines) // 2
                self._lines(split, offset, at, lines[:half], made)
                self._lines(split, offset, at + half, lines[half:], made)
                return
        self._one_by_one(split, at, lines, seed, made)

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform rows that have types already. Raises ContractError where one stops the load."""
        made = Conformed()
        by_columns = self.vectors is not None and is_regular(rows.batch, self.vectors.program)
        self._rows(split, rows.first, rows.batch, by_columns, made)
        return made

    def _rows(
        self, split: Split, first: int, batch: pa.RecordBatch, by_columns: bool, into: Conformed
    ) -> None:
        """Conform rows by columns; where that fails parts of them, and a few one by one."""
        seed = self._seed(split, first)
        if self.vectors is not None and by_columns:
            try:
                records = TypedRecords(batch, self.vectors.program, self.program.kinds)
                self._take(self.vectors.read(records), seed, into)
                return
            except FastPathMiss as bad:
                self.program.taken()
                parts = _parts(batch.num_rows, bad)
            if parts:
                for start, end, clean in parts:
                    self._rows(split, first + start, batch.slice(start, end - start), clean, into)
                return
        made = _Making(self, split.path)
        for at, item in enumerate(marked_rows(batch, self.program.kinds), first):
            made.record(at, item, None)
        made.close(seed, into)

    def _take(self, read: Read, seed: bytes, into: Conformed) -> None:
        into.counts.add(Counts(read.records, read.records - read.dropped, 0, read.dropped))
        if read.batch.rows:
            into.batches.append(self.keyed(read.batch, seed))
        self.oddities.update(read.oddities)

    def items(
        self,
        items: Sequence[Any],
        file: int,
        number: int,
        first: int,
        name: str,
        only: Sequence[int] | None = None,
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        made = _Making(self, name)
        for at, item in enumerate(items, first):
            made.record(at, item, None)
        into = Conformed()
        made.close(self._seed(Split(file, number, name), first), into)
        return into

    def _one_by_one(
        self, split: Split, first: int, lines: Sequence[bytes], seed: bytes, into: Conformed
    ) -> None:
        made = _Making(self, split.path)
        wary = any(map(has_long_number, lines))
        for at, line in enumerate(lines, first):
            if not line or line.isspace():
                continue
            try:
                item = record(line, wary)
            except BadLine as bad:
                made.reject(at, line, str(bad))
                continue
            made.record(at, item, line)
        made.close(seed, into)

    def keyed(self, batch: TableBatch, seed: bytes) -> TableBatch:
        keys = self.plan.dialect.system_columns.row_keys(self.plan.schema, self.table.name)
        plan = self.plan
        keyring = Keyring(plan.dialect, plan.schema, plan.load_id, seed, plan.now)
        for name, values in keyring.root(self.table.name, keys, batch.rows, (), None).items():
            batch.columns[name] = array_of(self.table, self.table.columns[name], values)
        return batch

    def _seed(self, split: Split, *offsets: int) -> bytes:
        place = (self.plan.first_file + split.file, split.number, *offsets)
        return "/".join((self.plan.load_id, *map(str, place))).encode()


class _Making:
    """The rows of a block as they come."""

    def __init__(self, conformer: AuthoredConformer, file: str) -> None:
        self.conformer = conformer
        self.program = conformer.program
        self.file = file
        self.counts = Counts()
        self.rows: list[Mapping[str, Any]] = []
        self.discards: list[Discard] = []
        self.rejects: list[Reject] = []

    def reject(self, at: int, line: bytes, reason: str, kind: str = "") -> None:
        self.counts.read += 1
        self.counts.rejected += 1
        self.rejects.append(Reject(at, line, reason, kind))

    def record(self, at: int, item: Any, line: bytes | None) -> None:
        """`line` is what the record was read from."""
        try:
            if not isinstance(item, Mapping):
                raise Rejected("a record must be an object of names and values")
            made = self.program(item)
        except Rejected as bad:
            text = to_json(item).encode("utf-8", "backslashreplace") if line is None else line
            self.reject(at, text, str(bad), bad.kind)
            return
        except Stopped as bad:
            raise ContractError(f"{self.file or 'records'}, record {at + 1}: {bad}") from None
        self.counts.read += 1
        self.counts.dropped += made.dropped
        self.counts.loaded += not made.dropped
        self.rows += made.rows
        self._note(at, made)
        if line is not None and may_repeat((line,), count_keys(item)):
            for key, value in duplicates(line):
                if value is not None:
                    self._discard(at, "", key, value, _DOUBLED)

    def _note(self, at: int, made: Made) -> None:
        for lost in made.lost:
            self._discard(at, lost.column, lost.path, lost.value, lost.reason)
        if made.oddities:
            self.conformer.oddities.update(made.oddities)

    def _discard(self, at: int, column: str, path: str, value: Any, reason: str) -> None:
        text = value if isinstance(value, str) else to_json(value)
        self.discards.append(Discard(self.program.table, column, path, text, at, reason))

    def close(self, seed: bytes, into: Conformed) -> None:
        """Add what was made to a block's outcome."""
        self.conformer.oddities.update(self.program.taken())
        into.counts.add(self.counts)
        into.discards += self.discards
        into.rejects += self.rejects
        if not self.rows:
            return
        table = self.conformer.table
        batch = TableBatch(table.name, len(self.rows))
        for column in table.complete_columns:
            array = plain_array(table, column, [row.get(column.name) for row in self.rows])
            if array.null_count < len(array):
                batch.columns[column.name] = array
        into.batches.append(self.conformer.keyed(batch, seed))


def _parts(size: int, bad: FastPathMiss) -> list[tuple[int, int, bool]]:
    """Where rows that are not clean are divided, and which parts may be clean.

    >>> _parts(200, SpecialRows([70, 71]))
    [(0, 64, True), (64, 128, False), (128, 200, True)]
    """
    if size <= FEW:
        return []
    if not isinstance(bad, SpecialRows):
        return [(0, size // 2, True), (size // 2, size, True)]
    special = {row // FEW for row in bad.rows}
    runs = groupby(range(0, size, FEW), lambda start: start // FEW not in special)
    parts = [(clean, list(starts)) for clean, starts in runs]
    return [(starts[0], min(starts[-1] + FEW, size), clean) for clean, starts in parts]
