"""Where rows come from, for jobs and readers that ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.store.jobs.job import RANGE_INDEX, ROW_INDEX, TABLE_INDEX
from trellis.dialects.ytsaurus.store.reading import TableSource

R = TypeVar("R")
ALL_MARKS: Final = frozenset((TABLE_INDEX, RANGE_INDEX, ROW_INDEX))


def with_table_index(row: Row) -> Row:
    """The row with `@table_index`, None where it is not known: rows that tell of their places have it."""
    row.setdefault(TABLE_INDEX, None)
    return row


class Context:
    """The place of the row that was read last; None is what was not asked for."""

    table_index: int | None = None
    row_index: int | None = None
    range_index: int | None = None
    tablet_index: int | None = None
    """Tables have no tablets here."""

    def get_table_index(self) -> int | None:
        return self.table_index

    def get_row_index(self) -> int | None:
        return self.row_index

    def get_range_index(self) -> int | None:
        return self.range_index

    def follow_table(self, source: TableSource) -> Iterator[Row]:
        """The rows of a table."""
        self.table_index = 0
        for self.range_index, (start, end) in enumerate(source.intervals()):
            for self.row_index, row in enumerate(source.read_rows_between(start, end), start):
                yield row

    def follow_marks(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows without what they tell of their places."""
        return map(self._take_marks, rows)

    def _take_marks(self, row: Row) -> Row:
        self.table_index = row.pop(TABLE_INDEX, self.table_index)
        self.range_index = row.pop(RANGE_INDEX, self.range_index)
        self.row_index = row.pop(ROW_INDEX, self.row_index)
        return row


class RowIterator(Generic[R]):
    """Rows, which a context follows. It has the methods and attributes of the context of the last row."""

    def __init__(self, rows: Iterable[Row], read_row: Callable[[Row], R], context: Context) -> None:
        self._context = context
        self._rows = map(read_row, rows)

    def __iter__(self) -> Iterator[R]:
        return self

    def __next__(self) -> R:
        return next(self._rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def with_context(self) -> Iterator[tuple[R, Context]]:
        """Each row with its context, which goes on to the next row with the iteration."""
        return ((row, self._context) for row in self._rows)
