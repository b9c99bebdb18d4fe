"""Decimals in their binary form: big-endian, the top bit inverted, so that bytes sort as values do."""

from __future__ import annotations

from decimal import Decimal as Number
from decimal import InvalidOperation

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.model import Decimal


def byte_size(type: Decimal) -> int:
    """
    >>> [byte_size(Decimal(precision, 0)) for precision in (9, 18, 38, 76)]
    [4, 8, 16, 32]
    """
    return next(size for digits, size in ((9, 4), (18, 8), (38, 16), (76, 32)) if type.precision <= digits)


def encode_decimal(type: Decimal, text: str) -> bytes:
    """The bytes of a number, `nan`, `inf` or `-inf`. Raises YtError (307) if digits would be lost.

    >>> encode_decimal(Decimal(5, 2), "12.34").hex()
    '800004d2'
    """
    size = byte_size(type)
    highest = (1 << (8 * size - 1)) - 1
    special = {"nan": highest, "inf": highest - 1, "+inf": highest - 1, "-inf": 1 - highest}
    lowered = text.lower()
    unscaled = special[lowered] if lowered in special else _unscaled(type, text)
    return (unscaled + highest + 1).to_bytes(size, "big")


def decode_decimal(type: Decimal, data: bytes) -> str:
    """The text of a decimal. Raises YtError with the code 307 for bytes that are none.

    >>> decode_decimal(Decimal(5, 2), bytes.fromhex("7ffffffb"))
    '-0.05'
    """
    size = byte_size(type)
    if len(data) != size:
        raise _violation(f"a {type} has {size} bytes, not {len(data)}")
    highest = (1 << (8 * size - 1)) - 1
    unscaled = int.from_bytes(data, "big") - highest - 1
    special = {highest: "nan", highest - 1: "inf", 1 - highest: "-inf"}
    if unscaled in special:
        return special[unscaled]
    if abs(unscaled) >= 10**type.precision:
        raise _violation(f"{unscaled} has more than the {type.precision} digits of {type}")
    sign = "-" if unscaled < 0 else ""
    digits = str(abs(unscaled)).rjust(type.scale + 1, "0")
    point = len(digits) - type.scale
    return f"{sign}{digits[:point]}{'.' if type.scale else ''}{digits[point:]}"


def _unscaled(type: Decimal, text: str) -> int:
    try:
        sign, digits, exponent = Number(text).as_tuple()
    except InvalidOperation:
        raise _violation(f"{text!r} is not a number") from None
    if not isinstance(exponent, int):
        raise _violation(f"{text!r} is not a number")
    shift = exponent + type.scale
    whole = int("".join(map(str, digits)) or "0")
    if abs(shift) > 100:
        raise _violation(f"{text} does not fit {type}")
    if shift < 0 and whole % 10**-shift:
        raise _violation(f"{text} has more than the {type.scale} decimal places of {type}")
    unscaled: int = whole * 10**shift if shift >= 0 else whole // 10**-shift
    if unscaled >= 10**type.precision:
        raise _violation(f"{text} has more than the {type.precision} digits of {type}")
    return -unscaled if sign else unscaled


def _violation(message: str) -> YtError:
    return YtError(message, ErrorCode.SCHEMA_VIOLATION)
