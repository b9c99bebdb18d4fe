"""Converters of arguments to the type that a parameter declares.

Of a list Pinot passes the first element to a parameter for one value; a parameter for several takes one value
as a list of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import Any, Final
from uuid import UUID

from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.value.numbers.java_format import double_text, float_text, plain_text
from trellis.dialects.pinot.value.numbers.parsing import (
    BLANKS,
    NotANumber,
    parse_decimal,
    parse_double,
    parse_whole,
)
from trellis.dialects.pinot.value.numbers.rounding import double_of, low_bits, saturated, wrapped
from trellis.dialects.pinot.value.source_kinds import (
    INT_MAX,
    INT_MIN,
    LONG_MAX,
    LONG_MIN,
    Float32,
    Int64,
    SourceKind,
    kind_of,
)

EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND: Final = timedelta(milliseconds=1)


class FunctionError(ValueError):
    """A value that a function refuses; the text is one sentence."""


def as_object(value: Any) -> Any:
    """The value unchanged."""
    return value


def as_text(value: Any) -> str:
    """Text, as Java writes it.

    >>> [as_text(value) for value in (1, 2.0, True, b"\\xca\\xfe", ["x", "y"])]
    ['1', '2.0', 'true', 'cafe', 'x']
    """
    value = _single(value)
    for kinds, to_text in _TEXTS:
        if isinstance(value, kinds):
            return to_text(value)
    raise _wrong_kind(value, "text")


def as_int(value: Any) -> int:
    """A whole number of 32 bits: longer ones lose their high bits, fractions are cut."""
    return _whole(value, 32)


def as_long(value: Any) -> int:
    """A whole number of 64 bits; a timestamp is its milliseconds.

    >>> [as_long(value) for value in ("7", 7.9, -7.9, True, 1e20)]
    [7, 7, -7, 1, 9223372036854775807]
    """
    return _whole(value, 64)


def as_double(value: Any) -> float:
    """A float of 64 bits."""
    value = _single(value)
    if isinstance(value, str):
        try:
            return parse_double(value)
        except NotANumber:
            raise FunctionError(f"a number is expected, not the text {value[:60]!r}") from None
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int | Decimal):
        return double_of(value)
    if isinstance(value, date):
        return float(millis_of(value))
    raise _wrong_kind(value, "a number")


def as_decimal(value: Any) -> Decimal:
    """An exact number."""
    value = _single(value)
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, int | Decimal):
        return Decimal(value)
    try:
        return parse_decimal(as_text(value).strip(BLANKS))
    except NotANumber:
        raise FunctionError(f"a number is expected, not {as_text(value)[:60]!r}") from None


def as_bytes(value: Any) -> bytes:
    """Bytes; text is read as hexadecimal digits."""
    value = _single(value)
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, str):
        raise _wrong_kind(value, "bytes")
    digits = value.strip(BLANKS)
    if len(digits) % 2 or not re.fullmatch("[0-9a-fA-F]*", digits):
        raise FunctionError(
            f"bytes are expected; the text {value[:60]!r} is not hexadecimal: toUtf8(x) makes bytes of a text"
        )
    return bytes.fromhex(digits)


def as_timestamp(value: Any) -> datetime:
    """A timestamp: of milliseconds, or of the text of one."""
    return timestamp_of(as_instant(value))


def as_instant(value: Any) -> int:
    """The milliseconds of a timestamp, of its text or of a long; Pinot takes no number of 32 bits."""
    value = _single(value)
    if isinstance(value, str):
        return timestamp_millis(value.strip(BLANKS))
    if kind_of(value) in (SourceKind.INT, SourceKind.BOOLEAN, SourceKind.FLOAT):
        raise FunctionError(
            f"a timestamp, its text or a long is expected, not {as_text(value)}: use toTimestamp(x)"
        )
    return as_long(value)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """A map."""
    if isinstance(value, Mapping):
        return value
    raise _wrong_kind(value, "a map")


def as_list(convert: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """The converter of a parameter for several values of a kind."""
    return partial(_as_list, convert)


def _as_list(convert: Callable[[Any], Any], value: Any) -> list[Any]:
    elements = value if isinstance(value, list | tuple) else [value]
    if any(element is None for element in elements):
        raise FunctionError("a list without nulls is expected")
    return [convert(element) for element in elements]


def millis_of(moment: date) -> int:
    """A date or a time in milliseconds since 1970-01-01 UTC; without a zone it is UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)) - EPOCH) // MILLISECOND


def timestamp_of(millis: int) -> datetime:
    """The time that so many milliseconds are after 1970-01-01 UTC. Raises FunctionError after 9999."""
    try:
        return EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        raise FunctionError(
            f"a timestamp between the years 1 and 9999 is expected, not {millis} ms"
        ) from None


def _whole(value: Any, bits: int) -> int:
    value = _single(value)
    if isinstance(value, str):
        low, high = (INT_MIN, INT_MAX) if bits == 32 else (LONG_MIN, LONG_MAX)
        try:
            return parse_whole(value.strip(BLANKS), low, high)
        except NotANumber:
            reason = f"a whole number of {bits} bits is expected, not the text {value[:60]!r}"
            raise FunctionError(reason) from None
    if isinstance(value, int):
        return wrapped(value, bits)
    if isinstance(value, float):
        return saturated(value, bits)
    if isinstance(value, Decimal):
        return low_bits(value, bits)
    if isinstance(value, date) and bits == 64:
        return wrapped(millis_of(value), bits)
    raise _wrong_kind(value, "a whole number")


def _single(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if not value:
            raise FunctionError("one value is expected, not an empty list")
        if value[0] is None:
            raise FunctionError("one value is expected, not a list that starts with null")
        return _single(value[0])
    return value


def _wrong_kind(value: Any, expected: str) -> FunctionError:
    kind = "a map" if isinstance(value, Mapping) else f"a value of class {value.__class__.__name__}"
    return FunctionError(f"{expected} is expected, not {kind}")


_TEXTS: Final[tuple[tuple[Any, Callable[[Any], str]], ...]] = (
    (str, str),
    (bool, lambda value: "true" if value else "false"),
    (int, lambda value: str(int(value))),
    (Float32, float_text),
    (float, double_text),
    (Decimal, plain_text),
    (datetime, lambda value: timestamp_text(millis_of(value))),
    (date, date.isoformat),
    ((bytes, bytearray, memoryview), lambda value: bytes(value).hex()),
    (UUID, str),
)


def long_result(value: int) -> Int64:
    """The result of a function that returns a long: the low 64 bits."""
    return Int64(wrapped(value, 64))


def int_result(value: int) -> int:
    """The result of a function that returns an int: the low 32 bits."""
    return wrapped(value, 32)
