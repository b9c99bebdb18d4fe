"""Compact JSON text as Jackson writes it for Pinot: of values, and of any text for a JSON column."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache, partial
from json.encoder import encode_basestring as quoted
from typing import Any, Final
from uuid import UUID

from trellis.dialects.pinot.value.numbers import (
    decimal_text,
    double_text,
    float_text,
    parse_decimal,
    without_trailing_zeros,
)
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, millis_of


def utf16_key(text: str) -> bytes:
    """What texts sort by in Java: their UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def json_of(value: Any, zone: str = "UTC", sort: bool = True) -> str:
    """A value as JSON text; the keys of maps are sorted at all levels. Raises CannotConvert.

    `zone` is the zone of datetimes that name none.

    >>> json_of({"z": 1, "a": {"y": 1.0}, "m": None, "b": b"ab"})
    '{"a":{"y":1.0},"b":"YWI=","m":null,"z":1}'
    """
    try:
        return _writer(zone, sort).text(value)
    except RecursionError:
        raise CannotConvert("a list or map nested hundreds of levels deep cannot become JSON") from None


class _Writer:
    def __init__(self, zone: str, sort: bool) -> None:
        self._sort = sort
        self._by_class: dict[type, Callable[[Any], str]] = {
            datetime: partial(_millis, zone),
            **_SCALARS,
            dict: self._map,
            list: self._list,
            tuple: self._list,
            Mapping: self._map,
        }

    def text(self, value: Any) -> str:
        write = self._by_class.get(value.__class__)
        if write is None:
            write = next((write for base, write in self._by_class.items() if isinstance(value, base)), None)
            if write is None:
                raise CannotConvert(f"a value of class {value.__class__.__name__} cannot become JSON")
        return write(value)

    def _list(self, value: Any) -> str:
        return f"[{','.join(map(self.text, value))}]"

    def _map(self, value: Mapping[Any, Any]) -> str:
        members = {key_text(key): entry for key, entry in value.items()}
        keys = (
            sorted(members, key=None if all(map(str.isascii, members)) else utf16_key)
            if self._sort
            else members
        )
        return "{" + ",".join([f"{quoted(key)}:{self.text(members[key])}" for key in keys]) + "}"


@lru_cache(maxsize=16)
def _writer(zone: str, sort: bool) -> _Writer:
    return _Writer(zone, sort)


def key_text(key: Any) -> str:
    """The key of a map as text. Raises CannotConvert for null, which cannot be one.

    >>> key_text("a"), key_text(7), key_text(True), key_text(1e8)
    ('a', '7', 'true', '1.0E8')
    """
    if key.__class__ is str:
        return str(key)
    if key is None:
        raise CannotConvert("null cannot be the key of a map: expected a text, a number or a date")
    text = json_of(key)
    return str(key) if text[0] in "[{" or isinstance(key, str) else text.strip('"')


def _millis(zone: str, value: datetime) -> str:
    return str(millis_of(value, zone))


def _number(text: str) -> str:
    return f'"{text}"' if text[-1] in "Ny" else text


def _int(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        raise CannotConvert(f"a whole number of {value.bit_length()} bits is too long for JSON") from None


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise CannotConvert(f"BIG_DECIMAL {value} cannot become JSON: expected a finite number")
    return decimal_text(value)


_SCALARS: Final[Mapping[type, Callable[[Any], str]]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: _int,
    float: lambda value: _number(double_text(value)),
    Float32: lambda value: _number(float_text(value)),
    Decimal: _decimal,
    str: quoted,
    **dict.fromkeys((bytes, bytearray, memoryview), lambda value: f'"{b64encode(value).decode()}"'),
    date: lambda value: f'"{value.isoformat()}"',
    UUID: lambda value: f'"{value}"',
}
_BLANKS: Final = " \t\n\r"


def json_from_text(text: str) -> str:
    """A text as it is stored: compact JSON of its first JSON value, or a JSON string of the whole text.

    Key order is kept, of equal keys the last value counts, decimals are normalised, a blank text is empty.
    Raises CannotConvert for a JSON text that is nested too deep, or with too long a number.

    >>> [json_from_text(text) for text in ('{"b":1, "a":1.10}', "100.0", "abc", " ")]
    ['{"b":1,"a":1.1}', '1E+2', '"abc"', '']
    """
    return json_with_end(text)[0]


def json_with_end(text: str) -> tuple[str, int]:
    """`json_from_text`, and where the JSON value ends in the text; its length where there is none."""
    start = len(text) - len(text.lstrip(_BLANKS))
    if start == len(text):
        return "", start
    try:
        value, end = _READER.raw_decode(text, start)
        if not may_follow(text, end):
            return quoted(text), len(text)
        return _WRITER.encode(value), end
    except (json.JSONDecodeError, _NonFiniteNumber):
        return quoted(text), len(text)
    except _HasDecimal:
        return json_of(value, sort=False), end
    except RecursionError:
        raise CannotConvert("the text is JSON that is nested hundreds of levels deep") from None
    except ValueError:
        raise CannotConvert("the text is JSON with a number that is too long or too large") from None


def first_json_value(text: str) -> tuple[Any, int]:
    """The first JSON value of a text, and where it ends. Raises ValueError or RecursionError without one."""
    return _PLAIN_READER.raw_decode(text, len(text) - len(text.lstrip(_BLANKS)))


def may_follow(text: str, end: int) -> bool:
    """Whether the text after a top-level value that ends here is allowed.

    Only a blank is allowed after a number; after a word, nothing that would make it longer.
    """
    after = text[end : end + 1]
    if not after or after in _BLANKS or text[end - 1] in '"]}':
        return True
    if text[end - 1].isdigit():
        return False
    return not (after.isalnum() or after in "_$")


class _NonFiniteNumber(ValueError):
    """NaN, Infinity or -Infinity, which Python takes and JSON does not have."""


class _HasDecimal(Exception):
    """A value that the standard library does not write."""


def _decimal_of(token: str) -> Decimal:
    """A number with a fraction or an exponent, normalised."""
    return without_trailing_zeros(parse_decimal(token))


def _refuse_constant(_: str) -> Any:
    raise _NonFiniteNumber


def _refuse_value(_: Any) -> Any:
    raise _HasDecimal


_PLAIN_READER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_READER: Final = json.JSONDecoder(parse_float=_decimal_of, parse_constant=_refuse_constant)
_WRITER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_refuse_value
)


def compact(value: Any) -> str:
    """The value as JSON without blanks.

    >>> compact({"b": 1, "a": [1.10, "x", None, 1e20]})
    '{"b":1,"a":[1.1,"x",null,1.0E20]}'
    """
    return json_of(value, sort=False)


def pretty(value: Any, indent: str = "") -> str:
    """The value as JSON over several lines, as the controller answers it.

    >>> print(pretty({"a": [{"b": 1}], "c": {}, "d": ["x", "y"]}))
    {
      "a" : [ {
        "b" : 1
      } ],
      "c" : { },
      "d" : [ "x", "y" ]
    }
    """
    if isinstance(value, Mapping):
        if not value:
            return "{ }"
        inner = indent + "  "
        items = (f"{inner}{quoted(str(key))} : {pretty(entry, inner)}" for key, entry in value.items())
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list | tuple):
        return "[ " + ", ".join(pretty(element, indent) for element in value) + " ]" if value else "[ ]"
    return compact(value)
