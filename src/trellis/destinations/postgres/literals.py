"""Values written into the text of a statement for PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.sql.literals import string_literal, value_text

if TYPE_CHECKING:
    import pyarrow as pa


def render_literal(value: pa.Scalar, type_: str) -> str:
    """The value for PostgreSQL, which has no NUL: it becomes U+FFFD, as in rows.

    >>> import pyarrow as pa
    >>> render_literal(pa.scalar(float("-inf")), "real"), render_literal(pa.scalar(b"\\xca"), "bytea")
    ("CAST('-Infinity' AS real)", "decode('ca', 'hex')")
    """
    stored = value.as_py()
    if isinstance(stored, bytes):
        return f"decode({string_literal(stored.hex())}, 'hex')"
    return f"CAST({string_literal(value_text(value).replace(chr(0), chr(0xFFFD)))} AS {type_})"
