"""Numbers in text, parsed as Java does."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN, round32

BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java's `trim` takes away: every character up to the blank."""

SCALE_MAX: Final = 2**31 - 1
LONGEST_WHOLE: Final = 100
_WHOLE: Final = re.compile(r"[+-]?\d+")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: Final = {"NaN": float("nan"), "Infinity": float("inf")}


class NotANumber(ValueError):
    """A text that Java does not read as a number of the kind asked for."""


def parse_whole(text: str, low: int = LONG_MIN, high: int = LONG_MAX) -> int:
    """`Integer.parseInt`, `Long.parseLong`: digits of any script with a sign. Raises NotANumber.

    The bounds are those of 32 bits or wider.

    >>> parse_whole("+7"), parse_whole("-007")
    (7, -7)
    >>> parse_whole("7.0")
    Traceback (most recent call last):
    NotANumber: ...
    """
    if len(text) < 10 and text.isascii() and text.isdigit():
        return int(text)
    if _WHOLE.fullmatch(text) and max(text) <= "\uffff":
        sign = text[0] if text[0] in "+-" else ""
        digits = text[len(sign) :].lstrip("0")
        if len(digits) <= LONGEST_WHOLE:
            value = int(sign + (digits or "0"))
            if low <= value <= high:
                return value
    raise NotANumber


def parse_double(text: str) -> float:
    """`Double.parseDouble`. Raises NotANumber.

    >>> [parse_double(text) for text in (" 1e5", "1d", "1f", "-Infinity", "0x1p3", "1e400")]
    [100000.0, 1.0, 1.0, -inf, 8.0, inf]
    """
    text = text.strip(BLANKS)
    body = text[:-1] if text[-1:] in ("f", "F", "d", "D") else text
    if _FLOAT.fullmatch(body):
        return float(body)
    if _HEX.fullmatch(text):
        try:
            return float.fromhex(text.rstrip("fFdD"))
        except OverflowError:
            return float("-inf" if text[0] == "-" else "inf")
    word = _WORDS.get(text.lstrip("+-") if len(text) < 10 and text[1:2] not in ("+", "-") else text)
    if word is None:
        raise NotANumber
    return -word if text[0] == "-" else word


def parse_float(text: str) -> float:
    """`Float.parseFloat`, by way of a double. Raises NotANumber.

    >>> parse_float("16777217"), parse_float("1e40")
    (16777216.0, inf)
    """
    return round32(parse_double(text))


def parse_decimal(text: str) -> Decimal:
    """`new BigDecimal(text)`: every digit is kept. Raises NotANumber.

    >>> parse_decimal("1e5"), parse_decimal("7.90"), parse_decimal("-0")
    (Decimal('1E+5'), Decimal('7.90'), Decimal('0'))
    """
    if not _DECIMAL.fullmatch(text) or max(text) > "\uffff":
        raise NotANumber
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise NotANumber from None
    if abs(int(value.as_tuple().exponent)) > SCALE_MAX:
        raise NotANumber
    return value or value.copy_abs()
