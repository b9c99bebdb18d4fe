"""Values that a column takes with a loss: digits that it does not keep, a time of day in a date.

Such values are stored; a load reports how many they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from trellis.schema.model import Column, number_size

MICROSECONDS = 6
DAY = 86_400

_FRACTION = re.compile(r"[.,]([0-9]+)")
_TIME_OF_DAY = re.compile(r"[Tt ]([0-9:.,]+)")


class Loss(NamedTuple):
    """`of` says whether a value loses something in the column, `message` what it loses."""

    of: Callable[[Any], bool]
    message: str


def loss_of(column: Column) -> Loss | None:
    """What a column may lose of values that it takes; None where that is nothing.

    >>> loss = loss_of(Column("a", "decimal", precision=10, scale=2))
    >>> [loss.of(value) for value in (1.25, "1.250", Decimal("1.255"), 7)], loss.message
    ([False, False, True, False], 'a number has more than 2 digits after the point, it was rounded')
    """
    if column.data_type == "timestamp" or column.data_type == "time":
        digits = MICROSECONDS if column.precision is None else min(column.precision, MICROSECONDS)
        return Loss(_finer_than(digits), f"a second has more than {digits} digits, the rest was cut")
    if column.data_type == "date":
        return Loss(_has_time_of_day, "a value has a time of day, only the date was kept")
    if column.data_type == "decimal":
        places = number_size(column)[1]
        return Loss(
            _longer_than(places), f"a number has more than {places} digits after the point, it was rounded"
        )
    return None


def _finer_than(digits: int) -> Callable[[Any], bool]:
    unit = 10 ** (MICROSECONDS - digits)

    def finer(value: Any) -> bool:
        if isinstance(value, str):
            fraction = _FRACTION.search(value) if "." in value or "," in value else None
            return fraction is not None and bool(fraction[1][digits:].strip("0"))
        return isinstance(value, (datetime, time)) and bool(value.microsecond % unit)

    return finer


def _has_time_of_day(value: Any) -> bool:
    if isinstance(value, datetime):
        return value.time() != time()
    if isinstance(value, str):
        if len(value) <= len("2024-01-01"):
            return False
        time_of_day = _TIME_OF_DAY.search(value.strip())
        return time_of_day is not None and bool(time_of_day[1].strip("0:.,"))
    return not isinstance(value, date) and bool(value % DAY)


def _longer_than(places: int) -> Callable[[Any], bool]:
    def longer(value: Any) -> bool:
        if isinstance(value, int):
            return False
        try:
            number = Decimal(str(value).strip())
        except InvalidOperation:  # another way to write a number, such as 0xff: those are whole
            return False
        return -int(number.normalize().as_tuple().exponent) > places

    return longer
