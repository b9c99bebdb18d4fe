"""Conversion from one data type to another: the converted value, or MISFIT where that would lose something.

A pair of types that is absent from `_MATRIX` is a misfit. A value
that no column can hold (an integer beyond 64 bits, a decimal beyond 38 digits) is a misfit, too: it then goes
to a variant column and is kept, instead of breaking the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final
from uuid import UUID

from trellis.errors import SchemaError, nearest
from trellis.evolution.scalars.binary import BINARY
from trellis.evolution.scalars.exact import bound, numbers
from trellis.evolution.scalars.families import family
from trellis.evolution.scalars.json_text import iso, json_of_text, json_text, plain, text_of_bytes
from trellis.evolution.scalars.machine_numbers import BIGINT, BOOL, DOUBLE, within_bits
from trellis.evolution.scalars.moments import DATE, NAIVE_TIMESTAMP, TIME, TIMESTAMP
from trellis.evolution.scalars.values import MISFIT, Convert, same
from trellis.schema.model import DATA_TYPES, DataType


def coerce(
    value: Any,
    to: DataType,
    *,
    timezone: bool | None = None,
    precision: int | None = None,
    scale: int | None = None,
) -> Any:
    """The value as a `to`, or MISFIT. A value of that type already comes back as it is.

    >>> coerce(" 3 ", "bigint"), coerce("4.5", "bigint"), coerce(2.5, "text")
    (3, MISFIT, '2.5')
    """
    if timezone is None and precision is None and scale is None:
        return _plain_coercer(to)(value)
    return coercer(to, timezone=timezone, precision=precision, scale=scale)(value)


@lru_cache(maxsize=256)
def coercer(
    to: DataType, *, timezone: bool | None = None, precision: int | None = None, scale: int | None = None
) -> Convert:
    """`coerce` for one column: a function of the value alone. Take it once per column.

    `timezone` False makes timestamps naive (in UTC). `precision` and `scale` bound numbers: of a
    bigint `precision` is its bits; a decimal is rounded to `scale` and misfits when its integer part
    needs more than `precision - scale` digits; a wei with a fraction beyond `scale` misfits. Both
    hold 38 digits, or more where `precision` says so. The other types leave both to the destination.
    """
    if to not in _MATRIX:
        raise SchemaError(f"there is no data type {to!r}{nearest(to, DATA_TYPES)}")
    matrix = _MATRIX[to]
    if to == "timestamp" and timezone is False:
        matrix = NAIVE_TIMESTAMP
    elif to == "decimal" or to == "wei":
        matrix = numbers(to, precision, scale)
    limit = _limit(to, precision, scale)
    steps_by_class: dict[type, Convert] = {}

    def convert(value: Any) -> Any:
        kind = type(value)
        step = steps_by_class.get(kind)
        if step is None:
            step = steps_by_class[kind] = _step(kind, matrix, limit)
        return step(value)

    return convert


@cache
def _plain_coercer(to: DataType) -> Convert:
    return coercer(to)


def _limit(to: DataType, precision: int | None, scale: int | None) -> Convert | None:
    """What a column of this precision and scale makes of a converted number."""
    if to == "bigint" and precision:
        return within_bits(precision)
    if (to == "decimal" or to == "wei") and (precision is not None or scale is not None):
        return bound(to, precision, scale)
    return None


def _step(kind: type, matrix: Mapping[DataType, Convert], limit: Convert | None) -> Convert:
    """How values of one Python class are converted."""
    source = family(kind)
    step = matrix.get(source, _misfit) if source is not None else _misfit
    if issubclass(kind, (Enum, UUID)):
        step = _after(plain, step)
    return step if limit is None else _after(step, limit)


def _after(first: Convert, then: Convert) -> Convert:
    def convert(value: Any) -> Any:
        converted = first(value)
        return MISFIT if converted is MISFIT else then(converted)

    return convert


def _misfit(value: Any) -> Any:
    return MISFIT


def _text_of_int(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # beyond Python's limit of digits, which Decimal does not have
        return str(Decimal(value))


_MATRIX: Final[Mapping[DataType, Mapping[DataType, Convert]]] = {
    "text": {
        "text": same,
        "bigint": _text_of_int,
        "double": str,
        "decimal": str,
        "wei": str,
        "bool": str,
        "binary": text_of_bytes,
        "timestamp": iso,
        "date": iso,
        "time": iso,
        "json": json_text,
    },
    "bigint": BIGINT,
    "double": DOUBLE,
    "decimal": numbers("decimal"),
    "wei": numbers("wei"),
    "bool": BOOL,
    "binary": BINARY,
    "timestamp": TIMESTAMP,
    "date": DATE,
    "time": TIME,
    "json": {"text": json_of_text, "json": json_text},
}
