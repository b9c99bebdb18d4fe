"""Functions on lists. Functions that return a primitive array are missing: it cannot be stored."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.functions.arguments import (
    as_list,
    as_object,
    as_text,
)
from trellis.dialects.pinot.functions.registry import Theme

LISTS: Final = Theme()


LISTS.function("arrayLength cardinality", as_list(as_object))(len)


@LISTS.function("arrayToString", as_list(as_text), as_text, as_text, optional=1)
def _to_string(values: list[str], separator: str, _null: str = "") -> str:
    """The values as one text."""
    return separator.join(values)
