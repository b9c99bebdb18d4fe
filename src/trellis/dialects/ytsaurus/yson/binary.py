"""YSON in its binary form, which stored values have: by the class of a value, as most are of few classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import Any, Final

from trellis.dialects.ytsaurus.yson.values import (
    MAX_INT64,
    MIN_INT64,
    YsonError,
    kind_of,
    split_attributes,
    to_bytes,
)

_BYTES: Final = [bytes([byte]) for byte in range(0x80)]
_DOUBLE: Final = Struct("<d")


def dump_binary(value: Any) -> bytes:
    """Raises YsonError."""
    encode = _BY_CLASS.get(value.__class__)
    return _encode_other(value) if encode is None else encode(value)


def dump_pairs(items: Mapping[Any, Any]) -> bytes:
    """The keys and values of a map, without its braces. Raises YsonError."""
    return b"".join(
        [_encode_string(check_key(key)) + b"=" + dump_binary(item) + b";" for key, item in items.items()]
    )


def dump_items(items: Iterable[Any]) -> bytes:
    """The items of a list, without its brackets. Raises YsonError."""
    return b"".join([dump_binary(item) + b";" for item in items])


def check_key(key: Any) -> str | bytes:
    """Raises YsonError for the key of a map that is no string."""
    if not isinstance(key, str | bytes):
        raise YsonError(f"the key {key!r} of a map is not a string")
    return key


def _encode_other(value: Any) -> bytes:
    """A value with attributes, an unsigned integer, or one of a subclass."""
    plain, attributes = split_attributes(value)
    prefix = b"<" + dump_pairs(attributes) + b">" if attributes else b""
    return prefix + _BY_KIND[kind_of(plain)](plain)


def _encode_string(text: str | bytes) -> bytes:
    data = to_bytes(text)
    return b"\x01" + _varint(len(data) << 1) + data


def _encode_int(value: int) -> bytes:
    if MIN_INT64 <= value <= MAX_INT64:
        return b"\x02" + _varint((value << 1) ^ (value >> 63))
    kind_of(value)
    return _encode_uint(value)


def _encode_uint(value: int) -> bytes:
    return b"\x06" + _varint(value)


def _encode_boolean(value: bool) -> bytes:
    return b"\x05" if value else b"\x04"


def _encode_double(value: float) -> bytes:
    return b"\x03" + _DOUBLE.pack(value)


def _encode_map(value: Mapping[Any, Any]) -> bytes:
    return b"{" + dump_pairs(value) + b"}"


def _encode_list(value: Iterable[Any]) -> bytes:
    return b"[" + dump_items(value) + b"]"


def _encode_null(value: None) -> bytes:
    return b"#"


def _varint(number: int) -> bytes:
    if number <= 0x7F:
        return _BYTES[number]
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


_BY_KIND: Final[Mapping[str, Callable[[Any], bytes]]] = {
    "null": _encode_null,
    "int64": _encode_int,
    "uint64": _encode_uint,
    "double": _encode_double,
    "boolean": _encode_boolean,
    "string": _encode_string,
    "list": _encode_list,
    "map": _encode_map,
}
_BY_CLASS: Final[Mapping[type, Callable[[Any], bytes]]] = {
    type(None): _encode_null,
    int: _encode_int,
    float: _encode_double,
    bool: _encode_boolean,
    str: _encode_string,
    bytes: _encode_string,
    list: _encode_list,
    tuple: _encode_list,
    dict: _encode_map,
}
