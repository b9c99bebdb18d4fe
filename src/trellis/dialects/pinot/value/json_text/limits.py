"""The limits of a JSON text, and the normal form of its numbers.

The limits are those of Jackson in Pinot: a text within them that is not JSON becomes a JSON string, a text
beyond them is an error.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from trellis.dialects.pinot.value.numbers.java_format import decimal_text
from trellis.dialects.pinot.value.numbers.parsing import NotANumber, parse_decimal
from trellis.dialects.pinot.value.numbers.rounding import without_trailing_zeros
from trellis.dialects.pinot.value.source_kinds import CannotConvert

MAX_DEPTH: Final = 1000
MAX_NAME_LENGTH: Final = 50_000
MAX_DIGITS: Final = 1000

_MANY_DIGITS: Final = re.compile(rf"\d{{{MAX_DIGITS // 3}}}")
_NESTED: Final = 100


class NotJson(ValueError):
    """A text that does not start with a JSON value."""


class BeyondLimits(CannotConvert):
    """A JSON text that Pinot's reader refuses because of its size, not of its syntax."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the text is not JSON that Pinot reads: {reason}")


def may_be_beyond(text: str) -> bool:
    """Whether a text may exceed a limit. False for nearly every text."""
    if len(text) <= _NESTED:
        return False
    if len(text) > MAX_NAME_LENGTH or text.count("[") + text.count("{") > _NESTED:
        return True
    return bool(_MANY_DIGITS.search(text))


def decimal_of(token: str) -> Decimal:
    """A JSON number with a fraction or an exponent, normalised. Raises BeyondLimits.

    >>> [decimal_text(decimal_of(text)) for text in ("1.10", "100.0", "-0.0", "1e5")]
    ['1.1', '1E+2', '0', '1E+5']
    """
    try:
        return without_trailing_zeros(parse_decimal(token))
    except NotANumber:
        raise BeyondLimits(f"the exponent of {token[:60]} does not fit 32 bits") from None


def number_text(token: str) -> str:
    """A JSON number as Pinot writes it again. Raises BeyondLimits.

    >>> number_text("1.10"), number_text("-0"), number_text("12")
    ('1.1', '0', '12')
    """
    if sum(map(str.isdigit, token)) > MAX_DIGITS:
        raise BeyondLimits(f"a number has more than {MAX_DIGITS} digits")
    if token.lstrip("-").isdigit():
        return "0" if token == "-0" else token
    return decimal_text(decimal_of(token))
