"""A value written down in a statement that takes no parameters, such as the DEFAULT of a new column."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trellis.destinations.duckdb.scan import literal

if TYPE_CHECKING:
    import pyarrow as pa

Written = Callable[["pa.Scalar", str], str]
"""Gives the SQL expression of a value under a type, in the words of a destination."""


def duckdb_value(value: pa.Scalar, type_: str) -> str:
    """The value for DuckDB.

    >>> import pyarrow as pa
    >>> duckdb_value(pa.scalar("it's"), "VARCHAR"), duckdb_value(pa.scalar(b"\\xca"), "BLOB")
    ("CAST('it''s' AS VARCHAR)", "unhex('ca')")
    """
    stored = value.as_py()
    if isinstance(stored, bytes):
        return f"unhex({literal(stored.hex())})"
    text = _text(value)
    if "\0" in text:  # ends a statement
        return f"CAST(decode(unhex({literal(text.encode().hex())})) AS {type_})"
    return f"CAST({literal(text)} AS {type_})"


def postgres_value(value: pa.Scalar, type_: str) -> str:
    """The value for PostgreSQL, which has no NUL: it becomes U+FFFD, as in rows.

    >>> import pyarrow as pa
    >>> postgres_value(pa.scalar(float("-inf")), "real"), postgres_value(pa.scalar(b"\\xca"), "bytea")
    ("CAST('-Infinity' AS real)", "decode('ca', 'hex')")
    """
    stored = value.as_py()
    if isinstance(stored, bytes):
        return f"decode({literal(stored.hex())}, 'hex')"
    return f"CAST({literal(_text(value).replace(chr(0), chr(0xFFFD)))} AS {type_})"


def _text(value: pa.Scalar) -> str:
    stored = value.as_py()
    if isinstance(stored, bool):
        return "true" if stored else "false"
    if isinstance(stored, float):
        return _NOT_FINITE.get(str(stored), repr(stored))
    return str(stored)


_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
