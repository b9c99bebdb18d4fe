"""Functions on bytes: character sets and codes (spec pinot.md, section 5).

Text that is given for bytes is hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
from decimal import Decimal
from typing import Final
from uuid import UUID

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_bytes,
    as_decimal,
    as_long,
    as_text,
    give_long,
)

BYTES: Final = Theme()
_CHARSETS: Final = {
    "UTF-8": ("utf-8", "replace"),
    "US-ASCII": ("ascii", "replace"),
    "ASCII": ("ascii", "replace"),
    "ISO-8859-1": ("latin-1", "replace"),
    "UTF-16BE": ("utf-16-be", "replace"),
    "UTF-16LE": ("utf-16-le", "replace"),
}


@BYTES.function("toUtf8", as_text)
def _to_utf8(text: str) -> bytes:
    """The text in UTF-8."""
    return text.encode("utf-8", "replace")


@BYTES.function("fromUtf8", as_bytes)
def _from_utf8(data: bytes) -> str:
    """The text of bytes in UTF-8."""
    return data.decode("utf-8", "replace")


@BYTES.function("toAscii", as_text)
def _to_ascii(text: str) -> bytes:
    """The text in ASCII; other characters are question marks."""
    return text.encode("ascii", "replace")


@BYTES.function("fromAscii", as_bytes)
def _from_ascii(data: bytes) -> str:
    """The text of bytes in ASCII."""
    return data.decode("ascii", "replace")


@BYTES.function("toBytes", as_text, as_text)
def _to_bytes(text: str, charset: str) -> bytes | None:
    """The text in a character set; null for one that is not known."""
    if charset.upper() == "UTF-16":
        return b"\xfe\xff" + text.encode("utf-16-be", "replace")
    known = _CHARSETS.get(charset.upper())
    return text.encode(*known) if known else None


@BYTES.function("fromBytes", as_bytes, as_text)
def _from_bytes(data: bytes, charset: str) -> str | None:
    """The text of bytes in a character set; null for one that is not known."""
    known = _CHARSETS.get(charset.upper())
    return data.decode(*known) if known else None


@BYTES.function("toBase64", as_bytes)
def _to_base64(data: bytes) -> str:
    """The bytes as base64 text."""
    return base64.b64encode(data).decode()


@BYTES.function("fromBase64", as_text)
def _from_base64(text: str) -> bytes:
    """The bytes of a base64 text."""
    return _decoded(text.encode("utf-8", "replace"))


@BYTES.function("base64Encode", as_bytes)
def _base64_encode(data: bytes) -> bytes:
    """The bytes in base64, as bytes."""
    return base64.b64encode(data)


@BYTES.function("base64Decode", as_bytes)
def _base64_decode(data: bytes) -> bytes:
    """The bytes that bytes in base64 stand for."""
    return _decoded(data)


def _decoded(data: bytes) -> bytes:
    filled = data if b"=" in data else data + b"=" * (-len(data) % 4)
    try:
        return base64.b64decode(filled, validate=True)
    except binascii.Error:
        raise FunctionError(f"base64 is expected, not {data[:60]!r}") from None


@BYTES.function("hexToBytes", as_text)
def _hex_to_bytes(text: str) -> bytes:
    """The bytes of hexadecimal digits."""
    return as_bytes(text)


@BYTES.function("bytesToHex", as_bytes)
def _bytes_to_hex(data: bytes) -> str:
    """The bytes as hexadecimal digits."""
    return data.hex()


@BYTES.function("hexDecimalToLong", as_text, gives=give_long)
def _hex_to_long(text: str) -> int:
    """The number of hexadecimal digits, with 0x before them or not."""
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    try:
        value = int(digits, 16) if digits.lstrip("+-").isalnum() else None
    except ValueError:
        value = None
    if value is None or not -(2**63) <= value < 2**63:
        raise FunctionError(f"up to 64 bits in hexadecimal digits are expected, not {text[:60]!r}")
    return value


@BYTES.function("longToHexDecimal", as_long)
def _long_to_hex(value: int) -> str:
    """A number as hexadecimal digits."""
    return f"{value % 2**64:x}"


@BYTES.function("bigDecimalToBytes", as_decimal)
def _decimal_to_bytes(value: Decimal) -> bytes:
    """An exact number as 2 bytes of scale and its digits as a whole number."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    whole = int("".join(map(str, digits))) * (-1 if sign else 1)
    scale = -exponent
    if scale < 0:
        if scale < -10_000:
            raise FunctionError(f"an exact number with {-scale} zeros at its end does not fit into bytes")
        whole, scale = whole * 10**-scale, 0
    if scale > 0xFFFF:
        raise FunctionError(f"an exact number with {scale} decimal places does not fit into bytes")
    size = ((whole if whole >= 0 else ~whole).bit_length() + 8) // 8
    return scale.to_bytes(2, "big") + whole.to_bytes(size, "big", signed=True)


@BYTES.function("bytesToBigDecimal", as_bytes)
def _bytes_to_decimal(data: bytes) -> Decimal:
    """The exact number that bytes hold: 2 bytes of scale, then a whole number."""
    if len(data) < 3:
        raise FunctionError(f"an exact number takes 3 bytes or more, not {len(data)}")
    whole = int.from_bytes(data[2:], "big", signed=True)
    digits = tuple(map(int, str(abs(whole))))
    return Decimal((int(whole < 0), digits, -int.from_bytes(data[:2], "big")))


@BYTES.function("toUUIDBytes", as_text)
def _to_uuid(text: str) -> bytes | None:
    """The 16 bytes of a UUID; null for a text that is none."""
    try:
        return UUID(text).bytes if text.count("-") == 4 else None
    except ValueError:
        return None


@BYTES.function("fromUUIDBytes", as_bytes)
def _from_uuid(data: bytes) -> str:
    """The UUID of 16 bytes."""
    if len(data) != 16:
        raise FunctionError(f"a UUID has 16 bytes, not {len(data)}")
    return str(UUID(bytes=data))
