"""What breaks the schema among rows that keep their types: every column of a batch, with its first row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from trellis.engine.arrow.nested_types import described
from trellis.engine.arrow.types import value_type
from trellis.engine.columnar.typed.fields import Field
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.plan import Plan
from trellis.evolution.contract import Contract, ContractViolation, missing_value_violation
from trellis.evolution.observe import Position
from trellis.schema.model import Column

MOST_COUNTED = 1_000
"""Values of a column of one batch that are counted; each costs a few casts."""

_UNSIGNED: Mapping[pa.DataType, str] = {
    pa.uint8(): "precision 16",
    pa.uint16(): "precision 32",
    pa.uint32(): "precision 64",
    pa.uint64(): "the type wei",
}
"""What holds all their values: the column they make has as many bits, and one of them is the sign."""


class BatchViolations:
    """The violations of one batch for one table. `start` is the position of its first row."""

    def __init__(self, plan: Plan, root: TableBuilder, start: Position) -> None:
        self.schema_name = plan.schema.name
        self.root = root
        self.start = start
        self.violations: list[ContractViolation] = []

    def add_misfit(self, field: Field, column: Column, rows: list[int], contract: Contract) -> None:
        """Values at these rows, from 0, do not fit the type of their column."""
        signed, room = "", "another type"
        if column.data_type == "bigint" and (wider := _UNSIGNED.get(value_type(field.arrow))) is not None:
            signed, room = ", which has a sign", wider
        reason = (
            f"{field.key} comes as {field.arrow}, and some of its values do not fit {_described(column)}, "
            f"the type of the column{signed}"
        )
        remedy = (
            f"convert them, declare {room} for a new table, or load with the contract data_type: "
            "discard_value"
        )
        *split, first = self.start
        self.violations.append(
            ContractViolation(
                self.schema_name,
                self.root.name,
                field.name,
                "data_type",
                contract.data_type,
                contract=contract,
                table_schema=self.root.table,
                reason=reason,
                remedy=remedy,
                position=(*split, first + rows[0]),
                count=len(rows),
                is_least=len(rows) == MOST_COUNTED,
            )
        )

    def add_null(self, field: Field, rows: list[int]) -> None:
        """Values at these rows are missing, and the column takes no NULL."""
        self._add_null(field.name, field.key, rows[0], len(rows))

    def add_missing(self, column: str, count: int) -> None:
        """No row has a value for a column that takes no NULL."""
        self._add_null(column, "", 0, count)

    def _add_null(self, column: str, path: str, row: int, count: int) -> None:
        *split, first = self.start
        self.violations.append(
            missing_value_violation(
                self.schema_name,
                self.root.name,
                column,
                path,
                table_schema=self.root.table,
                position=(*split, first + row),
                count=count,
            )
        )


def misfit_rows(array: pa.Array, fits: Callable[[pa.Array], bool]) -> list[int]:
    """The first rows, from 0, whose values do not fit; found by halving, as only arrays can be asked."""
    rows: list[int] = []
    parts = [(0, len(array))]
    while parts and len(rows) < MOST_COUNTED:
        start, end = parts.pop()
        part = array.slice(start, end - start)
        if part.null_count == len(part) or fits(part):
            continue
        if end - start == 1:
            rows.append(start)
            continue
        middle = (start + end) // 2
        parts += [(middle, end), (start, middle)]
    return rows or [0]


def _described(column: Column) -> str:
    nested = described(column)
    if nested is not None:
        return nested
    size = [str(digits) for digits in (column.precision, column.scale) if digits is not None]
    return f"{column.data_type}({', '.join(size)})" if size else str(column.data_type)
