"""Functions on bytes and codes: UTF-8, base64, hexadecimal digits, UUIDs, URLs, digests.

Text that is given for bytes is hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from functools import partial
from typing import Final

from trellis.dialects.pinot.functions.registry import FunctionError, Theme, as_bytes, as_text

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
