"""Functions on lists (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trellis.dialects.pinot.expression.epoch_functions import divided
from trellis.dialects.pinot.expression.number_functions import quotient
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_double,
    as_int,
    as_long,
    as_object,
    as_text,
    give_int,
    give_long,
    several,
)
from trellis.dialects.pinot.expression.utf16 import LONGEST
from trellis.dialects.pinot.value.json_write import utf16_key
from trellis.dialects.pinot.value.kinds import Float32
from trellis.dialects.pinot.value.rounding import saturated

ARRAY: Final = Theme()


def as_float(value: Any) -> Float32:
    """A float of 32 bits."""
    return Float32(as_double(value))


@ARRAY.function("array arrayValueConstructor", rest=as_object)
def _array(*values: Any) -> list[Any]:
    """A list of the values; written as ARRAY[a, b] or array(a, b)."""
    return list(values)


@ARRAY.function("arrayLength cardinality", several(as_object))
def _length(values: list[Any]) -> int:
    """How many values a list has."""
    return len(values)


@ARRAY.function("arrayToString", several(as_text), as_text, as_text, optional=1)
def _to_string(values: list[str], between: str, _null: str = "") -> str:
    """The values as one text."""
    return between.join(values)


@ARRAY.function("arraysOverlap", several(as_text), several(as_text))
def _overlap(left: list[str], right: list[str]) -> bool:
    """Whether two lists have a value in common."""
    return not set(left).isdisjoint(right)


@ARRAY.function("arraySumInt", several(as_int), gives=give_int)
def _sum_int(values: list[int]) -> int:
    """The sum, as an int."""
    return sum(values)


@ARRAY.function("arraySumLong", several(as_long), gives=give_long)
def _sum_long(values: list[int]) -> int:
    """The sum, as a long."""
    return sum(values)


def _declare(kind: str, one: Callable[[Any], Any], give: Callable[[Any], Any], absent: Any) -> None:
    many = several(one)

    @ARRAY.function(f"arrayElementAt{kind}", many, as_int, gives=give)
    def _element(values: list[Any], place: int) -> Any:
        """One value of a list, counted from 1; 0 or an empty text where it is missing."""
        return values[place - 1] if 0 < place <= len(values) else absent

    def _given(values: list[Any]) -> list[Any]:
        return [give(each) for each in values]

    @ARRAY.function(f"arrayIndexesOf{kind}", many, one)
    def _indexes(values: list[Any], value: Any) -> list[int]:
        """All places at which a value stands, counted from 0."""
        return [at for at, each in enumerate(values) if each == value or (each != each and value != value)]

    @ARRAY.function(f"arrayConcat{kind}", many, many, gives=_given)
    def _concat(left: list[Any], right: list[Any]) -> list[Any]:
        """The values of two lists."""
        return [*left, *right]

    @ARRAY.function(f"arrayPushBack{kind}", many, one, gives=_given)
    def _push_back(values: list[Any], value: Any) -> list[Any]:
        """The list with a value after it."""
        return [*values, value]

    @ARRAY.function(f"arrayPushFront{kind}", many, one, gives=_given)
    def _push_front(values: list[Any], value: Any) -> list[Any]:
        """The list with a value before it."""
        return [value, *values]


for _kind, _one, _give, _absent in (
    ("Int", as_int, give_int, 0),
    ("Long", as_long, give_long, 0),
    ("Float", as_float, as_object, Float32(0)),
    ("Double", as_double, as_object, 0.0),
    ("String", as_text, as_object, ""),
):
    _declare(_kind, _one, _give, _absent)


def _declare_more(kind: str, one: Callable[[Any], Any], key: Callable[[Any], Any] | None) -> None:
    many = several(one)

    @ARRAY.function(f"arrayContains{kind}", many, one)
    def _contains(values: list[Any], value: Any) -> bool:
        """Whether a value is in a list."""
        return value in values

    @ARRAY.function(f"arrayIndexOf{kind}", many, one)
    def _index(values: list[Any], value: Any) -> int:
        """Where a value stands first, counted from 0; -1 where it does not."""
        return values.index(value) if value in values else -1

    @ARRAY.function(f"arrayDistinct{kind}", many)
    def _distinct(values: list[Any]) -> list[Any]:
        """The values without repeats."""
        return list(dict.fromkeys(values))

    @ARRAY.function(f"arraySort{kind}", many)
    def _sort(values: list[Any]) -> list[Any]:
        """The values in order."""
        return sorted(values, key=key)

    @ARRAY.function(f"arrayReverse{kind}", many)
    def _reverse(values: list[Any]) -> list[Any]:
        """The values backwards."""
        return values[::-1]

    @ARRAY.function(f"arrayRemove{kind}", many, one)
    def _remove(values: list[Any], value: Any) -> list[Any]:
        """The list without the first that is equal to a value."""
        at = values.index(value) if value in values else len(values)
        return [*values[:at], *values[at + 1 :]]

    @ARRAY.function(f"arrayUnion{kind}", many, many)
    def _union(left: list[Any], right: list[Any]) -> list[Any]:
        """The values of two lists without repeats."""
        return list(dict.fromkeys([*left, *right]))

    @ARRAY.function(f"arraySlice{kind}", many, as_int, as_int)
    def _slice(values: list[Any], start: int, end: int) -> list[Any]:
        """The values from `start`, counted from 0, up to and without `end`."""
        if not 0 <= start <= end <= len(values):
            raise FunctionError(f"places from 0 to {len(values)} are expected, not {start} to {end}")
        return values[start:end]


_declare_more("Int", as_int, None)
_declare_more("String", as_text, utf16_key)


@ARRAY.function("intersectIndices", several(as_int), several(as_int))
def _intersect(left: list[int], right: list[int]) -> list[int]:
    """The numbers of two sorted lists that are in both."""
    made: list[int] = []
    for value in left:
        if len(made) < len(right) and value == right[len(made)]:
            made.append(value)
    return made


def _declare_series(kind: str, one: Callable[[Any], Any], step: Callable[[Any, Any], int]) -> None:
    @ARRAY.function(f"generate{kind}Array", one, one, one)
    def _series(start: Any, end: Any, by: Any) -> list[Any]:
        """The numbers from `start` up to `end`, each greater by a third than the one before."""
        size = step(end - start, by)
        if not 0 <= size <= LONGEST:
            raise FunctionError(f"a list of {size} numbers is asked for; it may have 0 to {LONGEST}")
        made = []
        for _ in range(size):
            made.append(one(start))
            start = one(start + by)
        return made


def _whole_steps(span: int, by: int) -> int:
    return divided(span, by) + 1


def _steps_of_float(span: float, by: float) -> int:
    return saturated(Float32(Float32(quotient(Float32(span), by)) + 1), 32)


def _steps(span: float, by: float) -> int:
    return saturated(quotient(span, by) + 1, 32)


_declare_series("Int", as_int, _whole_steps)
_declare_series("Long", lambda value: give_long(as_long(value)), _whole_steps)
_declare_series("Float", as_float, _steps_of_float)
_declare_series("Double", as_double, _steps)
