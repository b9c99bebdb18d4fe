"""Functions on lists. Functions that return a primitive array are missing: it cannot be stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trellis.dialects.pinot.functions.arguments import (
    as_double,
    as_int,
    as_list,
    as_long,
    as_object,
    as_text,
    int_result,
    long_result,
)
from trellis.dialects.pinot.functions.registry import Theme
from trellis.dialects.pinot.value.json_text.writer import utf16_key
from trellis.dialects.pinot.value.source_kinds import Float32

LISTS: Final = Theme()


def _as_float(value: Any) -> Float32:
    return Float32(as_double(value))


LISTS.function("arrayLength cardinality", as_list(as_object))(len)


@LISTS.function("arrayToString", as_list(as_text), as_text, as_text, optional=1)
def _to_string(values: list[str], separator: str, _null: str = "") -> str:
    """The values as one text."""
    return separator.join(values)


def _declare_element(
    kind: str, convert: Callable[[Any], Any], result: Callable[[Any], Any], absent: Any
) -> None:
    @LISTS.function(f"arrayElementAt{kind}", as_list(convert), as_int, result=result)
    def _element(values: list[Any], place: int) -> Any:
        """One value of a list, counted from 1; 0 or an empty text where it is missing."""
        return values[place - 1] if 0 < place <= len(values) else absent


_declare_element("Int", as_int, int_result, 0)
_declare_element("Long", as_long, long_result, 0)
_declare_element("Float", _as_float, as_object, Float32(0))
_declare_element("Double", as_double, as_object, 0.0)
_declare_element("String", as_text, as_object, "")


def _contains(values: list[Any], value: Any) -> bool:
    """Whether a value is in a list."""
    return value in values


LISTS.function("arrayContainsInt", as_list(as_int), as_int)(_contains)
LISTS.function("arrayContainsString", as_list(as_text), as_text)(_contains)
LISTS.function("arrayConcatString", as_list(as_text), as_list(as_text))(lambda left, right: [*left, *right])
LISTS.function("arrayDistinctString", as_list(as_text))(lambda values: list(dict.fromkeys(values)))
LISTS.function("arraySortString", as_list(as_text))(lambda values: sorted(values, key=utf16_key))
