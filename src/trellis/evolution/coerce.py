"""From one data type to another: a converted value, or MISFIT where nothing faithful can be said.

The matrix of spec dlt.md, section 7. A cell that is absent from `_MATRIX` is a misfit. Where dlt lets
a value through that no column can hold (an integer beyond 64 bits, a decimal beyond 38 digits), it is a
misfit here: it then goes to a variant column and is kept, instead of breaking the load.
"""

from __future__ import annotations

import binascii
import dataclasses
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from math import isinf
from typing import Any
from uuid import UUID

from trellis.errors import SchemaError, nearest
from trellis.evolution.exact import bound, numbers
from trellis.evolution.iso import UTC, from_epoch, parse_date, parse_time, to_timestamp
from trellis.evolution.jsontext import iso, json_of_text, json_text, plain, text_of_bytes
from trellis.evolution.literals import INERT_STARTS, NOT_FINITE, hexadecimal, literal
from trellis.evolution.values import BIGINT_MAX, BIGINT_MIN, MISFIT, Convert, HexBytes, Wei
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
    matrix: Mapping[DataType, Convert] = _MATRIX[to]
    if to == "timestamp" and timezone is False:
        matrix = _NAIVE
    elif to == "decimal" or to == "wei":
        matrix = numbers(to, precision, scale)
    limit = _limit(to, precision, scale)
    known: dict[type, Convert] = {}

    def convert(value: Any) -> Any:
        kind = type(value)
        step = known.get(kind)
        if step is None:
            step = known[kind] = _step(kind, matrix, limit)
        return step(value)

    return convert


def family(kind: type) -> DataType | None:
    """The data type of a Python class, None if it has none (spec, section 6). Looks at no value."""
    found = _FAMILIES.get(kind)
    if found is not None:
        return found
    if issubclass(kind, Enum):
        return "bigint" if issubclass(kind, int) else "text"
    for base, data_type in _BASES:
        if issubclass(kind, base):
            return data_type
    return "json" if dataclasses.is_dataclass(kind) else None


def _text_of_int(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # beyond Python's limit of digits, which Decimal does not have
        return str(Decimal(value))


def _bigint(value: int) -> Any:
    return value if BIGINT_MIN <= value <= BIGINT_MAX else MISFIT


def _bigint_of_text(text: str) -> Any:
    if text[:1] in INERT_STARTS:
        return MISFIT
    number = hexadecimal(text)
    if number is None:
        bare = literal(text)
        try:
            number = int(bare) if bare else None
        except ValueError:
            return MISFIT
    return MISFIT if number is None else _bigint(number)


def _bigint_of_double(value: float) -> Any:
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return int(value)
    return MISFIT


def _bigint_of_decimal(value: Decimal) -> Any:
    if not value.is_finite() or value.adjusted() > 18:
        return MISFIT
    number = int(value)
    return _bigint(number) if number == value else MISFIT


def _double_of_text(text: str) -> Any:
    if text[:1] in INERT_STARTS:
        return MISFIT
    number = hexadecimal(text)
    if number is not None:
        return _double_of_int(number)
    bare = literal(text)
    try:
        if bare:
            found = float(bare)
            # 1e400 is a number, but not infinity; the word is
            return MISFIT if isinf(found) and "n" not in bare.lower() else found
        bare = text.strip()
        return float(bare) if bare.lower().lstrip("+-") in NOT_FINITE else MISFIT
    except ValueError:
        return MISFIT


def _double_of_int(value: int) -> Any:
    try:
        return float(value)
    except OverflowError:
        return MISFIT


def _double_of_decimal(value: Decimal) -> Any:
    try:
        found = float(value)
    except ValueError:  # a signalling NaN
        return MISFIT
    return MISFIT if isinf(found) and value.is_finite() else found


def _limit(to: DataType, precision: int | None, scale: int | None) -> Convert | None:
    """What a column of this precision and scale makes of a converted number."""
    if to == "bigint" and precision:
        low, high = -(2 ** (precision - 1)), 2 ** (precision - 1) - 1
        return lambda number: number if low <= number <= high else MISFIT
    if (to == "decimal" or to == "wei") and (precision is not None or scale is not None):
        return bound(to, precision, scale)
    return None


_TRUE = frozenset(("yes", "true", "t", "y", "1"))

_FALSE = frozenset(("no", "false", "f", "n", "0"))


def _bool_of_text(text: str) -> Any:
    if len(text) > 5:
        return MISFIT
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else MISFIT


def _bool_of_decimal(value: Decimal) -> bool:
    return not value.is_zero()


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}").fullmatch


def is_base64(text: str) -> bool:
    """Whether it is strict base64: nothing but the alphabet, and padded."""
    return not len(text) & 3 and _BASE64(text) is not None  # so the padding is of the right length


def _binary_of_text(text: str) -> Any:
    if text.startswith("0x"):
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            return MISFIT
    return binascii.a2b_base64(text) if is_base64(text) else MISFIT


def _binary_of_int(value: int) -> Any:
    return value.to_bytes((value.bit_length() + 7) // 8, "little") if value >= 0 else MISFIT


def utc(moment: datetime | None) -> Any:
    """Aware, in UTC. Naive means UTC; the zone of the machine plays no part."""
    if moment is None:
        return MISFIT
    zone = moment.tzinfo
    if zone is UTC:
        return moment
    if zone is None or moment.utcoffset() is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return MISFIT


def naive_utc(moment: datetime | None) -> Any:
    """The clock of UTC, without a zone."""
    if moment is None:
        return MISFIT
    if moment.tzinfo is None:
        return moment
    moved = utc(moment)
    return MISFIT if moved is MISFIT else moved.replace(tzinfo=None)


def _date_of_timestamp(moment: datetime | None) -> Any:
    moved = naive_utc(moment)
    return MISFIT if moved is MISFIT else moved.date()


def _date_of_text(text: str) -> Any:
    day = parse_date(text)
    return _date_of_timestamp(to_timestamp(text)) if day is None else day


def _time_of_text(text: str) -> Any:
    clock = parse_time(text)
    return MISFIT if clock is None else clock


def _time(clock: time) -> time:
    if clock.tzinfo is None:
        return clock
    offset = datetime.combine(date(1970, 1, 1), clock).utcoffset()
    bare = clock.replace(tzinfo=None)
    # moved within a day far from the first and the last, which cannot be left
    return (datetime.combine(date(1970, 1, 2), bare) - offset).time() if offset else bare


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _same(value: Any) -> Any:
    return value


def _misfit(value: Any) -> Any:
    return MISFIT


def _stamped(clock: Convert) -> dict[DataType, Convert]:
    return {
        "text": lambda text: MISFIT if text[:1] in INERT_STARTS else clock(to_timestamp(text)),
        "bigint": lambda seconds: clock(from_epoch(seconds)),
        "double": lambda seconds: clock(from_epoch(seconds)),
        "timestamp": clock,
        "date": lambda day: clock(_midnight(day)),
    }


_NAIVE = _stamped(naive_utc)

_MATRIX: dict[DataType, Mapping[DataType, Convert]] = {
    "text": {
        "text": _same,
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
    "bigint": {
        "text": _bigint_of_text,
        "bigint": _bigint,
        "double": _bigint_of_double,
        "decimal": _bigint_of_decimal,
        "wei": _bigint_of_decimal,
    },
    "double": {
        "text": _double_of_text,
        "bigint": _double_of_int,
        "double": _same,
        "decimal": _double_of_decimal,
        "wei": _double_of_decimal,
    },
    "decimal": numbers("decimal"),
    "wei": numbers("wei"),
    "bool": {
        "text": _bool_of_text,
        "bigint": bool,
        "double": bool,
        "decimal": _bool_of_decimal,
        "wei": _bool_of_decimal,
        "bool": _same,
    },
    "binary": {"text": _binary_of_text, "bigint": _binary_of_int, "binary": _same},
    "timestamp": _stamped(utc),
    "date": {
        "text": _date_of_text,
        "bigint": lambda seconds: _date_of_timestamp(from_epoch(seconds)),
        "double": lambda seconds: _date_of_timestamp(from_epoch(seconds)),
        "timestamp": _date_of_timestamp,
        "date": _same,
    },
    "time": {"text": _time_of_text, "time": _time},
    "json": {"text": json_of_text, "json": json_text},
}

_FAMILIES: dict[type, DataType] = {
    str: "text",
    int: "bigint",
    float: "double",
    bool: "bool",
    bytes: "binary",
    HexBytes: "binary",
    dict: "json",
    list: "json",
    tuple: "json",
    Decimal: "decimal",
    Wei: "wei",
    datetime: "timestamp",
    date: "date",
    time: "time",
    UUID: "text",
}

# the narrower class first: a Wei is a Decimal, a datetime is a date, a str is a Sequence
_BASES: tuple[tuple[type, DataType], ...] = (
    (str, "text"),
    (int, "bigint"),
    (float, "double"),
    (bytes, "binary"),
    (Wei, "wei"),
    (Decimal, "decimal"),
    (datetime, "timestamp"),
    (date, "date"),
    (time, "time"),
    (UUID, "text"),
    (Mapping, "json"),
    (Sequence, "json"),
)


def _step(kind: type, matrix: Mapping[DataType, Convert], limit: Convert | None) -> Convert:
    """How values of one Python class are converted."""
    source = family(kind)
    step = matrix.get(source, _misfit) if source is not None else _misfit
    if issubclass(kind, (Enum, UUID)):
        step = _after(plain, step)
    return step if limit is None else _after(step, limit)


@cache
def _plain_coercer(to: DataType) -> Convert:
    return coercer(to)


def _after(first: Convert, then: Convert) -> Convert:
    def both(value: Any) -> Any:
        between = first(value)
        return MISFIT if between is MISFIT else then(between)

    return both
