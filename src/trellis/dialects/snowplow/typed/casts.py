"""Values of JSON as values of a type. What does not fit fails as a whole; nothing is rounded or cut."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

from trellis.dialects.snowplow.document.json_text import decimal_of, encodable, write_json
from trellis.dialects.snowplow.document.nodes import pointer_to
from trellis.dialects.snowplow.typed.types import (
    BITS,
    INT,
    JSON,
    LONG,
    Array,
    Decimal,
    Field,
    Scalar,
    Struct,
    Type,
    describe_type,
)

Path = tuple[str, ...]
_MOST_DIGITS: Final = 20
"""No number with more digits, or a smaller fraction, is an integer of 64 bits; 1e400 is not written out."""
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


class CastError(ValueError):
    """A value that its type does not take, said as violations of schemas are: place, keyword, reason."""


def cast_value(value: object, data_type: Type, path: Path = ()) -> Any:
    """The value as its type stores it; a timestamp in UTC, JSON as text. Raises CastError."""
    if isinstance(data_type, Struct):
        if not isinstance(value, dict):
            raise _misfit(path, value, data_type)
        return {field.name: _cast_field(value, field, path) for field in data_type.fields}
    if isinstance(data_type, Array):
        return _cast_items(value, data_type, path)
    if data_type == JSON:
        return write_json(value)
    try:
        if isinstance(data_type, Decimal):
            return _decimal(value, data_type)
        return _CASTS[data_type](value)
    except (ValueError, OverflowError, decimal.InvalidOperation):
        raise _misfit(path, value, data_type) from None


def _cast_field(data: Mapping[str, Any], field: Field, path: Path) -> Any:
    """The first value that fits, of the keys of the field."""
    errors: list[CastError] = []
    is_null = False
    for key in field.keys:
        if key not in data:
            continue
        value = data[key]
        if value is None and (field.nullable or field.type != JSON):
            is_null = True
        else:
            try:
                return cast_value(value, field.type, (*path, key))
            except CastError as error:
                errors.append(error)
    if errors and not (is_null and field.nullable):
        raise errors[0]
    if not field.nullable:
        place = pointer_to(*path, field.keys[0])
        raise CastError(f"{place} required: {describe_type(field.type)} is missing")
    return None


def _cast_items(value: object, array: Array, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise _misfit(path, value, array)
    items: list[Any] = []
    for index, item in enumerate(value):
        place = (*path, str(index))
        if item is None and array.nullable:
            items.append(None)
        else:
            items.append(cast_value(item, array.item, place))
    return items


def _integer(bits: int) -> Callable[[object], int]:
    def cast(value: object) -> int:
        exact = _exact(value)
        if exact and (abs(exact.adjusted()) > _MOST_DIGITS or exact != exact.to_integral_value()):
            raise ValueError(value)
        number = int(exact) if exact else 0
        if not -(2**bits) <= number < 2**bits:
            raise ValueError(value)
        return number

    return cast


def _double(value: object) -> float:
    number = float(_exact(value))
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _decimal(value: object, data_type: Decimal) -> decimal.Decimal:
    exact = _exact(value)
    context = decimal.Context(prec=data_type.precision, traps=[decimal.InvalidOperation, decimal.Inexact])
    try:
        return exact.quantize(decimal.Decimal(1).scaleb(-data_type.scale), context=context)
    except decimal.Inexact:
        raise ValueError(value) from None


def _date(value: object) -> date:
    text = _string(value)
    if not _DATE.fullmatch(text):
        raise ValueError(value)
    return date.fromisoformat(text)


def _timestamp(value: object) -> datetime:
    match = _TIMESTAMP.fullmatch(_string(value))
    if match is None:
        raise ValueError(value)
    day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    micros = int((fraction or "")[:6].ljust(6, "0"))
    local = datetime.fromisoformat(f"{day}T{hour}:{minute}:{second}").replace(microsecond=micros)
    offset = timedelta(hours=int(offset_hours or 0), minutes=int(offset_minutes or 0))
    return (local + offset if sign == "-" else local - offset).replace(tzinfo=timezone.utc)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return encodable(value)


def _exact(value: object) -> decimal.Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(value)
    return decimal_of(value)


_CASTS: Final[Mapping[Scalar, Callable[[object], Any]]] = {
    Scalar("boolean"): _boolean,
    Scalar("string"): _string,
    INT: _integer(BITS[INT]),
    LONG: _integer(BITS[LONG]),
    Scalar("double"): _double,
    Scalar("date"): _date,
    Scalar("timestamp"): _timestamp,
}


def _misfit(path: Path, value: object, expected: Type) -> CastError:
    return CastError(f"{pointer_to(*path) or '/'} type: {_shown(value)} is not {describe_type(expected)}")


def _shown(value: object) -> str:
    text = write_json(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
