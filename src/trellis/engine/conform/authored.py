"""Records under a schema that the user wrote -> batches of its one table.

Nothing is learned from the records, so no block waits. Blocks and batches are converted column by column
where the program describes that (`evolution/columnar_transform.py`). Records with special values go through
the program one at a time; the program is the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from trellis.engine.columnar.authored.columns import ColumnReader, Records
from trellis.engine.columnar.authored.lines import SAMPLE, LineColumns, LineReader
from trellis.engine.columnar.authored.regular import is_regular
from trellis.engine.columnar.authored.typed import BatchColumns
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.strict import Indexes
from trellis.engine.columnar.typed.kinds import marked_rows
from trellis.engine.conform.block_work import BlockWork
from trellis.engine.conform.outcome import Conformed, parse_records
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import has_long_number, replaced_values
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Counts, Discard, Peek, Plan
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of, in_order_of_input
from trellis.engine.staging.column_defaults import plain_array
from trellis.engine.text import count_keys, to_json
from trellis.errors import ContractError
from trellis.evolution.observe import Observations
from trellis.evolution.record_outcome import DUPLICATE_KEY, Rejected, Stopped
from trellis.evolution.row_transform import RowTransform

MIN_SPLIT: Final = 64
"""Parts of at most so many records are not divided further."""


class AuthoredConformer:
    """Runs the dialect's row program over the records of a task."""

    times = 1
    learns = False

    def __init__(self, plan: Plan, program: RowTransform, columnar: bool = True) -> None:
        self.plan = plan
        self.program = program
        self.table = plan.schema.tables[program.table]
        self.warnings: Counter[str] = Counter()
        self.examples: list[bytes] = []
        self.telling: list[bytes] = []
        self.columns = (
            ColumnReader(self.table, program.columnar) if columnar and program.columnar is not None else None
        )
        self.line_reader = None if self.columns is None else LineReader(self.columns.program)

    def untyped_columns(self) -> set[tuple[str, str]]:
        return set()

    def shared_names(self) -> dict[str, set[str]]:
        return {}

    def flush_rows(self) -> list[TableBatch]:
        return []

    def peek(self, split: Split, block: Block) -> Peek:
        """Nothing: what the records become is authored."""
        return Peek(Observations())

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block. Raises ContractError where a record stops the load."""
        work = BlockWork.of(split, block, self._seed(split, block.offset, block.line), only)
        remaining: Indexes = np.arange(len(work.lines))
        if self.line_reader is not None:
            remaining = self._by_columns(work, self.line_reader, remaining)
        if len(remaining):
            self._one_by_one(work, remaining)
        return self._in_order(work.outcome)

    def _by_columns(self, work: BlockWork, reader: LineReader, pending: Indexes) -> Indexes:
        """Conform lines by columns; the indexes of those that are left for the program."""

        def build(records: pa.Table, indexes: Indexes) -> Indexes:
            columns = LineColumns(reader, records, lambda start, stop: work.texts(indexes[start:stop]))
            self._add_read(columns, work.numbers[indexes], work.seed, work.outcome)
            return indexes[:0]

        if reader.reader is None and not reader.learn(work.texts(_sample(pending))):
            return pending
        left: list[Indexes] = []
        while len(pending):
            read = reader.read(work.lines, pending)
            left += [read.misfits, build_in_parts(build, read.records, read.lines, MIN_SPLIT)]
            pending = read.unread
            shown = np.union1d(read.misfits[-SAMPLE:], _sample(pending))
            if len(pending) and not reader.learn(work.texts(shown)):
                left.append(pending)
                break
        return np.sort(np.concatenate(left))

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform typed rows. Raises ContractError where one stops the load."""
        outcome = Conformed()
        seed = self._seed(split, rows.first)
        remaining: Indexes = np.arange(rows.batch.num_rows)
        if self.columns is not None and is_regular(rows.batch, self.columns.program):
            transform = self.columns.program

            def build(records: pa.RecordBatch, indexes: Indexes) -> Indexes:
                columns = BatchColumns(records, transform, self.program.kinds)
                self._add_read(columns, rows.first + indexes, seed, outcome)
                return indexes[:0]

            remaining = np.sort(build_in_parts(build, rows.batch, remaining, MIN_SPLIT))
        if len(remaining):
            collector = _RecordCollector(self, split.path, outcome)
            for run in np.split(remaining, np.flatnonzero(np.diff(remaining) > 1) + 1):
                records = marked_rows(rows.batch.slice(run[0], len(run)), self.program.kinds)
                for number, item in enumerate(records, rows.first + int(run[0])):
                    collector.add_record(number, item, None)
            collector.close(seed)
        return self._in_order(outcome)

    def _add_read(self, records: Records, numbers: Indexes, seed: bytes, outcome: Conformed) -> None:
        """Add the rows of records with these numbers. Raises FastPathMiss, SpecialRows."""
        assert self.columns is not None
        read = self.columns.read(records, numbers)
        outcome.counts.add(Counts(len(numbers), len(numbers) - read.dropped, 0, read.dropped))
        if read.batch.rows:
            outcome.batches.append(self.add_system_columns(read.batch, seed))
        self.warnings.update(read.warnings)

    def _in_order(self, outcome: Conformed) -> Conformed:
        outcome.batches = in_order_of_input(outcome.batches)
        return outcome

    def items(
        self, split: Split, first: int, items: Sequence[Any], only: Sequence[int] | None = None
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        outcome = Conformed()
        rows = _RecordCollector(self, split.path, outcome)
        for line, item in enumerate(items, first):
            rows.add_record(line, item, None)
        rows.close(self._seed(split, first))
        return outcome

    def _one_by_one(self, work: BlockWork, indexes: Indexes) -> None:
        rows, outcome = _RecordCollector(self, work.split.path, work.outcome), work.outcome
        lines = work.numbered_lines(indexes)
        has_big_ints = any(has_long_number(line) for _, line in lines)
        for number, line, item in parse_records(lines, has_big_ints, outcome, verbatim=True):
            rows.add_record(number, item, line)
        rows.close(work.seed)

    def add_system_columns(self, batch: TableBatch, seed: bytes) -> TableBatch:
        keys = self.plan.dialect.system_columns.row_keys(self.plan.schema, self.table.name)
        plan = self.plan
        id_generator = RowIdGenerator(plan.dialect, plan.schema, plan.load_id, seed, plan.now)
        system_columns = id_generator.root_columns(
            self.table.name, keys, batch.rows, (), None, None, batch.origins
        )
        for name, values in system_columns.items():
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
        self.origins: list[int] = []

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
        self.origins += [number] * len(result.rows)
        for lost in result.lost:
            self._discard(number, lost.column, lost.path, lost.value, lost.reason)
        self.conformer.warnings.update(result.warnings)
        if line is not None:
            for key, value in replaced_values(line, count_keys(item)):
                self._discard(number, "", key, value, DUPLICATE_KEY)

    def _discard(self, number: int, column: str, path: str, value: Any, reason: str) -> None:
        text = value if isinstance(value, str) else to_json(value)
        text = text.encode("utf-8", "replace").decode()
        self.outcome.discards.append(Discard(self.program.table, column, path, text, number, reason))

    def close(self, seed: bytes) -> None:
        """Add the rows to the outcome."""
        self.conformer.warnings.update(self.program.take_warnings())
        if not self.rows:
            return
        table = self.conformer.table
        batch = TableBatch(table.name, len(self.rows), origins=np.array(self.origins, np.int64))
        for column in table.complete_columns:
            array = plain_array(table, column, [row.get(column.name) for row in self.rows])
            if array.null_count < len(array):
                batch.columns[column.name] = array
        self.outcome.batches.append(self.conformer.add_system_columns(batch, seed))


def _sample(indexes: Indexes) -> Indexes:
    """Some of the indexes, from all over them."""
    return indexes[:: max(len(indexes) // SAMPLE, 1)]
