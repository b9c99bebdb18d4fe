"""Records under a schema that the user wrote -> batches of its one table.

Nothing is learned from the records, so no block waits. Blocks and batches are converted column by column
where the program describes that (`evolution/columnar_transform.py`). Records with special values go through
the program one at a time; the program is the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import pyarrow as pa

from trellis.engine.columnar.authored.columns import ColumnReader, ReadResult
from trellis.engine.columnar.authored.lines import LineReader
from trellis.engine.columnar.authored.regular import is_regular
from trellis.engine.columnar.authored.typed import BatchColumns
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.columnar.typed.kinds import marked_rows
from trellis.engine.conform.outcome import Conformed, parse_records
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import has_long_number, replaced_values
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Counts, Discard, Plan
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of
from trellis.engine.staging.column_defaults import plain_array
from trellis.engine.text import count_keys, to_json
from trellis.errors import ContractError
from trellis.evolution.record_outcome import DUPLICATE_KEY, Rejected, Stopped
from trellis.evolution.row_transform import RowTransform

MIN_SPLIT: Final = 64
"""Parts of at most so many records are not divided further."""


class AuthoredConformer:
    """Runs the dialect's row program over the records of a task."""

    times = 1
    learns = False

    def __init__(self, plan: Plan, program: RowTransform, fast: bool = True) -> None:
        self.plan = plan
        self.program = program
        self.table = plan.schema.tables[program.table]
        self.oddities: Counter[str] = Counter()
        self.examples: list[bytes] = []
        self.columns = ColumnReader(self.table, program.fast) if fast and program.fast is not None else None
        self.line_reader = None if self.columns is None else LineReader(self.columns)

    def untyped_columns(self) -> set[tuple[str, str]]:
        return set()

    def shared_names(self) -> dict[str, set[str]]:
        return {}

    def flush_rows(self) -> list[TableBatch]:
        return []

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block. Raises ContractError where a record stops the load."""
        outcome = Conformed()
        self._conform_lines(split, block.offset, block.line, block.lines, outcome, is_whole_block=True)
        return outcome

    def _conform_lines(
        self,
        split: Split,
        offset: int,
        first_line: int,
        lines: Sequence[bytes],
        outcome: Conformed,
        is_whole_block: bool = False,
    ) -> None:
        """Conform lines by columns; where that fails, each half of them, and small parts one by one."""
        seed = self._seed(split, offset, first_line)
        if self.line_reader is not None:
            if self.line_reader.schema is None:
                self.line_reader.learn(lines)
            try:
                self._add_read(self.line_reader.read(lines), seed, outcome)
                return
            except FastPathMiss:
                self.program.taken()  # discards the counts: these lines are read again
                if is_whole_block:
                    self.line_reader.learn(lines)
            if len(lines) > MIN_SPLIT and self.line_reader.schema is not None:
                half = len(lines) // 2
                self._conform_lines(split, offset, first_line, lines[:half], outcome)
                self._conform_lines(split, offset, first_line + half, lines[half:], outcome)
                return
        self._one_by_one(split, first_line, lines, seed, outcome)

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform typed rows. Raises ContractError where one stops the load."""
        outcome = Conformed()
        by_columns = self.columns is not None and is_regular(rows.batch, self.columns.program)
        self._conform_rows(split, rows.first, rows.batch, by_columns, outcome)
        return outcome

    def _conform_rows(
        self, split: Split, first: int, batch: pa.RecordBatch, by_columns: bool, outcome: Conformed
    ) -> None:
        """Conform rows by columns; where that fails, parts of them, and small parts one by one."""
        seed = self._seed(split, first)
        if self.columns is not None and by_columns:
            try:
                records = BatchColumns(batch, self.columns.program, self.program.kinds)
                self._add_read(self.columns.read(records), seed, outcome)
                return
            except FastPathMiss as bad:
                self.program.taken()
                parts = _parts(batch.num_rows, bad)
            if parts:
                for start, end, clean in parts:
                    self._conform_rows(split, first + start, batch.slice(start, end - start), clean, outcome)
                return
        rows = _RecordCollector(self, split.path, outcome)
        for number, item in enumerate(marked_rows(batch, self.program.kinds), first):
            rows.add_record(number, item, None)
        rows.close(seed)

    def _add_read(self, read: ReadResult, seed: bytes, outcome: Conformed) -> None:
        outcome.counts.add(Counts(read.records, read.records - read.dropped, 0, read.dropped))
        if read.batch.rows:
            outcome.batches.append(self.add_system_columns(read.batch, seed))
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
        outcome = Conformed()
        rows = _RecordCollector(self, name, outcome)
        for line, item in enumerate(items, first):
            rows.add_record(line, item, None)
        rows.close(self._seed(Split(file, number, name), first))
        return outcome

    def _one_by_one(
        self, split: Split, first: int, lines: Sequence[bytes], seed: bytes, outcome: Conformed
    ) -> None:
        rows = _RecordCollector(self, split.path, outcome)
        has_big_ints = any(map(has_long_number, lines))
        numbered = enumerate(lines, first)
        for number, line, item in parse_records(numbered, has_big_ints, outcome, lone_surrogates=True):
            rows.add_record(number, item, line)
        rows.close(seed)

    def add_system_columns(self, batch: TableBatch, seed: bytes) -> TableBatch:
        keys = self.plan.dialect.system_columns.row_keys(self.plan.schema, self.table.name)
        plan = self.plan
        id_generator = RowIdGenerator(plan.dialect, plan.schema, plan.load_id, seed, plan.now)
        for name, values in id_generator.root_columns(self.table.name, keys, batch.rows, (), None).items():
            batch.columns[name] = array_of(self.table, self.table.columns[name], values)
        return batch

    def _seed(self, split: Split, *offsets: int) -> bytes:
        place = (self.plan.first_file + split.file, split.number, *offsets)
        return "/".join((self.plan.load_id, *map(str, place))).encode()


class _RecordCollector:
    """Collects the rows of records that go through the program one at a time."""

    def __init__(self, conformer: AuthoredConformer, file: str, outcome: Conformed) -> None:
        self.conformer = conformer
        self.program = conformer.program
        self.file = file
        self.outcome = outcome
        self.rows: list[Mapping[str, Any]] = []

    def add_record(self, number: int, item: Any, line: bytes | None) -> None:
        """`line` is the text of the record, if it has one. Raises ContractError where it stops the load."""
        try:
            if not isinstance(item, Mapping):
                raise Rejected("a record must be an object of names and values")
            result = self.program(item)
        except Rejected as bad:
            text = to_json(item).encode("utf-8", "backslashreplace") if line is None else line
            self.outcome.reject(number, text, str(bad), bad.kind)
            return
        except Stopped as bad:
            raise ContractError(f"{self.file or 'records'}, record {number + 1}: {bad}") from None
        self.outcome.counts.add(Counts(1, not result.dropped, 0, result.dropped))
        self.rows += result.rows
        for lost in result.lost:
            self._discard(number, lost.column, lost.path, lost.value, lost.reason)
        self.conformer.oddities.update(result.oddities)
        if line is not None:
            for key, value in replaced_values(line, count_keys(item)):
                self._discard(number, "", key, value, DUPLICATE_KEY)

    def _discard(self, number: int, column: str, path: str, value: Any, reason: str) -> None:
        text = value if isinstance(value, str) else to_json(value)
        text = text.encode("utf-8", "replace").decode()
        self.outcome.discards.append(Discard(self.program.table, column, path, text, number, reason))

    def close(self, seed: bytes) -> None:
        """Add the rows to the outcome."""
        self.conformer.oddities.update(self.program.taken())
        if not self.rows:
            return
        table = self.conformer.table
        batch = TableBatch(table.name, len(self.rows))
        for column in table.complete_columns:
            array = plain_array(table, column, [row.get(column.name) for row in self.rows])
            if array.null_count < len(array):
                batch.columns[column.name] = array
        self.outcome.batches.append(self.conformer.add_system_columns(batch, seed))


def _parts(size: int, bad: FastPathMiss) -> list[tuple[int, int, bool]]:
    """How to divide rows after a miss: start, end and whether the part may be clean.

    >>> _parts(200, SpecialRows([70, 71]))
    [(0, 64, True), (64, 128, False), (128, 200, True)]
    """
    if size <= MIN_SPLIT:
        return []
    if not isinstance(bad, SpecialRows):
        return [(0, size // 2, True), (size // 2, size, True)]
    special = {row // MIN_SPLIT for row in bad.rows}
    runs = groupby(range(0, size, MIN_SPLIT), lambda start: start // MIN_SPLIT not in special)
    parts = [(clean, list(starts)) for clean, starts in runs]
    return [(starts[0], min(starts[-1] + MIN_SPLIT, size), clean) for clean, starts in parts]
