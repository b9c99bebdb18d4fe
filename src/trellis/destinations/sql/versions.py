"""A root table that keeps all versions of its rows: which are active, what the validity columns get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from trellis.errors import SchemaError
from trellis.evolution.table_writes import History
from trellis.schema.model import Column, Table

_LAST_YEAR = 2261
"""The last whole year that fits into 64 bits of nanoseconds."""


@dataclass(frozen=True)
class VersionColumns:
    """`type_of` gives the type of a column in the SQL of the destination."""

    root: Table
    history: History
    type_of: Callable[[Column], str]

    def check(self) -> None:
        """Raises SchemaError where the columns of the history are not in the rows, or are of another type."""
        name, history = self.root.name, self.history
        if history.version not in {column.name for column in self.root.complete_columns}:
            raise SchemaError(
                f"table {name}: scd2 distinguishes versions by the column {history.version}, which has no "
                "values yet; bring it with the rows, or choose another column"
            )
        for column, moment in self.moments.items():
            known = self.root.columns.get(column)
            if known is None or known.data_type != "timestamp":
                problem = "missing" if known is None else f"of type {known.data_type}"
                raise SchemaError(
                    f"table {name}, column {column}: scd2 keeps a time in it, so it is to be a timestamp, "
                    f"but it is {problem}; name another column for it"
                )
            if moment is not None and moment.year > _LAST_YEAR and (known.precision or 0) > 6:
                raise SchemaError(
                    f"table {name}, column {column}: times with nanoseconds end in {_LAST_YEAR}, so it "
                    f"cannot hold {moment.isoformat()}; give it precision 6, or choose an earlier time"
                )

    @property
    def moments(self) -> Mapping[str, datetime | None]:
        """The validity columns of a new row."""
        return {self.history.valid_from: self.history.at, self.history.valid_to: self.history.open}

    @property
    def written(self) -> Mapping[str, str]:
        """`moments` as SQL."""
        return {name: self._literal(name, moment) for name, moment in self.moments.items()}

    @property
    def ended(self) -> str:
        """The `valid_to` of a row that ends, as SQL."""
        return self._literal(self.history.valid_to, self.history.at)

    def active(self, of: Callable[[str], str]) -> str:
        """A condition on a row; `of` qualifies the names of its columns."""
        valid_to, history = of(self.history.valid_to), self.history
        if history.open is None:
            return f"{valid_to} IS NULL"
        return f"{valid_to} = {self._literal(history.valid_to, history.open)}"

    def _literal(self, name: str, moment: datetime | None) -> str:
        column = self.root.columns[name]
        if moment is None:
            return f"CAST(NULL AS {self.type_of(column)})"
        return f"CAST('{in_column(column, moment).isoformat()}' AS {self.type_of(column)})"


def in_column(column: Column, moment: datetime) -> datetime:
    """A time in UTC as a column keeps it: with so many digits of a second, and with or without the zone.

    >>> noon = datetime(2026, 1, 1, 12, 0, 0, 123456, timezone.utc)
    >>> in_column(Column("at", "timestamp", precision=3), noon).isoformat()
    '2026-01-01T12:00:00.123000+00:00'
    >>> in_column(Column("at", "timestamp", precision=0, timezone=False), noon).isoformat()
    '2026-01-01T12:00:00'
    """
    unit = 10 ** max(6 - (6 if column.precision is None else column.precision), 0)
    cut = moment.astimezone(timezone.utc).replace(microsecond=moment.microsecond // unit * unit)
    return cut.replace(tzinfo=None) if column.timezone is False else cut
