"""Values as compact JSON text, as Jackson writes it for Pinot."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache, partial
from json.encoder import encode_basestring as _quote
from typing import Any, Final
from uuid import UUID

from trellis.dialects.pinot.value.epochs import millis_of
from trellis.dialects.pinot.value.numbers.java_format import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, SourceKind, kind_of


def quoted(text: str) -> str:
    r"""A JSON string.

    >>> print(quoted('a"b\\c\n\x1f/é'))
    "a\"b\\c\n\u001f/é"
    """
    text_in_quotes: str = _quote(text)
    return text_in_quotes


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
            **_SCALARS,
            dict: self._map,
            list: self._list,
            tuple: self._list,
            datetime: partial(_millis, zone),
        }

    def text(self, value: Any) -> str:
        write = self._by_class.get(value.__class__)
        if write is None:
            write = self._by_class[_CLASSES[kind_of(value)]]
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
    bytes: lambda value: f'"{b64encode(value).decode()}"',
    date: lambda value: f'"{value.isoformat()}"',
    UUID: lambda value: f'"{value}"',
}
_CLASSES: Final[Mapping[SourceKind, type]] = {
    SourceKind.BOOLEAN: bool,
    SourceKind.INT: int,
    SourceKind.LONG: int,
    SourceKind.FLOAT: Float32,
    SourceKind.DOUBLE: float,
    SourceKind.BIG_DECIMAL: Decimal,
    SourceKind.TIMESTAMP: datetime,
    SourceKind.DATE: date,
    SourceKind.STRING: str,
    SourceKind.BYTES: bytes,
    SourceKind.UUID: UUID,
    SourceKind.MAP: dict,
    SourceKind.LIST: list,
}
