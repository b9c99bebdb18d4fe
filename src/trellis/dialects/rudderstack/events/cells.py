"""The cell of a value of an event.

A cell is an int, a float, a bool, a datetime (UTC, milliseconds) or text; the class of the text says where
it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any, Final

import orjson

from trellis.dialects.rudderstack.events.timestamps import Parse, in_utc, to_text

Cell = int | float | bool | datetime | str
LAST_PLAIN: Final = 1e21
"""From here on numbers without fraction are written with an exponent."""


class ArrayText(str):
    """JSON text of an array, or of an object kept whole: a string that a JSON column takes as JSON."""

    __slots__ = ()


class JsonText(str):
    """JSON text of a value that is to be a JSON column."""

    __slots__ = ()


class SpaceText(str):
    """Text of nothing but white space, which some warehouses load as NULL."""

    __slots__ = ()


class LongText(str):
    """Text that is of type text however short it is."""

    __slots__ = ()


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units.

    >>> utf16_length("né"), utf16_length("\N{GRINNING FACE}")
    (2, 2)
    """
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def is_blank(value: Any) -> bool:
    """Whether a value gives no cell.

    >>> [is_blank(value) for value in (None, "", [], [""], [[]])]
    [True, True, True, True, True]
    >>> [is_blank(value) for value in ({}, [None], 0, False, "  ")]
    [False, False, False, False, False]
    """
    if value is None:
        return True
    while value.__class__ is list:
        if len(value) != 1:
            return not value
        value = value[0]
        if value is None:
            return False
    return value.__class__ is str and not value


def to_plain(value: Any) -> Any:
    """A Python value as one that JSON has, or as a datetime.

    >>> to_plain(Decimal("5.00")), to_plain(("a", 1)), to_plain(date(2024, 2, 29))
    (5, ['a', 1], datetime.datetime(2024, 2, 29, 0, 0, tzinfo=datetime.timezone.utc))
    """
    if value is None:
        return None
    if isinstance(value, Enum):
        return to_plain(value.value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, date):
        return in_utc(value) or str(value)
    if isinstance(value, Decimal):
        return _number(value)
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


def join_spelled(item: Mapping[str, Any]) -> str | None:
    """The text whose characters an object has under 0, 1, 2 ... or 1, 2, 3 ..., or None where it is none.

    >>> join_spelled({"0": "j", "1": "o", "2": "e"}), join_spelled({"0": "joe"})
    ('joe', None)
    >>> join_spelled({"00": "j", "1": "o"})
    """
    letters: dict[int, str] = {}
    for key, letter in item.items():
        if not (key.__class__ is str and key.isdecimal() and key.isascii() and len(key) < 10):
            return None
        if letter.__class__ is not str or len(letter) != 1 or str(int(key)) != key:
            return None
        letters[int(key)] = letter
    first = min(letters, default=-1)
    if first not in (0, 1) or sorted(letters) != list(range(first, first + len(item))):
        return None
    return "".join(letters[number] for number in sorted(letters))


def scalar_cell(value: Any, parse: Parse) -> Cell | None:
    """The cell of a value that is neither blank nor an array or object; of those it is None.

    >>> from trellis.dialects.rudderstack.events.timestamps import parse
    >>> scalar_cell(5.0, parse), scalar_cell("5", parse), scalar_cell("", parse), scalar_cell({"a": 1}, parse)
    (5, '5', None, None)
    """
    kind = value.__class__
    if kind not in _JSON:
        value = to_plain(value)
        kind = value.__class__
    if kind is str:
        if not value:
            return None
        return SpaceText(value) if value.isspace() else parse(value) or value
    if kind is float:
        return int(value) if value.is_integer() else value
    return None if kind is dict or kind is list else value


def scalar_text(value: Any) -> str:
    """A value that is neither an array nor an object as text; "" where it is one, or blank.

    >>> scalar_text(77), scalar_text(77.0), scalar_text(True), scalar_text(["a"])
    ('77', '77', 'true', '')
    """
    if value.__class__ is str:
        return str(value)
    value = to_plain(value)
    if value.__class__ is datetime:
        return to_text(value)
    return "" if value is None or value.__class__ in (dict, list) else json_text(value)


def json_text(value: Any) -> str:
    """Compact JSON, keys in the order of their bytes, numbers without fraction as integers.

    >>> json_text({"b": [5.0, 1.5, None], "a": "<é>"})
    '{"a":"<é>","b":[5,1.5,null]}'
    """
    try:
        text = orjson.dumps(value, _to_json_value, _SORTED)
    except TypeError:  # an integer beyond 64 bits, more than 254 levels, a key that is no text
        return _render_json(value)
    if (b".0" in text or b"e+" in text) and _has_whole_float(value):
        return _render_json(value)
    return text.decode()


_SORTED: Final = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
_JSON: Final = frozenset((str, int, float, bool, dict, list, type(None)))


def _to_json_value(value: Any) -> Any:
    plain_value = to_plain(value)
    return to_text(plain_value) if plain_value.__class__ is datetime else plain_value


def _number(value: Decimal) -> int | float:
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def _has_whole_float(value: Any) -> bool:
    todo = [value]
    for item in todo:
        kind = item.__class__
        if kind is float:
            if item.is_integer():
                return True
        elif kind is list:
            todo += item
        elif kind is dict:
            todo += item.values()
        elif kind not in _JSON:
            todo.append(_to_json_value(item))
    return False


class _Token(str):
    """Text that is JSON already."""

    __slots__ = ()


def _render_json(value: Any) -> str:
    """`json_text` of any depth and any integers."""
    parts: list[str] = []
    todo = [value]
    while todo:
        current = todo.pop()
        kind = current.__class__
        if kind is _Token:
            parts.append(current)
        elif kind is dict:
            parts.append("{")
            todo.append(_Token("}"))
            keyed = sorted(((str(key), item) for key, item in current.items()), reverse=True, key=_key)
            for number, (key, item) in enumerate(keyed, 1):
                todo += (item, _Token(f"{'' if number == len(keyed) else ','}{_quoted(key)}:"))
        elif kind is list:
            parts.append("[")
            todo.append(_Token("]"))
            for number, item in enumerate(reversed(current), 1):
                todo += (item,) if number == len(current) else (item, _Token(","))
        elif kind is str:
            parts.append(_quoted(current))
        elif kind is int or kind is float:
            parts.append(_digits(current))
        elif kind is bool or current is None:
            parts.append(orjson.dumps(current).decode())
        else:
            todo.append(_to_json_value(current))
    return "".join(parts)


def _key(item: tuple[str, Any]) -> str:
    return item[0]


def _digits(number: float) -> str:
    if isinstance(number, float):
        if not isfinite(number):
            return "null"
        if not number.is_integer() or abs(number) >= LAST_PLAIN:
            return repr(number)
        number = int(number)
    try:
        return str(number)
    except ValueError:  # more digits than Python likes to print
        return f"{Decimal(number):f}"


def _quoted(text: str) -> str:
    try:
        return orjson.dumps(text).decode()
    except TypeError:  # half of a surrogate pair
        return json.dumps(text)
