"""Numbers as Java reads, rounds and writes them.

Double and Float are written as by `toString` of JDK 19 and later: the shortest digits that name the number,
two or more.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Final

import numpy as np

from trellis.dialects.pinot.value.source_kinds import (
    INT_MAX,
    INT_MIN,
    LONG_MAX,
    LONG_MIN,
    CannotConvert,
    round32,
)

EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Decimal arithmetic that keeps every digit."""

INFINITY: Final = float("inf")


def double_of(value: int | Decimal) -> float:
    """The nearest float of 64 bits; infinite beyond the largest.

    >>> double_of(9007199254740993), double_of(10**400)
    (9007199254740992.0, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return INFINITY if value > 0 else -INFINITY


def float32_of(value: int | Decimal) -> float:
    """The nearest float of 32 bits, by way of a double; infinite beyond the largest.

    >>> float32_of(16777217), float32_of(Decimal("1e39"))
    (16777216.0, inf)
    """
    return round32(double_of(value))


def saturated(value: float, bits: int) -> int:
    """A float without its fraction, at most the largest of so many bits; NaN is 0.

    >>> saturated(-7.9, 32), saturated(1e20, 32), saturated(float("nan"), 32)
    (-7, 2147483647, 0)
    """
    low, high = (INT_MIN, INT_MAX) if bits == 32 else (LONG_MIN, LONG_MAX)
    if value != value:
        return 0
    if value >= high:
        return high
    return low if value <= low else int(value)


def without_trailing_zeros(value: Decimal) -> Decimal:
    """`BigDecimal.stripTrailingZeros`; zero is 0, and never negative.

    >>> [str(without_trailing_zeros(Decimal(text))) for text in ("1200.00", "0E-18", "-0.0", "7.9")]
    ['1.2E+3', '0', '0', '7.9']
    """
    return value.normalize(EXACT) if value else Decimal(0)


BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java's `trim` takes away: every character up to the blank."""

SCALE_MAX: Final = 2**31 - 1
LONGEST_WHOLE: Final = 100
_WHOLE: Final = re.compile(r"[+-]?\d+")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_HEX: Final = re.compile("[^0-9a-fA-F]")
_HEX: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: Final = {"NaN": float("nan"), "Infinity": float("inf")}


class NotANumber(ValueError):
    """A text that Java does not read as a number of the kind asked for."""


def bytes_of_hex(text: str) -> bytes:
    """Raises ValueError; `bytes.fromhex` alone would skip blanks."""
    if _NO_HEX.search(text):
        raise ValueError(text)
    return bytes.fromhex(text)


def parse_whole(text: str, low: int = LONG_MIN, high: int = LONG_MAX) -> int:
    """`Integer.parseInt`, `Long.parseLong`: digits of any script with a sign. Raises NotANumber.

    The bounds are those of 32 bits or wider.

    >>> parse_whole("+7"), parse_whole("-007")
    (7, -7)
    >>> parse_whole("7.0")
    Traceback (most recent call last):
    NotANumber: ...
    """
    if len(text) < 10 and text.isascii() and text.isdigit():
        return int(text)
    if _WHOLE.fullmatch(text) and max(text) <= "\uffff":
        sign = text[0] if text[0] in "+-" else ""
        digits = text[len(sign) :].lstrip("0")
        if len(digits) <= LONGEST_WHOLE:
            value = int(sign + (digits or "0"))
            if low <= value <= high:
                return value
    raise NotANumber


def parse_double(text: str) -> float:
    """`Double.parseDouble`. Raises NotANumber.

    >>> [parse_double(text) for text in (" 1e5", "1d", "1f", "-Infinity", "0x1p3", "1e400")]
    [100000.0, 1.0, 1.0, -inf, 8.0, inf]
    """
    text = text.strip(BLANKS)
    body = text[:-1] if text[-1:] in ("f", "F", "d", "D") else text
    if _FLOAT.fullmatch(body):
        return float(body)
    if _HEX.fullmatch(text):
        try:
            return float.fromhex(text.rstrip("fFdD"))
        except OverflowError:
            return float("-inf" if text[0] == "-" else "inf")
    word = _WORDS.get(text.lstrip("+-") if len(text) < 10 and text[1:2] not in ("+", "-") else text)
    if word is None:
        raise NotANumber
    return -word if text[0] == "-" else word


def parse_float(text: str) -> float:
    """`Float.parseFloat`, by way of a double. Raises NotANumber.

    >>> parse_float("16777217"), parse_float("1e40")
    (16777216.0, inf)
    """
    return round32(parse_double(text))


def parse_decimal(text: str) -> Decimal:
    """`new BigDecimal(text)`: every digit is kept. Raises NotANumber.

    >>> parse_decimal("1e5"), parse_decimal("7.90"), parse_decimal("-0")
    (Decimal('1E+5'), Decimal('7.90'), Decimal('0'))
    """
    if not _DECIMAL.fullmatch(text) or max(text) > "\uffff":
        raise NotANumber
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise NotANumber from None
    if abs(int(value.as_tuple().exponent)) > SCALE_MAX:
        raise NotANumber
    return value or value.copy_abs()


LONGEST_PLAIN: Final = 1_000_000
"""Characters of a decimal written without exponent; beyond them it is refused."""


def double_text(value: float) -> str:
    """`Double.toString`.

    >>> [double_text(value) for value in (123.0, 1e8, 1e-4, 12345678.0, 0.001, -0.0, 5e-324, float("nan"))]
    ['123.0', '1.0E8', '1.0E-4', '1.2345678E7', '0.001', '-0.0', '4.9E-324', 'NaN']
    """
    text = float.__repr__(value)
    if 1e-3 <= abs(value) < 1e7 or value == 0:
        return text
    if value - value != 0:
        return _not_finite(value)
    if len(_significant_digits(Decimal(text))) == 1:
        two = f"{value:.1e}"
        if float(two) == value:
            text = two
    return _scientific(Decimal(text))


def float_text(value: float) -> str:
    """`Float.toString` of a float of 32 bits.

    >>> from trellis.dialects.pinot.value.source_kinds import Float32
    >>> [float_text(Float32(value)) for value in (7.9, 1e10, 16777216, 3.4028235e38, 1e-45, 0.001)]
    ['7.9', '1.0E10', '1.6777216E7', '3.4028235E38', '1.4E-45', '0.001']
    """
    value = float(value)
    if value == 0:
        return float.__repr__(value)
    if value - value != 0:
        return _not_finite(value)
    shortest = _shortest(value)
    if 1e-3 <= abs(value) < 1e7:
        whole, _, fraction = format(shortest, "f").partition(".")
        return f"{whole}.{fraction.rstrip('0') or '0'}"
    return _scientific(shortest)


def plain_text(value: Decimal | int) -> str:
    """`BigDecimal.toPlainString`. Raises CannotConvert where that is longer than a million characters.

    >>> [plain_text(Decimal(text)) for text in ("1E+3", "7.90", "0E+3", "-0.0", "1E-10")]
    ['1000', '7.90', '0', '0.0', '0.0000000001']
    """
    value = Decimal(value)
    exponent = int(value.as_tuple().exponent)
    if abs(exponent) > LONGEST_PLAIN:
        raise CannotConvert(
            f"BIG_DECIMAL {decimal_text(value)[:60]} cannot become text without an exponent: "
            f"it would be longer than {LONGEST_PLAIN} characters"
        )
    if not value:
        value = Decimal((0, (0,), min(exponent, 0)))
    return format(value, "f")


def decimal_text(value: Decimal | int) -> str:
    """`BigDecimal.toString`.

    >>> [decimal_text(Decimal(text)) for text in ("1E+3", "7.90", "1e5", "-0.00", "0.0000001")]
    ['1E+3', '7.90', '1E+5', '0.00', '1E-7']
    """
    value = Decimal(value)
    return str(value or value.copy_abs())


def _not_finite(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _significant_digits(value: Decimal) -> str:
    """The digits without zeros at the end."""
    return "".join(map(str, value.as_tuple().digits)).rstrip("0") or "0"


def _scientific(value: Decimal) -> str:
    digits = _significant_digits(value)
    return f"{'-' * value.is_signed()}{digits[0]}.{digits[1:] or '0'}E{value.adjusted()}"


def _shortest(value: float) -> Decimal:
    """The decimal of fewest digits, two or more, that names this float of 32 bits; of several the nearest."""
    shortest = Decimal(np.format_float_scientific(np.float32(value), unique=True, trim="-"))
    two = Decimal(f"{value:.1e}")
    return two if len(shortest.as_tuple().digits) == 1 and float32_of(two) == value else shortest
