"""Sentences about values that cannot be converted."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import Repr
from typing import Any, Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.source_kinds import CannotConvert, kind_of

SHOWN_CHARACTERS: Final = 60
"""How many characters of a value a message shows."""


def abbreviated(value: Any) -> str:
    """A value in at most 60 characters or so.

    >>> abbreviated("7.9"), abbreviated("x" * 5000)
    ("'7.9'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... (5000 characters)")
    """
    if isinstance(value, str):
        return (
            repr(value)
            if len(value) <= SHOWN_CHARACTERS
            else f"{value[:SHOWN_CHARACTERS]!r}... ({len(value)} characters)"
        )
    if isinstance(value, bytes | bytearray | memoryview):
        text = bytes(value[: SHOWN_CHARACTERS // 2]).hex()
        return f"x'{text}'" if len(value) <= SHOWN_CHARACTERS // 2 else f"x'{text}'... ({len(value)} bytes)"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"of {value.bit_length()} bits"
    text = _NESTED.repr(value) if isinstance(value, Mapping | list | tuple) else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


class _Nested(Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Python refuses to write a very long one."""
        return abbreviated(x)


_NESTED: Final = _Nested()


def conversion_error(value: Any, target: PinotType, expected: str | None = None) -> CannotConvert:
    """The error about a value of this kind in a column of this type.

    >>> str(conversion_error("7.9", PinotType.INT))
    "STRING '7.9' cannot become INT: expected a whole number of 32 bits, true or false, or its text"
    """
    return CannotConvert(
        f"{kind_of(value).value} {abbreviated(value)} cannot become {target.value}: "
        f"expected {expected or _EXPECTED[target]}"
    )


_EXPECTED: Final[Mapping[PinotType, str]] = {
    PinotType.INT: "a whole number of 32 bits, true or false, or its text",
    PinotType.LONG: "a whole number of 64 bits, true or false, a timestamp, or text of a whole number",
    PinotType.FLOAT: "a number, true or false, or text such as 1.5, 1e5, NaN or Infinity",
    PinotType.DOUBLE: "a number, true or false, a timestamp, or text such as 1.5, 1e5, NaN or Infinity",
    PinotType.BIG_DECIMAL: "a finite number, true or false, a timestamp, text such as 1.5 or 1e5, or bytes "
    "of 2 for the scale and 1 or more for the digits",
    PinotType.BOOLEAN: "true or false, a number or text",
    PinotType.TIMESTAMP: "a timestamp, a 64-bit count of milliseconds, or text such as "
    "2023-11-14 22:13:20.123",
    PinotType.STRING: "a single value",
    PinotType.JSON: "a value that JSON can hold",
    PinotType.BYTES: "bytes, a decimal, or text of an even number of hex digits",
    PinotType.MAP: "a map, or text of a JSON object",
    PinotType.STRUCT: "a map, or text of a JSON object",
    PinotType.LIST: "a list, or text of a JSON array",
}
