"""Text of any kind as the JSON text that a JSON column stores."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.value.json_text.writer import json_of, quoted
from trellis.dialects.pinot.value.numbers.parsing import NotANumber, parse_decimal
from trellis.dialects.pinot.value.numbers.rounding import without_trailing_zeros
from trellis.dialects.pinot.value.source_kinds import CannotConvert

MAX_DIGITS: Final = 1000
"""How many digits of a number Jackson reads in Pinot."""
_BLANKS: Final = " \t\n\r"


class BeyondLimits(CannotConvert):
    """A JSON text that Pinot's reader refuses because of its size, not of its syntax."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the text is not JSON that Pinot reads: {reason}")


def json_from_text(text: str) -> str:
    """A text as it is stored: compact JSON of its first JSON value, or a JSON string of the whole text.

    Key order is kept, of equal keys the last value counts, decimals are normalised, a blank text is empty.
    Raises BeyondLimits (a CannotConvert) for a JSON text that is nested too deep, or with too long a number.

    >>> [json_from_text(text) for text in ('{"b":1, "a":1.10}', "100.0", "abc", " ")]
    ['{"b":1,"a":1.1}', '1E+2', '"abc"', '']
    """
    return json_with_end(text)[0]


def json_with_end(text: str) -> tuple[str, int]:
    """`json_from_text`, and where the JSON value ends in the text; its length where there is none."""
    start = len(text) - len(text.lstrip(_BLANKS))
    if start == len(text):
        return "", start
    reader = _READER if len(text) <= MAX_DIGITS else _LIMITED_READER
    try:
        value, end = reader.raw_decode(text, start)
        if not may_follow(text, end):
            return quoted(text), len(text)
        written = _WRITER.encode(value)
    except (json.JSONDecodeError, _NonFiniteNumber):
        return quoted(text), len(text)
    except RecursionError:
        raise BeyondLimits("it is nested hundreds of levels deep") from None
    except _HasDecimal:
        return json_of(value, sort=False), end
    return written, end


def may_follow(text: str, end: int) -> bool:
    """Whether the text after a top-level value that ends here is allowed.

    Only a blank is allowed after a number; after a word, nothing that would make it longer.
    """
    after = text[end : end + 1]
    if not after or after in _BLANKS or text[end - 1] in '"]}':
        return True
    if text[end - 1].isdigit():
        return False
    return not (after.isalnum() or after in "_$")


class _NonFiniteNumber(Exception):
    """NaN, Infinity or -Infinity, which Python takes and JSON does not have."""


class _HasDecimal(Exception):
    """A value that the standard library does not write."""


def _decimal_of(token: str) -> Decimal:
    """A number with a fraction or an exponent, normalised."""
    _check_digits(token)
    try:
        return without_trailing_zeros(parse_decimal(token))
    except NotANumber:
        raise BeyondLimits(f"the exponent of {token[:60]} does not fit 32 bits") from None


def _whole_of(token: str) -> int:
    _check_digits(token)
    return int(token)


def _check_digits(token: str) -> None:
    if len(token) > MAX_DIGITS and sum(map(str.isdigit, token)) > MAX_DIGITS:
        raise BeyondLimits(f"a number has more than {MAX_DIGITS} digits")


def _refuse_constant(_: str) -> Any:
    raise _NonFiniteNumber


def _refuse_value(_: Any) -> Any:
    raise _HasDecimal


_READER: Final = json.JSONDecoder(parse_float=_decimal_of, parse_constant=_refuse_constant)
_LIMITED_READER: Final = json.JSONDecoder(
    parse_float=_decimal_of, parse_int=_whole_of, parse_constant=_refuse_constant
)
_WRITER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_refuse_value
)
