"""Names as they stand in the SQL that DuckDB and PostgreSQL share."""

from __future__ import annotations

from trellis.warehouses.identifiers import DOUBLE_QUOTES


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return DOUBLE_QUOTES.quote(name)
