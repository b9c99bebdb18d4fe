"""Functions on bytes and codes: UTF-8, base64, hexadecimal digits, UUIDs, URLs, digests.

Text that is given for bytes is hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from functools import partial
from typing import Final
from urllib.parse import quote_plus
from uuid import UUID

from trellis.dialects.pinot.functions.arguments import FunctionError, as_bytes, as_text
from trellis.dialects.pinot.functions.registry import Theme

CODECS: Final = Theme()
_ESCAPED: Final = re.compile(r"[0-9a-fA-F]{2}|\+[0-9a-fA-F]|-0")
"""What Java reads as a byte of two hexadecimal digits: one may be a sign."""


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


@CODECS.function("toUUIDBytes", as_text)
def _to_uuid(text: str) -> bytes | None:
    """The 16 bytes of a UUID; null for any other text."""
    try:
        return UUID(text).bytes if text.count("-") == 4 else None
    except ValueError:
        return None


@CODECS.function("fromUUIDBytes", as_bytes)
def _from_uuid(data: bytes) -> str:
    """The UUID of 16 bytes."""
    if len(data) != 16:
        raise FunctionError(f"a UUID has 16 bytes, not {len(data)}")
    return str(UUID(bytes=data))


@CODECS.function("encodeUrl urlEncode", as_text)
def _encode_url(text: str) -> str:
    """The text as a part of the query of a URL."""
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


@CODECS.function("decodeUrl", as_text)
def _decode_url(text: str) -> str:
    """The text that a part of the query of a URL stands for."""
    decoded = bytearray()
    position = 0
    while position < len(text):
        sign = text[position]
        if sign != "%":
            decoded += b" " if sign == "+" else sign.encode("utf-8", "replace")
            position += 1
            continue
        digits = _ESCAPED.match(text, position + 1)
        if not digits:
            raise FunctionError(f"two hexadecimal digits are expected after the % in {text[:60]!r}")
        decoded.append(int(digits[0], 16))
        position += 3
    return decoded.decode("utf-8", "replace")


@CODECS.function("urlDecode", as_text)
def _decode_url_or_null(text: str) -> str | None:
    """As decodeUrl; null where a % is not followed by two hexadecimal digits."""
    try:
        return str(_decode_url(text))
    except FunctionError:
        return None


def _digest(algorithm: str, data: bytes) -> str:
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


for _name, _algorithm in (("md5", "md5"), ("sha", "sha1"), ("sha256", "sha256"), ("sha512", "sha512")):
    CODECS.function(_name, as_bytes)(partial(_digest, _algorithm))
