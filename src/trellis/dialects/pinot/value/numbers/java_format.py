"""Numbers as Java writes them.

Double and Float follow `toString` of JDK 19 and later: the shortest digits that name the number, two or more.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

import numpy as np

from trellis.dialects.pinot.value.numbers.rounding import float32_of
from trellis.dialects.pinot.value.source_kinds import CannotConvert

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
    digits = Decimal(text).as_tuple().digits
    if len(_without_zeros(digits)) == 1:
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


def _without_zeros(digits: tuple[int, ...]) -> tuple[int, ...]:
    end = len(digits)
    while end > 1 and not digits[end - 1]:
        end -= 1
    return digits[:end]


def _scientific(value: Decimal) -> str:
    sign, digits, _ = value.as_tuple()
    first, *others = map(str, _without_zeros(digits))
    return f"{'-' * sign}{first}.{''.join(others) or '0'}E{value.adjusted()}"


def _shortest(value: float) -> Decimal:
    """The decimal of fewest digits, two or more, that names this float of 32 bits; of several the nearest."""
    shortest = Decimal(np.format_float_scientific(np.float32(value), unique=True, trim="-"))
    two = Decimal(f"{value:.1e}")
    return two if len(shortest.as_tuple().digits) == 1 and float32_of(two) == value else shortest
