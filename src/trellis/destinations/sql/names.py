"""Identifiers in the SQL that DuckDB and PostgreSQL share: those of users, and aliases that avoid them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from trellis.warehouses.identifiers import DOUBLE_QUOTES


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return DOUBLE_QUOTES.quote(name)


def alias_prefix(columns: Iterable[str]) -> str:
    """What every alias, helper column and temporary table of a statement begins with, and no column does.

    `columns` are those of all tables in the statement. Users name columns as they like, and inside a subquery
    DuckDB takes `c.id` for the field `id` of a column `c` before it looks for a table `c` around it.

    >>> alias_prefix(["id", "c"]), alias_prefix(["id", "Q_1", "q2_c"])
    ('q_', 'q3_')
    """
    names = [name.lower() for name in columns]
    prefixes = ("q_" if number == 1 else f"q{number}_" for number in count(1))
    return next(prefix for prefix in prefixes if not any(name.startswith(prefix) for name in names))


class RowAliases:
    """What statements call a row of a table and a staged row; no column begins with `prefix`."""

    prefix: str

    @property
    def current_row(self) -> str:
        return f"{self.prefix}current"

    @property
    def staged_row(self) -> str:
        return f"{self.prefix}staged"
