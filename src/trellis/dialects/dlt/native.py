"""What a column's type is called in a warehouse, with its precision, scale and zone (dlt.md, 15, 16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, number_size

ANY: Final = 1 << 62


@dataclass(frozen=True)
class Words:
    """The words of one type.

    `plain` is that without a precision. A precision takes the first of `steps` that it does not exceed; `{}`
    in its word stands for the precision. A greater one is refused, or if `cuts`, taken for the greatest there
    is. Without steps the warehouse has no precision, and `plain` is used.
    """

    plain: str
    steps: tuple[tuple[int, str], ...] = ()
    cuts: bool = False


@dataclass(frozen=True)
class Number:
    """A type of exact numbers: how many digits it holds, how many behind the point and before it."""

    word: str
    digits: int = 38
    scale: int = 38
    whole: int = 38

    def holds(self, precision: int, scale: int) -> bool:
        return precision <= self.digits and scale <= self.scale and precision - scale <= self.whole


@dataclass(frozen=True)
class Warehouse:
    """One warehouse. `aware` and `naive` are its timestamps with and without a time zone."""

    name: str
    called: str
    types: Mapping[DataType, Words] = field(hash=False)
    aware: Words
    naive: Words
    numbers: tuple[Number, ...]
    max_name: int
    folds: Literal["", "lower", "upper"] = ""
    """What becomes of names without a case of their own, where they are not that already."""
    case_sensitive: bool = False
    """Whether names that differ in case alone are two."""
    requires: Literal["always", "new tables", "never"] = "always"
    """Where a column can be NOT NULL."""
    formats: Mapping[str, Warehouse] = field(default_factory=dict, hash=False)
    """What is followed instead for tables whose `table_format` is this."""

    def type_of(self, table: str, column: Column) -> tuple[str, str]:
        """The type of a complete column, and what a reader should know of it, if anything.

        Raises SchemaError where no type of the warehouse is wide enough.
        """
        assert column.data_type is not None
        where, precision = f"column {table}.{column.name}", column.precision
        if column.data_type == "decimal":
            return self._number(where, column)
        words = self.types[column.data_type] if column.data_type != "timestamp" else self._timestamp(column)
        if precision is None or not words.steps:
            return words.plain, ""
        for most, word in words.steps:
            if precision <= most:
                return word.format(precision), ""
        if words.cuts:
            return word.format(most), f"{where}: {self.called} has precision {most}, not {precision}"
        raise SchemaError(
            f"{where}: {self.called} has no {column.data_type} of precision {precision}; {most} is the most"
        )

    def _timestamp(self, column: Column) -> Words:
        return self.naive if column.timezone is False else self.aware

    def _number(self, where: str, column: Column) -> tuple[str, str]:
        precision, scale = number_size(column)
        unsaid = column.precision is not None and column.scale is None
        note = f"{where}: precision {precision} without a scale means scale 0" if unsaid else ""
        for number in self.numbers:
            if number.holds(precision, scale):
                return number.word.format(precision, scale), note
        raise SchemaError(
            f"{where}: {self.called} has no decimal of precision {precision} and scale {scale}; "
            f"{self.numbers[-1].digits} digits are the most"
        )
