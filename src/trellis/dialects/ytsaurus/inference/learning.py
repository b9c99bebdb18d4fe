"""A schema learned from rows, with the reason for each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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


@dataclass(frozen=True)
class LearnedSchema:
    columns: tuple[LearnedColumn, ...]

    @property
    def schema(self) -> TableSchema:
        return TableSchema(tuple(learned.column for learned in self.columns))


def learn_schema(rows: Iterable[Row], *, promote_integers: bool = False) -> LearnedSchema:
    """The schema of all rows, in the order in which columns come up.

    A column with integers and doubles is any, or double with `promote_integers`.

    >>> learned = learn_schema([{"k": b"a"}, {"k": b"b", "n": 1}, {"n": 0.5}])
    >>> [(item.column.simple.name, item.reason) for item in learned.columns]
    [('string', 'string in 2 of 3 rows'), ('any', 'int64 in 1 of 3 rows, double in 1 (first in row 2)')]
    """
    columns: dict[str, _Observations] = {}
    count = 0
    for count, row in enumerate(rows, 1):
        for name, value in row.items():
            observations = columns.setdefault(name, _Observations())
            if value is not None:
                kind = kind_of(value)
                observations.kinds[kind] += 1
                observations.first_rows.setdefault(kind, count - 1)
    return LearnedSchema(
        tuple(
            LearnedColumn(Column(name, observations.type(promote_integers)), observations.reason(count))
            for name, observations in columns.items()
        )
    )


@dataclass
class _Observations:
    """The kinds of the values of a column."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    first_rows: dict[Kind, int] = field(default_factory=dict)

    def type(self, promote_integers: bool) -> Type:
        kinds = [*self.kinds]
        if promote_integers and "double" in kinds and {*kinds} <= {"int64", "uint64", "double"}:
            return _TYPES["double"]
        return _TYPES.get(kinds[0], ANY) if len(kinds) == 1 else ANY

    def reason(self, count: int) -> str:
        if not self.kinds:
            return "null in every row"
        (kind, rows), *others = self.kinds.items()
        parts = [f"{kind} in {rows} of {count} rows"]
        parts += [f"{other} in {number} (first in row {self.first_rows[other]})" for other, number in others]
        return ", ".join(parts)
