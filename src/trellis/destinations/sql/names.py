"""Names as they stand in SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'
