"""Tables beside what their schemas say: which columns are missing, of another type or in another place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trellis.dialects.snowplow.columns.column_types import ColumnType
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.merge import holds
from trellis.dialects.snowplow.columns.overlay import parse_type
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.runs.warehouses.tables import RealColumn, RealTable
from trellis.errors import SchemaError

Verification = Literal["count", "definition"]
"""What a load looks at: the columns, and whether they keep all values; or their types and places, too."""
_METADATA_NAMES: Final = frozenset(column.name for column in METADATA)
_INTEGERS: Final = frozenset(("SMALLINT", "INT", "BIGINT"))
DifferenceKind = Literal["missing", "extra", "type", "not null", "place"]


@dataclass(frozen=True)
class Difference:
    """One column that is not as the schemas say."""

    column: str
    kind: DifferenceKind
    expected: str = ""
    actual: str = ""

    def __str__(self) -> str:
        """
        >>> print(Difference("cargo", "missing", "VARCHAR(20)"))
        missing cargo
        """
        if self.kind in ("missing", "extra"):
            return f"{self.kind} {self.column}"
        if self.kind == "not null":
            return f"{self.column} is NOT NULL, and schemas leave it out"
        return f"{self.column} is {self.actual}, expected {self.expected}"


def compare_columns(table: RealTable, columns: Sequence[Column], profile: Profile) -> list[Difference]:
    """The columns that are missing, those that are there besides, and those that would not keep values."""
    return [*_compare_names(table, columns, profile), *lossy_columns(table, columns, profile)]


def lossy_columns(table: RealTable, columns: Sequence[Column], profile: Profile) -> Iterator[Difference]:
    """Columns of a type that rounds or cuts values of their schemas, or takes none.

    Not those of texts, of which everything is kept, nor those of types that no schema has. A smaller integer
    than one is expected does neither: warehouses refuse what is beyond it.
    """
    real = {column.name: column for column in table.columns}
    for column in columns:
        actual = real_type(real[column.name]) if column.name in real else None
        if actual is None or actual.name in ("CHAR", "VARCHAR"):
            continue
        is_refused = {actual.name, column.type.name} <= _INTEGERS
        is_time_of_date = (actual.name, column.type.name) == ("TIMESTAMP", "DATE")
        expected, text = profile.type_text(column.type), type_text(real[column.name], profile)
        is_kept = text == expected or is_time_of_date or is_refused or holds(actual, column.type)
        if not is_kept:
            yield Difference(column.name, "type", expected, text)


def _compare_names(table: RealTable, columns: Sequence[Column], profile: Profile) -> list[Difference]:
    names = {column.name for column in columns}
    missing = [column for column in columns if column.name not in table.names]
    return [
        *(Difference(column.name, "missing", profile.type_text(column.type)) for column in missing),
        *(
            Difference(column.name, "extra", actual=column.type)
            for column in table.columns
            if column.name not in names
        ),
    ]


def compare_definitions(
    table: RealTable, columns: Sequence[Column], profile: Profile, orders: Iterable[Sequence[str]] = ()
) -> list[Difference]:
    """All differences that matter. A column that may be NULL although schemas require it takes all values.

    `orders` are others that columns may be in, those that each table has left out.
    """
    differences = _compare_names(table, columns, profile)
    real = {column.name: column for column in table.columns}
    common = [column for column in columns if column.name in real]
    for column in common:
        expected, actual = (
            profile.type_text(profile.adapt(column.type)),
            type_text(real[column.name], profile),
        )
        if actual != expected:
            differences.append(Difference(column.name, "type", expected, actual))
        if column.nullable and not real[column.name].nullable:
            differences.append(Difference(column.name, "not null"))
    return [*differences, *_misplaced(table, common, orders)]


def type_text(column: RealColumn, profile: Profile) -> str:
    """The type of a real column as schemas would write it; one that they never have stays as it is."""
    column_type = real_type(column)
    return column.type if column_type is None else profile.type_text(profile.adapt(column_type))


def real_type(column: RealColumn) -> ColumnType | None:
    """
    >>> real_type(RealColumn("a", "character varying(12)"))
    ColumnType(name='VARCHAR', size=12, scale=0)
    """
    try:
        return parse_type(column.type)
    except SchemaError:
        return None


def _misplaced(
    table: RealTable, common: Sequence[Column], orders: Iterable[Sequence[str]]
) -> Iterable[Difference]:
    """The first column of schemas that is not in its place among those that are there.

    Loads name the columns of rows, so those that every table has may stand anywhere.
    """
    expected = [column.name for column in common]
    actual = [name for name in table.names if name in {*expected}]
    placed, real = ([name for name in names if name not in _METADATA_NAMES] for names in (expected, actual))
    if any(real == [name for name in order if name in real] for order in orders):
        return
    for name, real_name in zip(placed, real, strict=True):
        if name != real_name:
            places = (f"in place {names.index(name) + 1}" for names in (expected, actual))
            yield Difference(name, "place", *places)
            return
