"""Names that Pinot accepts: of tables, and of columns whose names it refuses."""

from __future__ import annotations

import re

from trellis.dialects.pinot.table.config import name_of


def table_name(text: str) -> str:
    """A table name that Pinot accepts.

    >>> table_name("my rides__2024_OFFLINE"), table_name("42")
    ('my_rides_2024', '42')
    """
    return re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name_of(text))).strip("_") or "records"


class ColumnNames:
    """Unique column names without blanks that differ by more than case.

    >>> names = ColumnNames()
    >>> names.claim("id"), names.claim("ID"), names.claim("first name")
    ('id', 'ID_2', 'first_name')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, path: str) -> str:
        base = "".join("_" if sign.isspace() else sign for sign in path) or "empty"
        name, number = base, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.lower())
        return name


def quoted(path: str) -> str:
    """A field name quoted for Pinot's functions.

    >>> quoted('a "b"')
    '"a ""b""\"'
    """
    return '"' + path.replace('"', '""') + '"'
