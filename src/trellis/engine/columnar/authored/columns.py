"""Records under a schema that the user wrote -> rows, column by column.

A column goes through Arrow's kernels where there is one for it, else its values go through the program's
`each`, one column at a time. Records with a special value go back to the program. `lines.py` and `typed.py`
say where records come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.authored.casts import KernelFinder
from trellis.engine.columnar.authored.chain import chained
from trellis.engine.columnar.authored.fit import check_values, fit_lists, fit_values
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.staging.batches import TableBatch
from trellis.engine.text import nested_text
from trellis.evolution.columnar_transform import Cell, ColumnarTransform, Derived, Special
from trellis.evolution.projection import Path
from trellis.schema.model import Column, Table


@dataclass
class ReadResult:
    """The rows of some records, and the counts that go with them."""

    batch: TableBatch
    records: int
    dropped: int = 0
    oddities: Counter[str] = field(default_factory=Counter)


class Records(Protocol):
    """Records as arrays and, where it has to be, as Python values.

    `kernel_finder` has the kernels for the types that their arrays have. `patient`: where a kernel fails its
    column goes value by value, and all values that are special for the program as well are found at once.
    """

    size: int
    patient: bool

    @property
    def kernel_finder(self) -> KernelFinder: ...

    def is_known(self, path: Path) -> bool:
        """Whether `array` has all values at the path."""
        ...

    def array(self, path: Path) -> pa.Array | None:
        """The values at a path; None where no record has one."""
        ...

    def values(self, path: Path) -> Sequence[Any]:
        """The values as the program gets them from the records."""
        ...

    def has_key_with(self, joint: str) -> bool:
        """Whether a key of the records, or of objects in them, holds this text."""
        ...

    def unused(self) -> Counter[str]:
        """How often there is a value under keys that no column uses, by message."""
        ...


class ColumnReader:
    """Builds the columns of a table whose schema the user wrote."""

    def __init__(self, table: Table, program: ColumnarTransform) -> None:
        self.table = table
        self.program = program
        self.cells = [(cell, table.columns[cell.column]) for cell in program.cells]
        self.failed = 0
        """The index of the cell that failed last: it is tried first, as it will probably fail again."""

    def read(self, records: Records) -> ReadResult:
        """The rows of some records. Raises FastPathMiss, or SpecialRows where these are known."""
        self.program.taken()
        if self.program.joint is not None and records.has_key_with(self.program.joint):
            raise FastPathMiss
        result = ReadResult(
            TableBatch(self.table.name, records.size), records.size, oddities=records.unused()
        )
        columns = self._columns(records)
        if self.program.drops is not None:
            try:
                drop_values = _computed(self.program.drops, records)
            except Special:
                raise FastPathMiss from None
            dropped = pa.array([drops is True for drops in drop_values], pa.bool_())
            result.dropped = int(pc.sum(dropped).as_py() or 0)
            if result.dropped:
                keep = pc.invert(dropped)
                columns = {name: array.filter(keep) for name, array in columns.items()}
                result.batch.rows -= result.dropped
        damaged = self.program.taken()
        if damaged and result.dropped:
            raise FastPathMiss  # which of it was in rows that were dropped is not known
        result.oddities.update(damaged)
        result.batch.columns = {name: a for name, a in columns.items() if a.null_count < len(a)}
        return result

    def _columns(self, records: Records) -> dict[str, pa.Array]:
        arrays: dict[str, pa.Array] = {}
        for index in (self.failed, *(index for index in range(len(self.cells)) if index != self.failed)):
            cell, column = self.cells[index]
            try:
                arrays[cell.column] = self._column(cell, column, records)
            except FastPathMiss:
                self.failed = index
                raise
        return {cell.column: arrays[cell.column] for cell, _ in self.cells}

    def _column(self, cell: Cell, column: Column, records: Records) -> pa.Array:
        arrow = arrow_type(column)
        as_text = column.data_type == "json" and not pa.types.is_nested(arrow)
        try:
            array = None if as_text else self._by_kernels(cell, arrow, records)
            if array is None:
                values = _convert_each(cell, _values(cell.source, records), records.patient)
                array = check_values(pa.array(map(nested_text, values) if as_text else values, arrow), cell)
        except (pa.ArrowException, Special, ValueError, TypeError, OverflowError):
            raise FastPathMiss from None
        if cell.default is not None and array.null_count:
            array = _filled(array, nested_text(cell.default) if as_text else cell.default, arrow)
        return array

    def _by_kernels(self, cell: Cell, arrow: pa.DataType, records: Records) -> pa.Array | None:
        """The column by kernels; None where these do not suffice."""
        try:
            if isinstance(cell.source, Derived):
                return self._chained(cell, cell.source, arrow, records)
            if not records.is_known(cell.source):
                return None
            array = records.array(cell.source)
            return (
                pa.nulls(records.size, arrow) if array is None else self._fitted(cell, array, arrow, records)
            )
        except (FastPathMiss, pa.ArrowException):
            if not records.patient:
                raise
            return None

    def _chained(self, cell: Cell, source: Derived, arrow: pa.DataType, records: Records) -> pa.Array | None:
        """The column by the steps of its expression; None where they do not suffice."""
        if not source.steps or not all(map(records.is_known, (source.path, *source.arguments))):
            return None
        own_values, array = records.array(source.path), records.array(source.arguments[0])
        if array is None or (own_values is not None and own_values.null_count < len(own_values)):
            return None
        column = chained(array, source.steps)
        fit = fit_lists if cell.many else fit_values
        return None if column is None else fit(column, cell, arrow, self.program.zone)

    def _fitted(self, cell: Cell, array: pa.Array, arrow: pa.DataType, records: Records) -> pa.Array | None:
        fit = fit_lists if cell.many else fit_values
        return fit(array, cell, arrow, self.program.zone, records.kernel_finder)


def _values(source: Path | Derived, records: Records) -> Sequence[Any]:
    return _computed(source, records) if isinstance(source, Derived) else records.values(source)


def _computed(source: Derived, records: Records) -> list[Any]:
    columns = [records.values(path) for path in source.arguments]
    rows: Any = zip(*columns, strict=True) if columns else [()] * records.size
    compute: Callable[..., Any] = source.compute
    if not source.path:
        return [compute(*row) for row in rows]
    own_values = records.values(source.path)
    if any(own_value.__class__ in (list, dict) for own_value in own_values):
        raise Special
    return [
        compute(*row) if own_value is None else own_value
        for own_value, row in zip(own_values, rows, strict=True)
    ]


def _convert_each(cell: Cell, values: Sequence[Any], patient: bool) -> list[Any]:
    """One value at a time. Raises Special, where `patient` SpecialRows."""
    convert = cell.convert
    converted: list[Any] = []
    special: list[int] = []
    for row, value in enumerate(values):
        try:
            converted.append(None if value is None else convert(value))
        except Special:
            if not patient:
                raise
            special.append(row)
    if special:
        raise SpecialRows(special)
    return converted


def _filled(array: pa.Array, default: Any, arrow: pa.DataType) -> pa.Array:
    if not pa.types.is_nested(arrow):
        return pc.fill_null(array, pa.scalar(default, arrow))
    return pc.if_else(pc.is_null(array), pa.scalar(default, arrow), array)
