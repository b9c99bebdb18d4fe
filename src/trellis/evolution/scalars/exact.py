"""Exact numbers: conversions of other values to decimal and wei.

A number is *narrow* with up to 38 digits, which is what every warehouse holds. A column that has room for
more takes *wide* ones, all of whose digits are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from math import isfinite
from typing import Any, Literal

from trellis.evolution.scalars.literals import INERT_STARTS, hexadecimal, literal
from trellis.evolution.scalars.values import MAX_DIGITS, MISFIT, WEI_LIMIT, Convert
from trellis.schema.model import DataType

Exact = Literal["decimal", "wei"]

WEI_LEAST = -578960446186580977117854925043439539267
WEI_MOST = 578960446186580977117854925043439539266
"""Beyond these a value of the class `Wei` goes to a variant column, however wide its own is."""


def storable(value: Decimal) -> Decimal | None:
    """The number as a narrow column can hold it: None beyond 38 digits with its zeros written out.

    Only zeros at the end of an overlong fraction are dropped.

    >>> storable(Decimal("1.50")), storable(Decimal("1e38"))
    (Decimal('1.50'), None)
    """
    if not value.is_finite():
        return None
    written = str(value)
    if len(written) <= MAX_DIGITS and "E" not in written:
        return value
    sign, digits, exponent = value.as_tuple()
    places = -int(exponent)
    if places <= 0:
        return value if value.is_zero() or len(digits) - places <= MAX_DIGITS else None
    if len(digits) <= MAX_DIGITS and places <= MAX_DIGITS:
        return value
    while places > 0 and digits[-1] == 0:
        digits, places = digits[:-1] or (0,), places - 1
    if len(digits) <= MAX_DIGITS and places <= MAX_DIGITS:
        return Decimal((sign, digits, -places))
    return None


def numbers(to: Exact, precision: int | None = None, scale: int | None = None) -> Mapping[DataType, Convert]:
    """What makes a `to` of the values of each type; the values of a type that is absent are misfits.

    The numbers are wide where the precision is beyond 38. They are not rounded yet: `bound` does that.

    >>> numbers("decimal")["text"](" 1e38 "), numbers("decimal", 39)["text"](" 1e38 ")
    (MISFIT, Decimal('1E+38'))
    """
    if precision is None or precision <= MAX_DIGITS:
        return _NARROW[to]
    whole = precision - (scale or 0)

    def fit(value: Decimal) -> Any:
        if not value.is_finite():
            return MISFIT
        if value.is_zero():
            return Decimal(0)
        return value if value.adjusted() < whole else MISFIT

    def of_int(value: int) -> Any:
        return fit(Decimal(value))

    def of_wei(value: Decimal) -> Any:
        if to == "wei" and not WEI_LEAST <= value <= WEI_MOST:
            return MISFIT
        return fit(Decimal(value))

    return {**_numbers(fit, of_int), "wei": of_wei}


def bound(to: Exact, precision: int | None, scale: int | None) -> Convert:
    """What a column of this precision and scale makes of a number.

    A decimal is rounded to the scale, a wei with a fraction beyond it is a misfit.
    """
    digits, places = precision or MAX_DIGITS, scale or 0
    unit = Decimal(1).scaleb(-places)
    room = Context(prec=max(MAX_DIGITS * 4, digits + 1))

    def bounded(number: Decimal) -> Any:
        if -int(number.as_tuple().exponent) > places:
            rounded = number.quantize(unit, ROUND_HALF_UP, room)
            if to == "wei" and rounded != number:
                return MISFIT
            number = rounded
        return number if number.is_zero() or number.adjusted() < digits - places else MISFIT

    return bounded


def _numbers(fit: Convert, of_int: Convert) -> Mapping[DataType, Convert]:
    def of_double(value: float) -> Any:
        return fit(Decimal(str(value))) if isfinite(value) else MISFIT

    def of_text(text: str) -> Any:
        if text[:1] in INERT_STARTS:
            return MISFIT
        number = hexadecimal(text)
        if number is not None:
            return of_int(number)
        bare = literal(text)
        try:
            return fit(Decimal(bare)) if bare else MISFIT
        except InvalidOperation:
            return MISFIT

    return {"text": of_text, "bigint": of_int, "double": of_double, "decimal": fit}


def _narrow(value: Decimal) -> Any:
    number = storable(value)
    return MISFIT if number is None else number


def _narrow_of_int(value: int) -> Any:
    return Decimal(value) if -WEI_LIMIT < value < WEI_LIMIT else MISFIT


def _decimal_of_wei(value: Decimal) -> Any:
    number = storable(value)
    return MISFIT if number is None else Decimal(number)


_NARROW: Mapping[Exact, Mapping[DataType, Convert]] = {
    "decimal": {**_numbers(_narrow, _narrow_of_int), "wei": _decimal_of_wei},
    "wei": {**_numbers(_narrow, _narrow_of_int), "wei": _narrow},
}
