"""Expressions of computed columns as columns of Spark.

No operand stands twice in what is built, which would grow with the power of nested ones; `_let` binds those
that are needed twice. Integers wrap at 64 bits whatever Spark's ANSI mode says, as decimals hold what comes
before.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql import types as spark

from trellis.dialects.ytsaurus.computed.nodes import Call, Constant, Reference, TypedNode, ValueKind
from trellis.dialects.ytsaurus.spark.types import kind_in_spark

if TYPE_CHECKING:
    from pyspark.sql import Column

_TYPES: Final[Mapping[ValueKind, str]] = {
    "int64": "bigint",
    "uint64": "decimal(20,0)",
    "double": "double",
    "boolean": "boolean",
    "string": "binary",
    "any": "binary",
}
_SOURCES: Final[Mapping[ValueKind, tuple[str, ...]]] = {
    "int64": ("int64",),
    "uint64": ("int64",),
    "double": ("double",),
    "boolean": ("boolean",),
    "string": ("string", "binary"),
    "any": ("binary",),
}
"""What a column of a frame may hold to be one of a kind as it is."""


class NeedsPythonError(Exception):
    """Something that Spark has no expression for: farm_hash, times, texts of doubles, what is in `any`."""


def spark_expression(typed: TypedNode, fields: spark.StructType) -> Column:
    """The value of an expression for the rows of a frame. Raises NeedsPythonError.

    Where the expression fails, as in a division by zero, it is any value: such a row is refused when it is
    written.
    """
    match typed.node:
        case Constant(_, value):
            return _constant(typed.kind, value)
        case Reference(name):
            return _reference(name, typed.kind, fields)
        case Call(name) if name in _FUNCTIONS:
            kinds = [argument.kind for argument in typed.arguments]
            arguments = [spark_expression(argument, fields) for argument in typed.arguments]
            return _FUNCTIONS[name](kinds[-1], *arguments)
    raise NeedsPythonError


def column_named(name: str) -> Column:
    """The column of a frame with exactly this name."""
    return F.col("`{}`".format(name.replace("`", "``")))


def _constant(kind: ValueKind, value: Any) -> Column:
    if kind == "null":
        raise NeedsPythonError
    if value is None:
        return F.lit(None).cast(_TYPES[kind])
    match kind:
        case "string":
            return F.unhex(F.lit(value.hex()))
        case "uint64":
            return _big(int(value))
    return F.lit(value).cast(_TYPES[kind])


def _reference(name: str, kind: ValueKind, fields: spark.StructType) -> Column:
    values = fields[name].dataType if name in fields.names else spark.NullType()
    if kind == "null" or not (isinstance(values, spark.NullType) or kind_in_spark(values) in _SOURCES[kind]):
        raise NeedsPythonError
    column = column_named(name) if name in fields.names else F.lit(None)
    return column.try_cast(_TYPES[kind])


def _let(body: Callable[..., Column], *values: Column) -> Column:
    """What a function makes of values, each of which is computed once."""
    names = [f"_{index}" for index in range(len(values))]
    bound = F.array(F.struct(*(value.alias(name) for name, value in zip(names, values, strict=True))))
    return F.transform(bound, lambda struct: body(*(struct[name] for name in names)))[0]


# --- Numbers ---------------------------------------------------------------------------------------------


def _big(number: int) -> Column:
    return F.lit(str(number)).cast("decimal(20,0)")


def _signed(number: Column) -> Column:
    """A decimal wrapped into a signed integer of 64 bits."""
    return F.pmod(number + _big(2**63), _big(2**64)) - _big(2**63)


def _wrap(kind: ValueKind, number: Column) -> Column:
    if kind == "int64":
        return _signed(number).cast("bigint")
    return F.pmod(number, _big(2**64)).cast("decimal(20,0)") if kind == "uint64" else number


def _wide(kind: ValueKind, number: Column) -> Column:
    return number.cast("decimal(20,0)") if kind == "int64" else number


def _arithmetic(apply: Callable[..., Column]) -> Callable[..., Column]:
    return lambda kind, *numbers: _wrap(kind, apply(*(_wide(kind, number) for number in numbers)))


def _multiply(kind: ValueKind, left: Column, right: Column) -> Column:
    if kind == "uint64":
        left, right = _signed(left), _signed(right)  # the product of unsigned ones has too many digits
    return _wrap(kind, _wide(kind, left) * _wide(kind, right))


def _divide(kind: ValueKind, left: Column, right: Column) -> Column:
    if kind == "double":
        return _let(_divide_doubles, left, right)
    return _let(lambda dividend, divisor: _divide_integers(kind, dividend, divisor), left, right)


def _divide_integers(kind: ValueKind, left: Column, right: Column) -> Column:
    """A quotient by -1, and an unsigned one by 1, may be beyond the integer that Spark makes of it."""
    quotient = F.call_function("div", left, F.nullif(right, F.lit(0).cast(_TYPES[kind])))
    if kind == "uint64":
        return F.when(right == _big(1), left).otherwise(quotient.cast(_TYPES[kind]))
    return F.when(right == -1, _wrap(kind, -_wide(kind, left))).otherwise(quotient)


def _divide_doubles(left: Column, right: Column) -> Column:
    """By zero: infinite, with the signs of both, of which a comparison does not see that of zero."""
    sign = F.signum(left) * F.atan2(right, F.lit(-1.0))
    by_zero = F.when(F.isnan(left) | (left == 0.0), math.nan).otherwise(sign * math.inf)
    return F.when(right == 0.0, by_zero).otherwise(left / F.nullif(right, F.lit(0.0)))


def _remainder(kind: ValueKind, left: Column, right: Column) -> Column:
    """With the sign of the dividend."""
    return left % F.nullif(right, F.lit(0).cast(_TYPES[kind]))


def _to_bits(kind: ValueKind, number: Column) -> Column:
    return number if kind == "int64" else _signed(number).cast("bigint")


def _from_bits(kind: ValueKind, bits: Column) -> Column:
    return bits if kind == "int64" else _wrap(kind, bits.cast("decimal(20,0)"))


def _bitwise(apply: Callable[..., Column]) -> Callable[..., Column]:
    return lambda kind, *numbers: _from_bits(kind, apply(*(_to_bits(kind, number) for number in numbers)))


def _shift(kind: ValueKind, name: str, number: Column, shift: Column) -> Column:
    places = _to_bits(kind, shift).bitwiseAND(63).cast("int")
    return _from_bits(kind, F.call_function(name, _to_bits(kind, number), places))


def _to_int64(kind: ValueKind, number: Column) -> Column:
    return number.try_cast("bigint") if kind == "double" else _to_bits(kind, number)


def _to_uint64(kind: ValueKind, number: Column) -> Column:
    match kind:
        case "uint64":
            return number
        case "int64":
            return _wrap("uint64", number.cast("decimal(20,0)"))

    def convert(double: Column) -> Column:
        upper = (double - 2.0**63).try_cast("bigint").cast("decimal(20,0)") + _big(2**63)
        is_low = double < 2.0**63
        return F.when(is_low, double.try_cast("bigint").cast("decimal(20,0)")).otherwise(
            upper.cast("decimal(20,0)")
        )

    return _let(convert, number)


# --- Comparisons and texts -------------------------------------------------------------------------------


def _compare(apply: Callable[[Column, Column], Column]) -> Callable[..., Column]:
    """As fields of structs, where null is less than every value and equal to null."""
    return lambda _, left, right: apply(F.struct(left.alias("value")), F.struct(right.alias("value")))


def _is_in(_: ValueKind, value: Column, *items: Column) -> Column:
    structs = F.array(*(F.struct(item.alias("value")) for item in items))
    return _let(
        lambda bound, array: F.exists(array, lambda item: item["value"].eqNullSafe(bound)), value, structs
    )


def _greatest(_: ValueKind, *values: Column) -> Column:
    """Null where one is."""
    return _let(
        lambda array: F.when(~F.exists(array, lambda item: item.isNull()), F.array_max(array)),
        F.array(*values),
    )


def _lower(_: ValueKind, text: Column) -> Column:
    """Of letters of ASCII alone; a character of Latin-1 stands for each byte."""
    upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    lowered = F.translate(F.decode(text, "ISO-8859-1"), upper, upper.lower())
    return F.encode(lowered, "ISO-8859-1")


def _to_string(kind: ValueKind, number: Column) -> Column:
    if kind == "double":
        raise NeedsPythonError
    text = number.cast("string")
    return (F.concat(text, F.lit("u")) if kind == "uint64" else text).cast("binary")


def _same_kind(expected: ValueKind) -> Callable[..., Column]:
    def cast(kind: ValueKind, value: Column) -> Column:
        if kind != expected:
            raise NeedsPythonError
        return value

    return cast


def _parse(kind: ValueKind) -> Callable[..., Column]:
    return lambda _, text: text.cast("string").try_cast(_TYPES[kind])


_FUNCTIONS: Final[Mapping[str, Callable[..., Column]]] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "negate": _arithmetic(operator.neg),
    "abs": _arithmetic(F.abs),
    "<<": lambda kind, *numbers: _shift(kind, "shiftleft", *numbers),
    ">>": lambda kind, *numbers: _shift(
        kind, "shiftright" if kind == "int64" else "shiftrightunsigned", *numbers
    ),
    "|": _bitwise(lambda left, right: left.bitwiseOR(right)),
    "&": _bitwise(lambda left, right: left.bitwiseAND(right)),
    "~": _bitwise(F.bitwise_not),
    "=": _compare(operator.eq),
    "!=": _compare(operator.ne),
    "<": _compare(operator.lt),
    "<=": _compare(operator.le),
    ">": _compare(operator.gt),
    ">=": _compare(operator.ge),
    "and": lambda _, left, right: left & right,
    "or": lambda _, left, right: left | right,
    "not": lambda _, value: ~value,
    "in": _is_in,
    "if": lambda _, condition, first, second: F.when(condition, first).otherwise(second),
    "is_null": lambda _, value: value.isNull(),
    "if_null": lambda _, *values: F.coalesce(*values),
    "coalesce": lambda _, *values: F.coalesce(*values),
    "greatest": _greatest,
    "||": lambda _, *texts: F.concat(*texts),
    "concat": lambda _, *texts: F.concat(*texts),
    "lower": _lower,
    "length": lambda _, text: F.octet_length(text).cast("bigint"),
    "is_substr": lambda _, part, text: F.contains(text, part),
    "is_prefix": lambda _, prefix, text: F.startswith(text, prefix),
    "floor": lambda _, number: F.floor(number).try_cast("bigint"),
    "ceil": lambda _, number: F.ceil(number).try_cast("bigint"),
    "round": lambda _, number: F.round(number).try_cast("bigint"),
    "int64": _to_int64,
    "uint64": _to_uint64,
    "double": lambda _, number: number.cast("double"),
    "boolean": _same_kind("boolean"),
    "string": _same_kind("string"),
    "parse_int64": _parse("int64"),
    "parse_uint64": _parse("uint64"),
    "parse_double": _parse("double"),
    "numeric_to_string": _to_string,
}
"""Each takes the kind of its last argument, which its numbers share, and its arguments."""
