"""Operators and functions of expressions: what they take, what they give, what they do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any, Final

from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.computed.nodes import ValueKind
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, MIN_INT64, Uint64, kind_of
from trellis.dialects.ytsaurus.yson.writer import dumps

Kinds = frozenset[ValueKind]

NUMBERS: Final[Kinds] = frozenset({"int64", "uint64", "double"})
INTEGERS: Final[Kinds] = frozenset({"int64", "uint64"})
BOOLEAN: Final[Kinds] = frozenset({"boolean"})
STRING: Final[Kinds] = frozenset({"string"})
INT64: Final[Kinds] = frozenset({"int64"})
DOUBLE: Final[Kinds] = frozenset({"double"})
ORDERED: Final[Kinds] = NUMBERS | BOOLEAN | STRING
HASHABLE: Final[Kinds] = INTEGERS | BOOLEAN | STRING | {"null"}
ALL: Final[Kinds] = ORDERED | {"any"}
EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
MAX_FORMAT_BYTES: Final = 30
_LENIENT: Final = re.compile(rb"[\s_]")
"""What numbers may have in Python alone."""


@dataclass(frozen=True)
class Function:
    """One overload set. `T` in the result stands for the one kind of all `same` parameters."""

    parameters: tuple[Kinds, ...]
    result: ValueKind | None
    """None: the kind that the `same` parameters share."""
    evaluate: Callable[..., Any]
    same: tuple[int, ...] = ()
    """The parameters that have one kind."""
    repeats: bool = False
    """Whether the last parameter may be given any number of times."""
    takes_null: bool = False
    """Whether it is called for nulls; otherwise a null argument gives null."""


def wrap_int64(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _wrap(value: Any, example: Any) -> Any:
    """The result of arithmetic, as long as its operands are."""
    if isinstance(example, Uint64):
        return Uint64(value % 2**64)
    return value if isinstance(value, float) else wrap_int64(value)


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        if right:
            return left / right
        return (
            math.nan
            if left == 0 or math.isnan(left)
            else math.copysign(math.inf, left) * math.copysign(1, right)
        )
    _check_divisor(left, right, "/")
    quotient = abs(left) // abs(right)
    return _wrap(quotient if (left < 0) == (right < 0) else -quotient, left)


def _remainder(left: int, right: int) -> int:
    _check_divisor(left, right, "%")
    remainder: int = _wrap(abs(left) % abs(right) * (-1 if left < 0 else 1), left)
    return remainder


def _check_divisor(left: int, right: int, operator: str) -> None:
    if right == 0:
        raise YtError(f"{left!r} {operator} {right!r}: division by zero")
    if left == MIN_INT64 and right == -1:
        raise YtError(f"{left} {operator} -1 is beyond 64 bits")


def _order(value: Any) -> tuple[int, Any]:
    """Null is less than every value, and NaN greater; each of both is equal to itself."""
    if value is None:
        return (0, 0)
    return (2, 0) if value != value else (1, value)


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left or right:
        return True
    return None if left is None or right is None else False


def _to_int64(value: Any) -> int:
    if isinstance(value, float):
        if not -(2.0**63) <= value < 2.0**63:
            raise YtError(f"int64({value!r}) is beyond 64 bits")
        return int(value)
    return wrap_int64(value)


def _to_uint64(value: Any) -> Uint64:
    if isinstance(value, float) and not 0 <= value < 2.0**64:
        raise YtError(f"uint64({value!r}) is beyond 64 bits")
    return Uint64(int(value) % 2**64)


def _expect(kind: str) -> Callable[[Any], Any]:
    """A cast of `any`, which must hold the kind."""

    def cast(value: Any) -> Any:
        if kind_of(value) != kind:
            raise YtError(f"the value is {kind_of(value)}; {kind}() takes {kind}")
        return value

    return cast


def _parse(kind: str, parse: Callable[[str], Any], lowest: float, highest: float) -> Callable[[bytes], Any]:
    def parse_text(text: bytes) -> Any:
        try:
            if _LENIENT.search(text):
                raise ValueError
            value = parse(text.decode("ascii"))
        except ValueError:
            raise YtError(
                f"parse_{kind}: {text.decode('utf-8', 'replace')!r} cannot be read as {kind}"
            ) from None
        if not lowest <= value <= highest and not isinstance(value, float):
            raise YtError(f"parse_{kind}: {value} is beyond 64 bits")
        return value

    return parse_text


def _whole(rounding: Callable[[float], float]) -> Callable[[float], int]:
    return lambda value: _to_int64(float(rounding(value)) if math.isfinite(value) else value)


def _round(value: float) -> float:
    """Halves away from zero."""
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _moment(seconds: int) -> datetime:
    try:
        return EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        raise YtError(f"{seconds} seconds is no time between the years 1 and 9999") from None


def _floor_to(seconds: int, unit: str) -> int:
    """The start of the hour, day, week (Monday), month, quarter or year, in UTC.

    >>> _floor_to(1700000000, "week")
    1699833600
    """
    match unit:
        case "hour":
            return wrap_int64(seconds - seconds % 3600)
        case "day":
            return wrap_int64(seconds - seconds % 86400)
        case "week":
            days = seconds // 86400
            return wrap_int64((days - (days + 3) % 7) * 86400)
    moment = _moment(seconds)
    month = {"month": moment.month, "quarter": (moment.month - 1) // 3 * 3 + 1, "year": 1}[unit]
    start = datetime(moment.year, month, 1, tzinfo=timezone.utc)
    return (start - EPOCH) // timedelta(seconds=1)


def _format_time(seconds: int, form: bytes) -> bytes:
    if len(form) > MAX_FORMAT_BYTES:
        raise YtError(
            f"format_timestamp: the format has {len(form)} bytes; at most {MAX_FORMAT_BYTES} are allowed"
        )
    try:
        return _moment(seconds).strftime(form.decode()).encode()
    except ValueError:
        raise YtError(
            f"format_timestamp: {form.decode('utf-8', 'replace')!r} is no format of a time"
        ) from None


def _pair(
    parameter: Kinds,
    evaluate: Callable[[Any, Any], Any],
    result: ValueKind | None = None,
    nulls: bool = False,
) -> Function:
    return Function((parameter, parameter), result, evaluate, same=(0, 1), takes_null=nulls)


def _unary(
    parameter: Kinds, evaluate: Callable[[Any], Any], result: ValueKind | None = None, nulls: bool = False
) -> Function:
    return Function((parameter,), result, evaluate, same=() if result else (0,), takes_null=nulls)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "+": _pair(NUMBERS, lambda left, right: _wrap(left + right, left)),
    "-": _pair(NUMBERS, lambda left, right: _wrap(left - right, left)),
    "*": _pair(NUMBERS, lambda left, right: _wrap(left * right, left)),
    "/": _pair(NUMBERS, _divide),
    "%": _pair(INTEGERS, _remainder),
    "<<": _pair(INTEGERS, lambda left, right: _wrap(left << (right & 63), left)),
    ">>": _pair(INTEGERS, lambda left, right: _wrap(left >> (right & 63), left)),
    "|": _pair(INTEGERS, lambda left, right: _wrap(int(left) | int(right), left)),
    "&": _pair(INTEGERS, lambda left, right: _wrap(int(left) & int(right), left)),
    "~": _unary(INTEGERS, lambda value: _wrap(~int(value), value)),
    "negate": _unary(NUMBERS, lambda value: _wrap(-value, value)),
    "||": _pair(STRING, lambda left, right: left + right),
    "=": _pair(ORDERED, lambda left, right: _order(left) == _order(right), "boolean", nulls=True),
    "!=": _pair(ORDERED, lambda left, right: _order(left) != _order(right), "boolean", nulls=True),
    "<": _pair(ORDERED, lambda left, right: _order(left) < _order(right), "boolean", nulls=True),
    "<=": _pair(ORDERED, lambda left, right: _order(left) <= _order(right), "boolean", nulls=True),
    ">": _pair(ORDERED, lambda left, right: _order(left) > _order(right), "boolean", nulls=True),
    ">=": _pair(ORDERED, lambda left, right: _order(left) >= _order(right), "boolean", nulls=True),
    "and": _pair(BOOLEAN, _and, nulls=True),
    "or": _pair(BOOLEAN, _or, nulls=True),
    "not": _unary(BOOLEAN, lambda value: not value),
    "in": Function(
        (ORDERED, ORDERED),
        "boolean",
        lambda value, *items: any(_order(value) == _order(item) for item in items),
        same=(0, 1),
        repeats=True,
        takes_null=True,
    ),
    "if": Function(
        (BOOLEAN, ALL, ALL),
        None,
        lambda condition, first, second: first if condition else second,
        same=(1, 2),
        takes_null=True,
    ),
    "is_null": _unary(ALL, lambda value: value is None, "boolean", nulls=True),
    "if_null": _pair(ALL, lambda value, other: other if value is None else value, nulls=True),
    "coalesce": Function(
        (ALL,),
        None,
        lambda *values: next((value for value in values if value is not None), None),
        same=(0,),
        repeats=True,
        takes_null=True,
    ),
    "farm_hash": Function((HASHABLE,), "uint64", farm_hash, repeats=True, takes_null=True),
    "lower": _unary(STRING, bytes.lower, "string"),
    "length": _unary(STRING, len, "int64"),
    "concat": Function((STRING,), "string", lambda *texts: b"".join(texts), repeats=True),
    "is_substr": Function((STRING, STRING), "boolean", lambda part, text: part in text),
    "is_prefix": Function((STRING, STRING), "boolean", lambda part, text: text.startswith(part)),
    "abs": _unary(NUMBERS, lambda value: _wrap(abs(value), value)),
    "greatest": Function((ORDERED,), None, lambda *values: max(values, key=_order), same=(0,), repeats=True),
    "floor": _unary(DOUBLE, _whole(math.floor), "int64"),
    "ceil": _unary(DOUBLE, _whole(math.ceil), "int64"),
    "round": _unary(DOUBLE, _whole(_round), "int64"),
    "int64": _unary(NUMBERS, _to_int64, "int64"),
    "uint64": _unary(NUMBERS, _to_uint64, "uint64"),
    "double": _unary(NUMBERS, float, "double"),
    "boolean": _unary(BOOLEAN | {"any"}, _expect("boolean"), "boolean"),
    "string": _unary(STRING | {"any"}, _expect("string"), "string"),
    "parse_int64": _unary(STRING, _parse("int64", int, MIN_INT64, MAX_INT64), "int64"),
    "parse_uint64": _unary(STRING, _parse("uint64", Uint64, 0, 2**64 - 1), "uint64"),
    "parse_double": _unary(STRING, _parse("double", float, 0, 0), "double"),
    "numeric_to_string": _unary(NUMBERS, dumps, "string"),
    **{
        f"timestamp_floor_{unit}": _unary(INT64, partial(_floor_to, unit=unit), "int64")
        for unit in ("hour", "day", "week", "month", "quarter", "year")
    },
    "format_timestamp": Function((INT64, STRING), "string", _format_time),
}
