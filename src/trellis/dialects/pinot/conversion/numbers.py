"""Conversion to numeric columns (`PinotDataType.INTEGER.convert` and so on)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.conversion.settings import LossKind, LossReporter
from trellis.dialects.pinot.date_time.units import low_bits, wrap
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.numbers import (
    BLANKS,
    EXACT,
    SCALE_MAX,
    NotANumber,
    double_of,
    float32_of,
    parse_decimal,
    parse_double,
    parse_float,
    parse_whole,
    saturated,
)
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, round32


@dataclass(frozen=True)
class WholeNumbers:
    """Conversion to whole numbers of so many bits."""

    target: PinotType
    bits: int
    low: int
    high: int

    def of_whole(self, value: int, reporter: LossReporter) -> int:
        """The low bits."""
        if self.low <= value <= self.high:
            return int(value)
        _report_overflow(value, self.target, reporter)
        return wrap(value, self.bits)

    def of_float(self, value: float, reporter: LossReporter) -> int:
        return self._truncated(value, saturated(value, self.bits), reporter)

    def of_decimal(self, value: Decimal | int, reporter: LossReporter) -> int:
        if isinstance(value, int):
            return self.of_whole(value, reporter)
        return self._truncated(value, low_bits(require_finite(value, self.target), self.bits), reporter)

    def of_text(self, text: str, reporter: LossReporter) -> int:
        try:
            return parse_whole(text.strip(BLANKS), self.low, self.high)
        except NotANumber:
            raise conversion_error(text, self.target) from None

    def _truncated(self, value: Any, whole: int, reporter: LossReporter) -> int:
        """The whole number for a value; reports what it loses."""
        if whole == value:
            return whole
        name = self.target.value
        if value != value:
            reporter.report(LossKind.NAN_TO_ZERO, f"{name} has no NaN: expected a number")
        elif _has_other_whole_part(value, whole):
            _report_overflow(value, self.target, reporter)
        else:
            reporter.report(LossKind.FRACTION_CUT, f"{name} would cut the fraction of {abbreviated(value)}")
        return whole


@dataclass(frozen=True)
class Floats:
    """Conversion to floats: `rounded` rounds an exact number, `parse` reads a text."""

    target: PinotType
    rounded: Callable[[int | Decimal], float]
    parse: Callable[[str], float]

    def of_exact(self, value: int | Decimal, reporter: LossReporter) -> float:
        """The nearest float; reports a whole number that is no longer the same."""
        rounded = self.rounded(require_finite(value, self.target))
        if rounded == value:
            return rounded
        if rounded - rounded != 0:
            _report_overflow(value, self.target, reporter)
        elif isinstance(value, int) or value == value.to_integral_value():
            sentence = f"{self.target.value} cannot hold every digit of {abbreviated(value)}"
            reporter.report(LossKind.PRECISION, sentence)
        return rounded

    def of_text(self, text: str, reporter: LossReporter) -> float:
        try:
            number = self.parse(text)
        except NotANumber:
            raise conversion_error(text, self.target) from None
        if number - number != 0 and number == number and "n" not in text:
            _report_overflow(text, self.target, reporter)
        return number


INT: Final = WholeNumbers(PinotType.INT, 32, INT_MIN, INT_MAX)
LONG: Final = WholeNumbers(PinotType.LONG, 64, LONG_MIN, LONG_MAX)
FLOAT: Final = Floats(PinotType.FLOAT, float32_of, parse_float)
DOUBLE: Final = Floats(PinotType.DOUBLE, double_of, parse_double)


def float_of_double(value: float, reporter: LossReporter) -> float:
    single = round32(value)
    if single - single != 0 and value - value == 0:
        _report_overflow(value, PinotType.FLOAT, reporter)
    return single


def decimal_of_decimal(value: Decimal | int, reporter: LossReporter) -> Decimal:
    value = Decimal(require_finite(value, PinotType.BIG_DECIMAL))
    if abs(int(value.as_tuple().exponent)) > SCALE_MAX:
        raise conversion_error(value, PinotType.BIG_DECIMAL, "an exponent of 32 bits")
    return value or value.copy_abs()


def decimal_of_text(text: str, value: Any) -> Decimal:
    """The decimal of the text of a value."""
    try:
        return parse_decimal(text)
    except NotANumber:
        raise conversion_error(value, PinotType.BIG_DECIMAL) from None


def decimal_of_bytes(value: bytes) -> Decimal:
    """Two bytes of scale, then the digits as a whole number with a sign."""
    if len(value) < 3:
        raise conversion_error(value, PinotType.BIG_DECIMAL)
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
    return wrap(scale, 16).to_bytes(2, "big", signed=True) + unscaled.to_bytes(size, "big", signed=True)


def require_finite(value: Any, target: PinotType) -> Any:
    """A decimal or whole number. Raises CannotConvert for NaN and infinity."""
    if isinstance(value, Decimal) and not value.is_finite():
        raise conversion_error(value, target, "a finite number")
    return value


def _has_other_whole_part(value: float | Decimal, whole: int) -> bool:
    """Whether the whole part of a number differs."""
    if isinstance(value, Decimal):
        return value.adjusted() > 20 or abs(EXACT.subtract(value, Decimal(whole))) >= 1
    return abs(value) >= LONG_MAX or int(value) != whole


def _report_overflow(value: Any, target: PinotType, reporter: LossReporter) -> None:
    reporter.report(LossKind.OVERFLOW, f"{abbreviated(value)} is beyond the range of {target.value}")
