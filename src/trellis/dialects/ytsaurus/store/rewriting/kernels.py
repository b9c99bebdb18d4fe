"""Expressions on whole columns: what their functions do, as kernels of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.computed.farm_hash import SEED, combine_hashes, fingerprint, mix_integer
from trellis.dialects.ytsaurus.computed.nodes import Call, Constant, Reference, TypedNode, ValueKind

_ARROW_TYPES: Final[Mapping[ValueKind, pa.DataType]] = {
    "null": pa.null(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.binary(),
    "any": pa.binary(),
}
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
"""Of the years 1 to 9999."""


class NeedsRowsError(Exception):
    """Values that kernels do not compute: functions without one, and errors, which name their row."""


def evaluate_columns(typed: TypedNode, columns: Mapping[str, pa.Array], rows: int) -> pa.Array:
    """The values of an expression; those of `any` are YSON. Raises NeedsRowsError."""
    match typed.node:
        case Constant(_, value):
            return pa.repeat(pa.scalar(value, _ARROW_TYPES[typed.kind]), rows)
        case Reference(name):
            return columns[name].cast(_ARROW_TYPES[typed.kind])
        case Call("string" | "boolean") if typed.arguments[0].kind == typed.kind:
            return evaluate_columns(typed.arguments[0], columns, rows)
        case Call(name) if name in _KERNELS:
            arguments = [evaluate_columns(argument, columns, rows) for argument in typed.arguments]
            try:
                return _KERNELS[name](*arguments)
            except pa.ArrowInvalid:
                raise NeedsRowsError from None
    raise NeedsRowsError


# --- Numbers ---------------------------------------------------------------------------------------------


def _divide(left: pa.Array, right: pa.Array) -> pa.Array:
    return (pc.divide if pa.types.is_floating(left.type) else pc.divide_checked)(left, right)


def _remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    """With the sign of the dividend."""
    return pc.subtract(left, pc.multiply(pc.divide_checked(left, right), right))


def _negate(values: pa.Array) -> pa.Array:
    if pa.types.is_unsigned_integer(values.type):
        return pc.subtract(pa.scalar(0, values.type), values)
    return pc.negate(values)


def _shift(shift: Callable[..., pa.Array], left: pa.Array, right: pa.Array) -> pa.Array:
    """In two steps, as Arrow does not shift signed numbers by 63 bits."""
    places = pc.bit_wise_and(right, pa.scalar(63, right.type))
    first = pc.bit_wise_and(places, pa.scalar(31, right.type))
    return shift(shift(left, first), pc.subtract(places, first))


def _to_int64(values: pa.Array) -> pa.Array:
    """Fractions are cut off; of an unsigned integer the bits stay."""
    return _to_integer(values, pa.int64(), -(2.0**63), 2.0**63)


def _to_uint64(values: pa.Array) -> pa.Array:
    return _to_integer(values, pa.uint64(), 0.0, 2.0**64)


def _to_integer(values: pa.Array, type: pa.DataType, lowest: float, end: float) -> pa.Array:
    if pa.types.is_floating(values.type):
        is_within = pc.and_(pc.greater_equal(values, lowest), pc.less(values, end))
        if not pc.all(is_within, min_count=0).as_py():
            raise NeedsRowsError
        values = pc.trunc(values)
    return values.cast(type, safe=False)


def _floor_time(seconds: pa.Array, unit: str) -> pa.Array:
    """Python's calendar ends where Arrow's goes on."""
    is_within = pc.and_(pc.greater_equal(seconds, _FIRST_SECOND), pc.less_equal(seconds, _LAST_SECOND))
    if not pc.all(is_within, min_count=0).as_py():
        raise NeedsRowsError
    return pc.floor_temporal(seconds.cast(pa.timestamp("s")), unit=unit).cast(pa.int64())


# --- Comparisons -----------------------------------------------------------------------------------------


def _is_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Null is equal to null, and NaN to NaN."""
    equal = pc.equal(left, right)
    if pa.types.is_floating(left.type):
        equal = pc.or_(equal, pc.and_(pc.is_nan(left), pc.is_nan(right)))
    return pc.or_(pc.fill_null(equal, False), pc.and_(pc.is_null(left), pc.is_null(right)))


def _is_less(left: pa.Array, right: pa.Array) -> pa.Array:
    """Null is less than every value, NaN greater than every other number."""
    less = pc.fill_null(_less_values(left, right), False)
    return pc.or_(less, pc.and_(pc.is_null(left), pc.is_valid(right)))


def _less_values(left: pa.Array, right: pa.Array) -> pa.Array:
    """Null where one of both is."""
    if not pa.types.is_floating(left.type):
        return pc.less(left, right)
    return pc.or_(pc.less(left, right), pc.and_not(pc.is_nan(right), pc.is_nan(left)))


def _is_in(values: pa.Array, *items: pa.Array) -> pa.Array:
    return reduce(pc.or_, (_is_equal(values, item) for item in items))


def _greater(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.if_else(_less_values(left, right), right, left)


# --- Texts -----------------------------------------------------------------------------------------------


def _lower(texts: pa.Array) -> pa.Array:
    """Bytes that are no UTF-8 stay as they are."""
    return pc.ascii_lower(texts.view(pa.string())).view(pa.binary())


def _concat(*texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(*texts, pa.scalar(b"", pa.binary()))


def _search(match: Callable[..., pa.Array], patterns: pa.Array, texts: pa.Array) -> pa.Array:
    """Kernels search for one pattern."""
    different = patterns.unique()
    if len(different) != 1 or different.null_count:
        raise NeedsRowsError
    return match(texts, pattern=different[0].as_py())


def _parse(pattern: str, type: pa.DataType, texts: pa.Array) -> pa.Array:
    is_number = pc.match_substring_regex(texts, pattern=f"^(?:{pattern})$")
    if not pc.all(is_number, min_count=0).as_py():
        raise NeedsRowsError
    return texts.view(pa.string()).cast(type)


def _to_string(numbers: pa.Array) -> pa.Array:
    if pa.types.is_floating(numbers.type):
        raise NeedsRowsError
    suffix = b"u" if pa.types.is_unsigned_integer(numbers.type) else b""
    return _concat(numbers.cast(pa.string()).cast(pa.binary()), pa.scalar(suffix, pa.binary()))


# --- Hashes ----------------------------------------------------------------------------------------------


def _farm_hash(*arguments: pa.Array) -> pa.Array:
    result = np.full(len(arguments[0]), SEED, np.uint64)
    with np.errstate(over="ignore"):
        for argument in arguments:
            result = combine_hashes(result, _hash(argument))
    return pa.array(result ^ np.uint64(len(arguments)))


def _hash(values: pa.Array) -> npt.NDArray[np.uint64]:
    """Null hashes as 0 does."""
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.uint64)
    if pa.types.is_binary(values.type):
        hashes = (0 if text is None else fingerprint(text) for text in values.to_pylist())
        return np.fromiter(hashes, np.uint64, len(values))
    zero: Any = False if pa.types.is_boolean(values.type) else 0
    numbers = pc.fill_null(values, zero).to_numpy(zero_copy_only=False)
    hashed: npt.NDArray[np.uint64] = mix_integer(numbers.astype(np.uint64))
    return hashed


_INTEGER: Final = "-?[0-9]+"
_KERNELS: Final[Mapping[str, Callable[..., pa.Array]]] = {
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "/": _divide,
    "%": _remainder,
    "<<": partial(_shift, pc.shift_left),
    ">>": partial(_shift, pc.shift_right),
    "|": pc.bit_wise_or,
    "&": pc.bit_wise_and,
    "~": pc.bit_wise_not,
    "negate": _negate,
    "||": _concat,
    "=": _is_equal,
    "!=": lambda left, right: pc.invert(_is_equal(left, right)),
    "<": _is_less,
    "<=": lambda left, right: pc.invert(_is_less(right, left)),
    ">": lambda left, right: _is_less(right, left),
    ">=": lambda left, right: pc.invert(_is_less(left, right)),
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "in": _is_in,
    "if": lambda condition, first, second: pc.if_else(pc.fill_null(condition, False), first, second),
    "is_null": pc.is_null,
    "if_null": pc.coalesce,
    "coalesce": pc.coalesce,
    "farm_hash": _farm_hash,
    "lower": _lower,
    "length": lambda texts: pc.binary_length(texts).cast(pa.int64()),
    "concat": _concat,
    "is_substr": partial(_search, pc.match_substring),
    "is_prefix": partial(_search, pc.starts_with),
    "abs": pc.abs,
    "greatest": lambda *values: reduce(_greater, values),
    "floor": lambda values: _to_int64(pc.floor(values)),
    "ceil": lambda values: _to_int64(pc.ceil(values)),
    "round": lambda values: _to_int64(pc.round(values, round_mode="half_towards_infinity")),
    "int64": _to_int64,
    "uint64": _to_uint64,
    "double": lambda values: values.cast(pa.float64(), safe=False),
    "parse_int64": partial(_parse, _INTEGER, pa.int64()),
    "parse_uint64": partial(_parse, "[0-9]+", pa.uint64()),
    "parse_double": partial(_parse, rf"{_INTEGER}(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?", pa.float64()),
    "numeric_to_string": _to_string,
    **{
        f"timestamp_floor_{unit}": partial(_floor_time, unit=unit)
        for unit in ("hour", "day", "week", "month", "quarter", "year")
    },
}
"""Of functions that are not here each row is evaluated."""
