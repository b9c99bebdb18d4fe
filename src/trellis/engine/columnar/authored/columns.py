"""Records of an authored table -> its rows, column by column.

A column goes through Arrow's kernels where there is one for it, else its values go through the program's
`each`, one column at a time. A value that is special sends its records back, to be made by the program. Where
the records come from says `vector_lines.py` or `vector_typed.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.authored.casts import WayOf
from trellis.engine.columnar.authored.chain import chained
from trellis.engine.columnar.authored.fit import checked, fitted, listed
from trellis.engine.columnar.strict import FastPathMiss, SpecialRows
from trellis.engine.exact.text import nested_text
from trellis.engine.staging.batches import TableBatch
from trellis.evolution.recipe import Path
from trellis.evolution.vector import Cell, Derived, Special, VectorProgram
from trellis.schema.model import Column, Table


@dataclass
class Read:
    """The rows of clean records, and what is to be counted of them."""

    batch: TableBatch
    records: int
    dropped: int = 0
    oddities: Counter[str] = field(default_factory=Counter)


class Records(Protocol):
    """Records as arrays and, where it has to be, as Python values.

    `way_of` has the kernels for the types that their arrays have. `patient`: where a kernel fails its column
    goes value by value, and all values that are special for the program as well are found at once.
    """

    size: int
    patient: bool

    @property
    def way_of(self) -> WayOf: ...

    def is_known(self, path: Path) -> bool:
        """Whether `array` has what is there, or nothing is."""
        ...

    def array(self, path: Path) -> pa.Array | None:
        """The values at a path; None where no record has one."""
        ...

    def values(self, path: Path) -> Sequence[Any]:
        """The values as the program would find them in the records."""
        ...

    def has_key_with(self, joint: str) -> bool:
        """Whether a key of the records, or of objects in them, holds this text."""
        ...

    def unused(self) -> Counter[str]:
        """How often there is a value under keys that nothing is made of."""
        ...


class ColumnReader:
    """Makes the rows of a table whose schema was authored."""

    def __init__(self, table: Table, program: VectorProgram) -> None:
        self.table = table
        self.program = program
        self.cells = [(cell, table.columns[cell.column]) for cell in program.cells]
        self.failed = 0
        """The place of the cell that sent records back last: it is asked first."""

    def read(self, records: Records) -> Read:
        """The rows of some records. Raises FastPathMiss, or SpecialRows where these are known."""
        self.program.taken()
        if self.program.joint is not None and records.has_key_with(self.program.joint):
            raise FastPathMiss
        made = Read(TableBatch(self.table.name, records.size), records.size, oddities=records.unused())
        columns = self._columns(records)
        if self.program.drops is not None:
            try:
                found = _computed(self.program.drops, records)
            except Special:
                raise FastPathMiss from None
            dropped = pa.array([each is True for each in found], pa.bool_())
            made.dropped = int(pc.sum(dropped).as_py() or 0)
            if made.dropped:
                stays = pc.invert(dropped)
                columns = {name: array.filter(stays) for name, array in columns.items()}
                made.batch.rows -= made.dropped
        damaged = self.program.taken()
        if damaged and made.dropped:
            raise FastPathMiss  # which of it was in rows that were dropped is not known
        made.oddities.update(damaged)
        made.batch.columns = {name: a for name, a in columns.items() if a.null_count < len(a)}
        return made

    def _columns(self, records: Records) -> dict[str, pa.Array]:
        made: dict[str, pa.Array] = {}
        for at in (self.failed, *(at for at in range(len(self.cells)) if at != self.failed)):
            cell, column = self.cells[at]
            try:
                made[cell.column] = self._column(cell, column, records)
            except FastPathMiss:
                self.failed = at
                raise
        return {cell.column: made[cell.column] for cell, _ in self.cells}

    def _column(self, cell: Cell, column: Column, records: Records) -> pa.Array:
        wanted = arrow_type(column)
        as_text = column.data_type == "json" and not pa.types.is_nested(wanted)
        try:
            array = None if as_text else self._at_once(cell, wanted, records)
            if array is None:
                values = _each_made(cell, _values(cell.source, records), records.patient)
                array = checked(pa.array(map(nested_text, values) if as_text else values, wanted), cell)
        except (pa.ArrowException, Special, ValueError, TypeError, OverflowError):
            raise FastPathMiss from None
        if cell.default is not None and array.null_count:
            array = _filled(array, nested_text(cell.default) if as_text else cell.default, wanted)
        return array

    def _at_once(self, cell: Cell, wanted: pa.DataType, records: Records) -> pa.Array | None:
        """The column by kernels; None where these do not suffice."""
        try:
            if isinstance(cell.source, Derived):
                return self._chained(cell, cell.source, wanted, records)
            if not records.is_known(cell.source):
                return None
            found = records.array(cell.source)
            return (
                pa.nulls(records.size, wanted)
                if found is None
                else self._fitted(cell, found, wanted, records)
            )
        except (FastPathMiss, pa.ArrowException):
            if not records.patient:
                raise
            return None

    def _chained(self, cell: Cell, source: Derived, wanted: pa.DataType, records: Records) -> pa.Array | None:
        """The column by the steps of its expression; None where they do not suffice."""
        if not source.steps or not all(map(records.is_known, (source.own, *source.arguments))):
            return None
        own, array = records.array(source.own), records.array(source.arguments[0])
        if array is None or (own is not None and own.null_count < len(own)):
            return None
        found = chained(array, source.steps)
        way = listed if cell.many else fitted
        return None if found is None else way(found, cell, wanted, self.program.zone)

    def _fitted(self, cell: Cell, found: pa.Array, wanted: pa.DataType, records: Records) -> pa.Array | None:
        way = listed if cell.many else fitted
        return way(found, cell, wanted, self.program.zone, records.way_of)


def _values(source: Path | Derived, records: Records) -> Sequence[Any]:
    return _computed(source, records) if isinstance(source, Derived) else records.values(source)


def _computed(source: Derived, records: Records) -> list[Any]:
    columns = [records.values(path) for path in source.arguments]
    rows: Any = zip(*columns, strict=True) if columns else [()] * records.size
    compute: Callable[..., Any] = source.compute
    if not source.own:
        return [compute(*row) for row in rows]
    own = records.values(source.own)
    if any(mine.__class__ in (list, dict) for mine in own):
        raise Special
    return [compute(*row) if mine is None else mine for mine, row in zip(own, rows, strict=True)]


def _each_made(cell: Cell, values: Sequence[Any], patient: bool) -> list[Any]:
    """One value at a time. Raises Special, where `patient` SpecialRows."""
    each = cell.each
    made: list[Any] = []
    special: list[int] = []
    for row, value in enumerate(values):
        try:
            made.append(None if value is None else each(value))
        except Special:
            if not patient:
                raise
            special.append(row)
    if special:
        raise SpecialRows(special)
    return made


def _filled(array: pa.Array, default: Any, wanted: pa.DataType) -> pa.Array:
    if not pa.types.is_nested(wanted):
        return pc.fill_null(array, pa.scalar(default, wanted))
    return pc.if_else(pc.is_null(array), pa.scalar(default, wanted), array)
