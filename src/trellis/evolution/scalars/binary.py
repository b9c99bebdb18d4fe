"""Bytes: what makes a binary of another value."""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from trellis.evolution.scalars.values import MISFIT, Convert, same
from trellis.schema.model import DataType

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}").fullmatch


def is_base64(text: str) -> bool:
    """Whether it is strict base64: nothing but the alphabet, and padded.

    >>> is_base64("aGk="), is_base64("aGk"), is_base64("a k=")
    (True, False, False)
    """
    return not len(text) & 3 and _BASE64(text) is not None  # so the padding is of the right length


def _binary_of_text(text: str) -> Any:
    if text.startswith("0x"):
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            return MISFIT
    return binascii.a2b_base64(text) if is_base64(text) else MISFIT


def _binary_of_int(value: int) -> Any:
    return value.to_bytes((value.bit_length() + 7) // 8, "little") if value >= 0 else MISFIT


BINARY: Final[Mapping[DataType, Convert]] = {
    "text": _binary_of_text,
    "bigint": _binary_of_int,
    "binary": same,
}
