"""Values written into the text of a statement for DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.sql.literals import string_literal, value_text

if TYPE_CHECKING:
    import pyarrow as pa


def render_literal(value: pa.Scalar, type_: str) -> str:
    """The value for DuckDB.

    >>> import pyarrow as pa
    >>> render_literal(pa.scalar("it's"), "VARCHAR"), render_literal(pa.scalar(b"\\xca"), "BLOB")
    ("CAST('it''s' AS VARCHAR)", "unhex('ca')")
    """
    stored = value.as_py()
    if isinstance(stored, bytes):
        return f"unhex({string_literal(stored.hex())})"
    text = value_text(value)
    if "\0" in text:  # ends a statement
        return f"CAST(decode(unhex({string_literal(text.encode().hex())})) AS {type_})"
    return f"CAST({string_literal(text)} AS {type_})"
