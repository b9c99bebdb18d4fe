"""Columns of personal data: a hint that travels into comments and documents, and masks what is loaded."""

from __future__ import annotations

from typing import Final, Literal, get_args

from trellis.schema.model import Column

PII: Final = "x-pii"
"""The hint of a column with personal data: true, or a mask. Documents and `columns=` may call it `pii`."""

Mask = Literal["mask", "hash", "drop"]
MASKS: Final[tuple[Mask, ...]] = get_args(Mask)


def mask_of(column: Column) -> Mask | None:
    """What a load makes of the values of a column; None: it stores them as they are.

    >>> mask_of(Column("email", "text").with_hints(**{"x-pii": "hash"}))
    'hash'
    """
    hint = column.hint(PII)
    return hint if hint in MASKS else None


def comment_of(column: Column) -> str | None:
    """The description of a column, and that it holds personal data.

    >>> comment_of(Column("email", description="Where to write to").with_hints(**{"x-pii": True}))
    'Where to write to (personal data)'
    """
    if not column.hint(PII):
        return column.description
    return f"{column.description} (personal data)" if column.description else "Personal data"
