"""A schema learned from rows, with the reason for each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.types.model import ANY, Optional, Primitive, Type
from trellis.dialects.ytsaurus.yson.values import Kind, kind_of

_TYPES: Final[dict[Kind, Type]] = {
    "int64": Optional(Primitive("int64")),
    "uint64": Optional(Primitive("uint64")),
    "double": Optional(Primitive("double")),
    "boolean": Optional(Primitive("bool")),
    "string": Optional(Primitive("string")),
}


@dataclass(frozen=True)
class LearnedColumn:
    column: Column
    reason: str
    is_mixed: bool = False
    """Whether it has values of several kinds."""


@dataclass(frozen=True)
class LearnedSchema:
    columns: tuple[LearnedColumn, ...]

    @property
    def schema(self) -> TableSchema:
        return TableSchema(tuple(learned.column for learned in self.columns))


@dataclass
class ColumnKinds:
    """The kinds of the values of a column: how many, and where the first of each is."""

    counts: Counter[Kind] = field(default_factory=Counter)
    first_places: dict[Kind, str] = field(default_factory=dict)

    def add(self, kind: Kind, place: str, count: int = 1) -> None:
        self.counts[kind] += count
        self.first_places.setdefault(kind, place)

    def type(self, promote_integers: bool) -> Type:
        kinds = [*self.counts]
        if promote_integers and "double" in kinds and {*kinds} <= {"int64", "uint64", "double"}:
            return _TYPES["double"]
        return _TYPES.get(kinds[0], ANY) if len(kinds) == 1 else ANY

    def reason(self, rows: int) -> str:
        if not self.counts:
            return "null in every row"
        (kind, count), *others = self.counts.items()
        parts = [f"{kind} in {count} of {rows} rows"]
        parts += [f"{other} in {number} (first in {self.first_places[other]})" for other, number in others]
        return ", ".join(parts)


def schema_of_kinds(
    columns: Mapping[str, ColumnKinds], rows: int, *, promote_integers: bool = False
) -> LearnedSchema:
    """The schema of rows whose columns have these kinds of values.

    A column with integers and doubles is any, or double with `promote_integers`.
    """
    return LearnedSchema(
        tuple(
            LearnedColumn(
                Column(name, kinds.type(promote_integers)), kinds.reason(rows), len(kinds.counts) > 1
            )
            for name, kinds in columns.items()
        )
    )


def learn_schema(rows: Iterable[Row], *, promote_integers: bool = False) -> LearnedSchema:
    """The schema of all rows, in the order in which columns come up.

    >>> learned = learn_schema([{"k": b"a"}, {"k": b"b", "n": 1}, {"n": 0.5}])
    >>> [(item.column.simple.name, item.reason) for item in learned.columns]
    [('string', 'string in 2 of 3 rows'), ('any', 'int64 in 1 of 3 rows, double in 1 (first in row 2)')]
    """
    columns: dict[str, ColumnKinds] = {}
    count = 0
    for count, row in enumerate(rows, 1):
        for name, value in row.items():
            kinds = columns.setdefault(name, ColumnKinds())
            if value is not None:
                kinds.add(kind_of(value), f"row {count - 1}")
    return schema_of_kinds(columns, count, promote_integers=promote_integers)
