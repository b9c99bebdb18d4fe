"""Functions that change the type or the code of a value: cast, UTF-8, base64, hexadecimal digits, digests.

Text that is given for bytes is hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import (
    FunctionError,
    Theme,
    as_bytes,
    as_decimal,
    as_double,
    as_int,
    as_long,
    as_object,
    as_text,
    as_timestamp,
    long_result,
)
from trellis.dialects.pinot.value.json_text import json_from_text, json_of
from trellis.dialects.pinot.value.numbers import BLANKS, NotANumber, parse_whole
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Float32
from trellis.errors import nearest

CASTS: Final = Theme()


def _to_boolean(value: Any) -> bool:
    return value.strip().lower() in ("true", "1") if isinstance(value, str) else as_double(value) != 0


def _to_int(value: Any) -> int:
    return as_int(_whole_or_double(value, INT_MIN, INT_MAX) if isinstance(value, str) else value)


def _to_long(value: Any) -> int:
    number = _whole_or_double(value, LONG_MIN, LONG_MAX) if isinstance(value, str) else value
    return long_result(as_long(number))


def _whole_or_double(text: str, low: int, high: int) -> int | float:
    """The whole number of a text, else its double: cast takes 12.7 and 1e3, a column of LONG does not."""
    try:
        return parse_whole(text.strip(BLANKS), low, high)
    except NotANumber:
        return as_double(text)


_TARGETS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "INT": _to_int,
    "INTEGER": _to_int,
    "LONG": _to_long,
    "BIGINT": _to_long,
    "FLOAT": lambda value: Float32(as_double(value)),
    "DOUBLE": as_double,
    "DECIMAL": as_decimal,
    "BIG_DECIMAL": as_decimal,
    "BOOLEAN": _to_boolean,
    "TIMESTAMP": as_timestamp,
    "STRING": as_text,
    "VARCHAR": as_text,
    "JSON": lambda value: json_from_text(value) if isinstance(value, str) else json_of(value, sort=False),
    "BYTES": as_bytes,
    "VARBINARY": as_bytes,
}


@CASTS.function("cast", as_object, as_text)
def _cast(value: Any, target: str) -> Any:
    """One value as another type; written as cast(x AS LONG)."""
    convert = _TARGETS.get(target.upper())
    if convert is None:
        raise FunctionError(f"unknown type {target[:60]!r}{nearest(target.upper(), _TARGETS)}")
    if isinstance(value, list | tuple):
        raise FunctionError("cast takes one value, not a list")
    return convert(value)


CODECS: Final = Theme()


CODECS.function("toUtf8", as_text)(lambda text: text.encode("utf-8", "replace"))
CODECS.function("fromUtf8", as_bytes)(lambda data: data.decode("utf-8", "replace"))
CODECS.function("toBase64", as_bytes)(lambda data: base64.b64encode(data).decode())


@CODECS.function("fromBase64", as_text)
def _from_base64(text: str) -> bytes:
    """The bytes of a base64 text."""
    encoded = text.encode("utf-8", "replace")
    padded = encoded if b"=" in encoded else encoded + b"=" * (-len(encoded) % 4)
    try:
        return base64.b64decode(padded, validate=True)
    except binascii.Error:
        raise FunctionError(f"base64 is expected, not {encoded[:60]!r}") from None


CODECS.function("hexToBytes", as_text)(as_bytes)
CODECS.function("bytesToHex", as_bytes)(bytes.hex)


def _digest(algorithm: str, data: bytes) -> str:
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


for _name, _algorithm in (("md5", "md5"), ("sha", "sha1"), ("sha256", "sha256"), ("sha512", "sha512")):
    CODECS.function(_name, as_bytes)(partial(_digest, _algorithm))
