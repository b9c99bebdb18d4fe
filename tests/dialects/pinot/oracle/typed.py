"""Values as the oracle takes them: each with its Java class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.date_time.timestamp_text import timestamp_text
from trellis.dialects.pinot.value.numbers import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import SourceKind, kind_of, millis_of


def typed(document: Any) -> Any:
    """A value with its Java class."""
    kind = kind_of(document)
    if kind is SourceKind.NULL:
        return None
    if kind is SourceKind.LIST:
        return {"type": "LIST", "value": list(map(typed, document))}
    if kind is SourceKind.MAP:
        return {"type": "MAP", "value": {key: typed(value) for key, value in document.items()}}
    return {"type": kind.value, "value": TEXTS[kind](document)}


TEXTS: Final[Mapping[SourceKind, Any]] = {
    SourceKind.BOOLEAN: lambda value: str(value).lower(),
    SourceKind.INT: int.__repr__,
    SourceKind.LONG: int.__repr__,
    SourceKind.FLOAT: float_text,
    SourceKind.DOUBLE: double_text,
    SourceKind.BIG_DECIMAL: decimal_text,
    SourceKind.STRING: str,
    SourceKind.BYTES: bytes.hex,
    SourceKind.TIMESTAMP: lambda value: timestamp_text(millis_of(value)),
}
