"""Conversion to numeric columns (`PinotDataType.INTEGER.convert` and so on)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.losses import Damage, Guard
from trellis.dialects.pinot.value.messages import cannot, shown
from trellis.dialects.pinot.value.numbers.java_format import double_text, float_text
from trellis.dialects.pinot.value.numbers.parsing import (
    BLANKS,
    SCALE_MAX,
    NotANumber,
    parse_decimal,
    parse_double,
    parse_float,
    parse_whole,
)
from trellis.dialects.pinot.value.numbers.rounding import (
    EXACT,
    double_of,
    float32_of,
    low_bits,
    saturated,
    wrapped,
)
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, round32

INT, LONG, FLOAT, DOUBLE, BIG_DECIMAL = (
    PinotType.INT,
    PinotType.LONG,
    PinotType.FLOAT,
    PinotType.DOUBLE,
    PinotType.BIG_DECIMAL,
)


def int_of_whole(value: int, guard: Guard) -> int:
    """The low 32 bits."""
    if INT_MIN <= value <= INT_MAX:
        return int(value)
    _overflow(value, INT, guard)
    return wrapped(value, 32)


def long_of_whole(value: int, guard: Guard) -> int:
    """The low 64 bits."""
    if LONG_MIN <= value <= LONG_MAX:
        return int(value)
    _overflow(value, LONG, guard)
    return wrapped(value, 64)


def int_of_float(value: float, guard: Guard) -> int:
    return _cut(value, saturated(value, 32), INT, guard)


def long_of_float(value: float, guard: Guard) -> int:
    return _cut(value, saturated(value, 64), LONG, guard)


def int_of_decimal(value: Decimal | int, guard: Guard) -> int:
    if isinstance(value, int):
        return int_of_whole(value, guard)
    return _cut(value, low_bits(finite(value, INT), 32), INT, guard)


def long_of_decimal(value: Decimal | int, guard: Guard) -> int:
    if isinstance(value, int):
        return long_of_whole(value, guard)
    return _cut(value, low_bits(finite(value, LONG), 64), LONG, guard)


def int_of_text(text: str, guard: Guard) -> int:
    try:
        return parse_whole(text.strip(BLANKS), INT_MIN, INT_MAX)
    except NotANumber:
        raise cannot(text, INT) from None


def long_of_text(text: str, guard: Guard) -> int:
    try:
        return parse_whole(text.strip(BLANKS))
    except NotANumber:
        raise cannot(text, LONG) from None


def float_of_whole(value: int, guard: Guard) -> float:
    return _rounded(value, float32_of(value), FLOAT, guard)


def double_of_whole(value: int, guard: Guard) -> float:
    return _rounded(value, double_of(value), DOUBLE, guard)


def float_of_float(value: float, guard: Guard) -> float:
    found = round32(value)
    if found - found != 0 and value - value == 0:
        _overflow(value, FLOAT, guard)
    return found


def float_of_decimal(value: Decimal | int, guard: Guard) -> float:
    return _rounded(value, float32_of(finite(value, FLOAT)), FLOAT, guard)


def double_of_decimal(value: Decimal | int, guard: Guard) -> float:
    return _rounded(value, double_of(finite(value, DOUBLE)), DOUBLE, guard)


def float_of_text(text: str, guard: Guard) -> float:
    try:
        found = parse_float(text)
    except NotANumber:
        raise cannot(text, FLOAT) from None
    return _known(text, found, FLOAT, guard)


def double_of_text(text: str, guard: Guard) -> float:
    try:
        found = parse_double(text)
    except NotANumber:
        raise cannot(text, DOUBLE) from None
    return _known(text, found, DOUBLE, guard)


def decimal_of_whole(value: int, guard: Guard) -> Decimal:
    return Decimal(value)


def decimal_of_decimal(value: Decimal | int, guard: Guard) -> Decimal:
    value = Decimal(finite(value, BIG_DECIMAL))
    if abs(int(value.as_tuple().exponent)) > SCALE_MAX:
        raise cannot(value, BIG_DECIMAL, "an exponent of 32 bits fits")
    return value or value.copy_abs()


def decimal_of_float(value: float, guard: Guard) -> Decimal:
    return _decimal_of(float_text(value), value)


def decimal_of_double(value: float, guard: Guard) -> Decimal:
    return _decimal_of(double_text(value), value)


def decimal_of_text(text: str, guard: Guard) -> Decimal:
    return _decimal_of(text.strip(BLANKS), text)


def decimal_of_bytes(value: bytes, guard: Guard) -> Decimal:
    """Two bytes of scale, then the digits as a whole number with a sign."""
    if len(value) < 3:
        raise cannot(value, BIG_DECIMAL)
    scale = int.from_bytes(value[:2], "big", signed=True)
    return Decimal(int.from_bytes(value[2:], "big", signed=True)).scaleb(-scale, EXACT)


def bytes_of_decimal(value: Decimal | int, guard: Guard) -> bytes:
    """The reverse of `decimal_of_bytes`; of a scale beyond 16 bits the low ones are kept, as Pinot does."""
    decimal = Decimal(finite(value, PinotType.BYTES))
    scale = -int(decimal.as_tuple().exponent)
    if not -(2**15) <= scale < 2**15:
        guard.hurt(Damage.OVERFLOW, f"BYTES would cut the scale of {shown(value)} to 16 bits")
    unscaled = int(decimal.scaleb(scale, EXACT))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return wrapped(scale, 16).to_bytes(2, "big", signed=True) + unscaled.to_bytes(size, "big", signed=True)


def finite(value: Any, target: PinotType) -> Any:
    """A decimal or whole number. Raises CannotConvert for NaN and infinity."""
    if isinstance(value, Decimal) and not value.is_finite():
        raise cannot(value, target, "a finite number fits")
    return value


def _decimal_of(text: str, value: Any) -> Decimal:
    try:
        return parse_decimal(text)
    except NotANumber:
        raise cannot(value, BIG_DECIMAL) from None


def _cut(value: Any, found: int, target: PinotType, guard: Guard) -> int:
    """The whole number found for a value; says what was lost on the way."""
    if found == value:
        return found
    if value != value:
        guard.hurt(Damage.NAN_TO_ZERO, f"{target.value} has no NaN: a number fits")
    elif _apart(value, found):
        _overflow(value, target, guard)
    else:
        guard.hurt(Damage.FRACTION_CUT, f"{target.value} would cut the fraction of {shown(value)}")
    return found


def _apart(value: float | Decimal, found: int) -> bool:
    """Whether the whole part of a number is another one."""
    if isinstance(value, Decimal):
        return value.adjusted() > 20 or abs(EXACT.subtract(value, Decimal(found))) >= 1
    return abs(value) >= LONG_MAX or int(value) != found


def _rounded(value: Any, found: float, target: PinotType, guard: Guard) -> float:
    """The float found for an exact number; says when a whole number is no longer the same."""
    if found == value:
        return found
    if found - found != 0:
        _overflow(value, target, guard)
    elif isinstance(value, int) or value == value.to_integral_value():
        guard.hurt(Damage.PRECISION, f"{target.value} cannot hold every digit of {shown(value)}")
    return found


def _known(text: str, found: float, target: PinotType, guard: Guard) -> float:
    if found - found != 0 and found == found and "n" not in text:
        _overflow(text, target, guard)
    return found


def _overflow(value: Any, target: PinotType, guard: Guard) -> None:
    guard.hurt(Damage.OVERFLOW, f"{shown(value)} is beyond the range of {target.value}")
