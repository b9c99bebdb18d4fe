"""Conversion to numeric columns (`PinotDataType.INTEGER.convert` and so on)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from trellis.dialects.pinot.conversion.losses import LossKind, LossReporter
from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.document.types import PinotType
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


def int_of_whole(value: int, reporter: LossReporter) -> int:
    """The low 32 bits."""
    if INT_MIN <= value <= INT_MAX:
        return int(value)
    _overflow(value, INT, reporter)
    return wrapped(value, 32)


def long_of_whole(value: int, reporter: LossReporter) -> int:
    """The low 64 bits."""
    if LONG_MIN <= value <= LONG_MAX:
        return int(value)
    _overflow(value, LONG, reporter)
    return wrapped(value, 64)


def int_of_float(value: float, reporter: LossReporter) -> int:
    return _report_truncation(value, saturated(value, 32), INT, reporter)


def long_of_float(value: float, reporter: LossReporter) -> int:
    return _report_truncation(value, saturated(value, 64), LONG, reporter)


def int_of_decimal(value: Decimal | int, reporter: LossReporter) -> int:
    if isinstance(value, int):
        return int_of_whole(value, reporter)
    return _report_truncation(value, low_bits(require_finite(value, INT), 32), INT, reporter)


def long_of_decimal(value: Decimal | int, reporter: LossReporter) -> int:
    if isinstance(value, int):
        return long_of_whole(value, reporter)
    return _report_truncation(value, low_bits(require_finite(value, LONG), 64), LONG, reporter)


def int_of_text(text: str, reporter: LossReporter) -> int:
    try:
        return parse_whole(text.strip(BLANKS), INT_MIN, INT_MAX)
    except NotANumber:
        raise conversion_error(text, INT) from None


def long_of_text(text: str, reporter: LossReporter) -> int:
    try:
        return parse_whole(text.strip(BLANKS))
    except NotANumber:
        raise conversion_error(text, LONG) from None


def float_of_whole(value: int, reporter: LossReporter) -> float:
    return _report_rounding(value, float32_of(value), FLOAT, reporter)


def double_of_whole(value: int, reporter: LossReporter) -> float:
    return _report_rounding(value, double_of(value), DOUBLE, reporter)


def float_of_float(value: float, reporter: LossReporter) -> float:
    single = round32(value)
    if single - single != 0 and value - value == 0:
        _overflow(value, FLOAT, reporter)
    return single


def float_of_decimal(value: Decimal | int, reporter: LossReporter) -> float:
    return _report_rounding(value, float32_of(require_finite(value, FLOAT)), FLOAT, reporter)


def double_of_decimal(value: Decimal | int, reporter: LossReporter) -> float:
    return _report_rounding(value, double_of(require_finite(value, DOUBLE)), DOUBLE, reporter)


def float_of_text(text: str, reporter: LossReporter) -> float:
    try:
        number = parse_float(text)
    except NotANumber:
        raise conversion_error(text, FLOAT) from None
    return _report_overflow_of_text(text, number, FLOAT, reporter)


def double_of_text(text: str, reporter: LossReporter) -> float:
    try:
        number = parse_double(text)
    except NotANumber:
        raise conversion_error(text, DOUBLE) from None
    return _report_overflow_of_text(text, number, DOUBLE, reporter)


def decimal_of_whole(value: int, reporter: LossReporter) -> Decimal:
    return Decimal(value)


def decimal_of_decimal(value: Decimal | int, reporter: LossReporter) -> Decimal:
    value = Decimal(require_finite(value, BIG_DECIMAL))
    if abs(int(value.as_tuple().exponent)) > SCALE_MAX:
        raise conversion_error(value, BIG_DECIMAL, "an exponent of 32 bits")
    return value or value.copy_abs()


def decimal_of_float(value: float, reporter: LossReporter) -> Decimal:
    return _decimal_of(float_text(value), value)


def decimal_of_double(value: float, reporter: LossReporter) -> Decimal:
    return _decimal_of(double_text(value), value)


def decimal_of_text(text: str, reporter: LossReporter) -> Decimal:
    return _decimal_of(text.strip(BLANKS), text)


def decimal_of_bytes(value: bytes, reporter: LossReporter) -> Decimal:
    """Two bytes of scale, then the digits as a whole number with a sign."""
    if len(value) < 3:
        raise conversion_error(value, BIG_DECIMAL)
    scale = int.from_bytes(value[:2], "big", signed=True)
    return Decimal(int.from_bytes(value[2:], "big", signed=True)).scaleb(-scale, EXACT)


def bytes_of_decimal(value: Decimal | int, reporter: LossReporter) -> bytes:
    """The reverse of `decimal_of_bytes`; of a scale beyond 16 bits the low ones are kept, as Pinot does."""
    decimal = Decimal(require_finite(value, PinotType.BYTES))
    scale = -int(decimal.as_tuple().exponent)
    if not -(2**15) <= scale < 2**15:
        reporter.report(LossKind.OVERFLOW, f"BYTES would cut the scale of {abbreviated(value)} to 16 bits")
    unscaled = int(decimal.scaleb(scale, EXACT))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return wrapped(scale, 16).to_bytes(2, "big", signed=True) + unscaled.to_bytes(size, "big", signed=True)


def require_finite(value: Any, target: PinotType) -> Any:
    """A decimal or whole number. Raises CannotConvert for NaN and infinity."""
    if isinstance(value, Decimal) and not value.is_finite():
        raise conversion_error(value, target, "a finite number")
    return value


def _decimal_of(text: str, value: Any) -> Decimal:
    try:
        return parse_decimal(text)
    except NotANumber:
        raise conversion_error(value, BIG_DECIMAL) from None


def _report_truncation(value: Any, whole: int, target: PinotType, reporter: LossReporter) -> int:
    """The whole number for a value; reports what it loses."""
    if whole == value:
        return whole
    if value != value:
        reporter.report(LossKind.NAN_TO_ZERO, f"{target.value} has no NaN: expected a number")
    elif _has_other_whole_part(value, whole):
        _overflow(value, target, reporter)
    else:
        reporter.report(
            LossKind.FRACTION_CUT, f"{target.value} would cut the fraction of {abbreviated(value)}"
        )
    return whole


def _has_other_whole_part(value: float | Decimal, whole: int) -> bool:
    """Whether the whole part of a number differs."""
    if isinstance(value, Decimal):
        return value.adjusted() > 20 or abs(EXACT.subtract(value, Decimal(whole))) >= 1
    return abs(value) >= LONG_MAX or int(value) != whole


def _report_rounding(value: Any, rounded: float, target: PinotType, reporter: LossReporter) -> float:
    """The float for an exact number; reports a whole number that is no longer the same."""
    if rounded == value:
        return rounded
    if rounded - rounded != 0:
        _overflow(value, target, reporter)
    elif isinstance(value, int) or value == value.to_integral_value():
        reporter.report(LossKind.PRECISION, f"{target.value} cannot hold every digit of {abbreviated(value)}")
    return rounded


def _report_overflow_of_text(text: str, number: float, target: PinotType, reporter: LossReporter) -> float:
    if number - number != 0 and number == number and "n" not in text:
        _overflow(text, target, reporter)
    return number


def _overflow(value: Any, target: PinotType, reporter: LossReporter) -> None:
    reporter.report(LossKind.OVERFLOW, f"{abbreviated(value)} is beyond the range of {target.value}")
