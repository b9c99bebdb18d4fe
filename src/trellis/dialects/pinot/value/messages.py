"""One sentence about a value that its column does not take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.source_kinds import CannotConvert, kind_of

SHOWN: Final = 60
"""Characters of a value that a sentence shows."""


def shown(value: Any) -> str:
    """A value in short.

    >>> shown("7.9"), shown("x" * 5000)
    ("'7.9'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... (5000 characters)")
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}... ({len(value)} characters)"
    if isinstance(value, bytes | bytearray | memoryview):
        text = bytes(value[: SHOWN // 2]).hex()
        return f"x'{text}'" if len(value) <= SHOWN // 2 else f"x'{text}'... ({len(value)} bytes)"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"of {value.bit_length()} bits"
    if isinstance(value, list | tuple):
        return _several([shown(each) for each in value[:4]], len(value), "[]")
    if isinstance(value, Mapping):
        first = [f"{shown(key)}: {shown(value[key])}" for key, _ in zip(value, range(4), strict=False)]
        return _several(first, len(value), "{}")
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _several(first: list[str], count: int, brackets: str) -> str:
    text = ", ".join(first)
    if len(text) > SHOWN:
        text = f"{text[:SHOWN]}..."
    elif count > len(first):
        text += ", ..."
    return f"{brackets[0]}{text}{brackets[1]}"


def cannot(value: Any, target: PinotType, fits: str | None = None) -> CannotConvert:
    """The error about a value of this kind in a column of this type; `fits` says what would fit.

    >>> str(cannot("7.9", PinotType.INT))
    "STRING '7.9' cannot become INT: a whole number of 32 bits, true or false, or its text fits"
    """
    return CannotConvert(
        f"{kind_of(value).value} {shown(value)} cannot become {target.value}: {fits or _FITS[target]}"
    )


_FITS: Final[Mapping[PinotType, str]] = {
    PinotType.INT: "a whole number of 32 bits, true or false, or its text fits",
    PinotType.LONG: "a whole number of 64 bits, true or false, a timestamp, or text of a whole number fits",
    PinotType.FLOAT: "a number, true or false, or text such as 1.5, 1e5, NaN or Infinity fits",
    PinotType.DOUBLE: "a number, true or false, a timestamp, or text such as 1.5, 1e5, NaN or Infinity fits",
    PinotType.BIG_DECIMAL: "a finite number, true or false, a timestamp, text such as 1.5 or 1e5, or bytes "
    "of 2 for the scale and 1 or more for the digits fit",
    PinotType.BOOLEAN: "true or false, a number or text fits",
    PinotType.TIMESTAMP: "a timestamp, a 64-bit count of milliseconds, or text such as "
    "2023-11-14 22:13:20.123 fits",
    PinotType.STRING: "a value that is no list or map of several fits",
    PinotType.JSON: "a value that JSON can hold fits",
    PinotType.BYTES: "bytes, a decimal, or text of an even number of hex digits fits",
    PinotType.UUID: "16 bytes, or text of 36 characters or of 32 hex digits fits",
    PinotType.MAP: "a map, or text of a JSON object fits",
    PinotType.OPEN_STRUCT: "a map, or text of a JSON object fits",
    PinotType.STRUCT: "a map, or text of a JSON object fits",
    PinotType.LIST: "a list, or text of a JSON array fits",
}
