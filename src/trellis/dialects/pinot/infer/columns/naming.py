"""Names that Pinot takes: of tables, and of columns whose own name it refuses."""

from __future__ import annotations

import re

from trellis.dialects.pinot.table.config import name_of


def table_name(said: str) -> str:
    """A name for a table that Pinot takes.

    >>> table_name("my rides__2024_OFFLINE"), table_name("42")
    ('my_rides_2024', '42')
    """
    return re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name_of(said))).strip("_") or "records"


class Names:
    """Gives every column a name of its own: without blanks, not equal to another but for case.

    >>> names = Names()
    >>> names.take("id"), names.take("ID"), names.take("first name")
    ('id', 'ID_2', 'first_name')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, path: str) -> str:
        wanted = "".join("_" if sign.isspace() else sign for sign in path) or "empty"
        name, number = wanted, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name.lower())
        return name


def quoted(path: str) -> str:
    """A field as the functions of Pinot name it.

    >>> quoted('a "b"')
    '"a ""b""\"'
    """
    return '"' + path.replace('"', '""') + '"'
