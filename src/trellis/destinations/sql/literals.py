"""Values written into the text of a statement, such as the DEFAULT of a new column."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

LiteralRenderer = Callable[["pa.Scalar", str], str]
"""Gives the SQL expression of a value under a type of a destination."""


def string_literal(text: str) -> str:
    """An SQL string.

    >>> string_literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def value_text(value: pa.Scalar) -> str:
    """A value as SQL casts it from a string."""
    stored = value.as_py()
    if isinstance(stored, bool):
        return "true" if stored else "false"
    if isinstance(stored, float):
        return _NOT_FINITE.get(str(stored), repr(stored))
    return str(stored)


_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
