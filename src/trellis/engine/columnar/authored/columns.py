"""Records under a schema that the user wrote -> rows, column by column.

A column goes through Arrow's kernels where there is one for it, else its values go through the program's
`each`, one column at a time. Records with a special value go back to the program. `lines.py` and `typed.py`
say where records come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.authored.casts import KernelFinder
from trellis.engine.columnar.authored.chain import chained
from trellis.engine.columnar.authored.fit import check_values, fit_lists, fit_values
from trellis.engine.columnar.strict import FastPathMiss, Indexes, SpecialRows
from trellis.engine.staging.batches import Origins, TableBatch
from trellis.engine.text import nested_text
from trellis.evolution.columnar_transform import Cell, ColumnarTransform, Derived, Remainder, Special
from trellis.evolution.projection import Path
from trellis.schema.model import Column, Table

MIN_PIECE: Final = 8
"""Pieces of a column of at most so many values are not divided further."""
MAX_FAILURES: Final = 500
"""After so many pieces that its kernel cannot convert a column goes value by value."""

ConvertRows = Callable[[int, int], "pa.Array | None"]
"""Converts the rows from one up to another; None, or FastPathMiss, where they need more."""


@dataclass
class ReadResult:
    """The rows of some records, and the counts that go with them."""

    batch: TableBatch
    dropped: int = 0
    warnings: Counter[str] = field(default_factory=Counter)


class Records(Protocol):
    """Records as arrays and, where it has to be, as Python values.

    `kernel_finder` has the kernels for the types that their arrays have.
    """

    size: int

    @property
    def kernel_finder(self) -> KernelFinder: ...

    def is_known(self, path: Path) -> bool:
        """Whether `array` has all values at the path."""
        ...

    def array(self, path: Path) -> pa.Array | None:
        """The values at a path; None where no record has one."""
        ...

    def values(self, path: Path, start: int, stop: int) -> Sequence[Any]:
        """The values of some rows, as the program gets them from the records."""
        ...

    def rows_of_other_numbers(self, path: Path) -> Indexes:
        """The rows whose values are not the doubles that the array at the path has, but integers, say."""
        ...

    def has_key_with(self, joint: str) -> bool:
        """Whether a key of the records, or of objects in them, holds this text."""
        ...

    def rows_with_unused_keys(self) -> Sequence[int]:
        """The records that have a key, also one with null, that no column uses."""
        ...

    def unused(self) -> Counter[str]:
        """How often there is a value under keys that no column uses, by message."""
        ...

    def unused_values(self) -> Sequence[Mapping[str, Any]]:
        """What each record has under keys that no column uses, nulls left out. Raises FastPathMiss."""
        ...


class ColumnReader:
    """Builds the columns of a table whose schema the user wrote."""

    def __init__(self, table: Table, program: ColumnarTransform) -> None:
        self.table = table
        self.program = program
        self.cells = [(cell, table.columns[cell.column]) for cell in program.cells]

    def read(self, records: Records, numbers: Origins) -> ReadResult:
        """The rows of records with these numbers. Raises FastPathMiss, SpecialRows where these are known."""
        self.program.take_warnings()
        try:
            return self._read(records, numbers)
        except FastPathMiss:
            self.program.take_warnings()  # these records are read again
            raise

    def _read(self, records: Records, numbers: Origins) -> ReadResult:
        if self.program.joint is not None and records.has_key_with(self.program.joint):
            raise FastPathMiss
        if self.program.closed and (unknown := records.rows_with_unused_keys()):
            raise SpecialRows(unknown)
        batch = TableBatch(self.table.name, records.size, origins=numbers)
        warnings = records.unused() if self.program.remainder is None else Counter[str]()
        result = ReadResult(batch, warnings=warnings)
        columns = self._columns(records)
        if self.program.drops is not None:
            dropped = pa.array(
                [drops is True for drops in _computed(self.program.drops, records, 0, records.size)],
                pa.bool_(),
            )
            result.dropped = int(pc.sum(dropped).as_py() or 0)
            if result.dropped:
                keep = pc.invert(dropped)
                columns = {name: array.filter(keep) for name, array in columns.items()}
                batch.rows -= result.dropped
                batch.origins = numbers[keep.to_numpy(zero_copy_only=False)]
        damaged = self.program.take_warnings()
        if damaged and result.dropped:
            raise FastPathMiss  # which of it was in rows that were dropped is not known
        result.warnings.update(damaged)
        batch.columns = {name: a for name, a in columns.items() if a.null_count < len(a)}
        return result

    def _columns(self, records: Records) -> dict[str, pa.Array]:
        columns: dict[str, pa.Array] = {}
        special: set[int] = set()
        for cell, column in self.cells:
            try:
                columns[cell.column] = self._column(cell, column, records)
            except SpecialRows as rows:
                special.update(rows.rows)
        if self.program.remainder is not None:
            try:
                columns[self.program.remainder.column] = self._remainder(self.program.remainder, records)
            except SpecialRows as rows:
                special.update(rows.rows)
        if special:
            raise SpecialRows(sorted(special))
        return columns

    def _remainder(self, remainder: Remainder, records: Records) -> pa.Array:
        """Raises SpecialRows."""
        values = zip(records.unused_values(), strict=True)
        converted = _each(lambda unused: remainder.convert(unused) if unused else None, values, 0)
        return pa.array(converted, arrow_type(self.table.columns[remainder.column]))

    def _column(self, cell: Cell, column: Column, records: Records) -> pa.Array:
        arrow = arrow_type(column)
        as_text = column.data_type == "json" and not pa.types.is_nested(arrow)

        def convert_each(start: int, stop: int) -> pa.Array:
            values = _convert_each(cell, _values(cell.source, records, start, stop), start)
            return check_values(pa.array(map(nested_text, values) if as_text else values, arrow), cell)

        kernel = None if as_text else self._kernel(cell, arrow, records)
        try:
            if kernel is None:
                array = convert_each(0, records.size)
            else:
                array = build_by_pieces(kernel, convert_each, records.size, arrow)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            raise FastPathMiss from None
        if cell.default is not None and array.null_count:
            array = _filled(array, nested_text(cell.default) if as_text else cell.default, arrow)
        if cell.required and array.null_count:
            raise SpecialRows(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist())
        return array

    def _kernel(self, cell: Cell, arrow: pa.DataType, records: Records) -> ConvertRows | None:
        """What converts some rows of the column at once; None where there is nothing that could."""
        zone, fit = self.program.zone, fit_lists if cell.many else fit_values
        if not isinstance(cell.source, Derived):
            if not records.is_known(cell.source):
                return None
            values = records.array(cell.source)
            if values is None:
                return lambda start, stop: pa.nulls(stop - start, arrow)
            finder = records.kernel_finder
            others = records.rows_of_other_numbers(cell.source) if cell.target == "same_float" else None

            def convert_values(start: int, stop: int) -> pa.Array | None:
                if others is not None and np.ptp(np.searchsorted(others, (start, stop))):
                    return None
                return fit(values.slice(start, stop - start), cell, arrow, zone, finder)

            return convert_values
        source = cell.source
        if not source.steps or not all(map(records.is_known, (source.path, *source.arguments))):
            return None
        own_values, argument = records.array(source.path), records.array(source.arguments[0])
        if argument is None:
            return None

        def convert(start: int, stop: int) -> pa.Array | None:
            """By the steps of the expression, where the records have no values of their own."""
            if own_values is not None and own_values.slice(start, stop - start).null_count < stop - start:
                return None
            column = chained(argument.slice(start, stop - start), source.steps)
            return None if column is None else fit(column, cell, arrow, zone)

        return convert


def build_by_pieces(
    kernel: ConvertRows, convert_each: Callable[[int, int], pa.Array], size: int, arrow: pa.DataType
) -> pa.Array:
    """A column by its kernel; of rows for which that does not suffice by halves, at last one by one.

    Raises SpecialRows.
    """
    arrays: list[pa.Array] = []
    special: list[int] = []
    pending, failures = [(0, size)], 0
    while pending:
        start, stop = pending.pop()
        array = _converted(kernel, start, stop) if failures <= MAX_FAILURES else None
        if array is None:
            failures += 1
            if stop - start > MIN_PIECE and failures <= MAX_FAILURES:
                middle = (start + stop) // 2
                pending += [(middle, stop), (start, middle)]
                continue
            try:
                array = convert_each(start, stop)
            except SpecialRows as rows:
                special += rows.rows
                continue
        arrays.append(array)
    if special:
        raise SpecialRows(special)
    return pa.concat_arrays(arrays) if arrays else pa.nulls(0, arrow)


def _converted(kernel: ConvertRows, start: int, stop: int) -> pa.Array | None:
    try:
        return kernel(start, stop)
    except (FastPathMiss, pa.ArrowException):
        return None


def _values(source: Path | Derived, records: Records, start: int, stop: int) -> Sequence[Any]:
    if isinstance(source, Derived):
        return _computed(source, records, start, stop)
    return records.values(source, start, stop)


def _computed(source: Derived, records: Records, start: int, stop: int) -> list[Any]:
    """The values that an expression gives, where a record has none of its own. Raises SpecialRows."""
    columns = [records.values(path, start, stop) for path in source.arguments]
    rows: Any = zip(*columns, strict=True) if columns else [()] * (stop - start)
    own_values = records.values(source.path, start, stop) if source.path else [None] * (stop - start)

    def compute(own_value: Any, row: tuple[Any, ...]) -> Any:
        if own_value.__class__ in (list, dict):
            raise Special
        return source.compute(*row) if own_value is None else own_value

    return _each(compute, zip(own_values, rows, strict=True), start)


def _convert_each(cell: Cell, values: Sequence[Any], start: int) -> list[Any]:
    """One value at a time. Raises SpecialRows."""
    convert = cell.convert
    return _each(lambda value: None if value is None else convert(value), zip(values, strict=True), start)


def _each(convert: Callable[..., Any], rows: Iterable[tuple[Any, ...]], start: int) -> list[Any]:
    """What a function makes of each row, of which the first has the number `start`. Raises SpecialRows."""
    converted: list[Any] = []
    special: list[int] = []
    for number, row in enumerate(rows, start):
        try:
            converted.append(convert(*row))
        except Special:
            special.append(number)
    if special:
        raise SpecialRows(special)
    return converted


def _filled(array: pa.Array, default: Any, arrow: pa.DataType) -> pa.Array:
    if not pa.types.is_nested(arrow):
        return pc.fill_null(array, pa.scalar(default, arrow))
    return pc.if_else(pc.is_null(array), pa.scalar(default, arrow), array)
