"""Text of any kind as the JSON text that a JSON column stores."""

from __future__ import annotations

import json
from typing import Any, Final

from trellis.dialects.pinot.value.json_text.limits import NotJson, decimal_of, may_be_beyond
from trellis.dialects.pinot.value.json_text.rewriter import may_follow, rewrite_json
from trellis.dialects.pinot.value.json_text.writer import json_of, quoted


def json_from_text(text: str) -> str:
    """A text as it is stored: compact JSON of its first JSON value, or a JSON string of the whole text.

    Key order is kept, of equal keys the last value counts, decimals are normalised, a blank text is empty.
    Raises BeyondLimits (a CannotConvert) for a JSON text that Pinot's reader refuses for its size.

    >>> [json_from_text(text) for text in ('{"b":1, "a":1.10}', "100.0", "abc", " ")]
    ['{"b":1,"a":1.1}', '1E+2', '"abc"', '']
    """
    return json_with_end(text)[0]


def json_with_end(text: str) -> tuple[str, int]:
    """`json_from_text`, and where the JSON value ends in the text; its length where there is none."""
    if not text.strip(" \t\n\r"):
        return "", len(text)
    try:
        if may_be_beyond(text):
            return rewrite_json(text)
        return _convert_fast(text)
    except NotJson:
        return quoted(text), len(text)


def _convert_fast(text: str) -> tuple[str, int]:
    """As `rewrite_json`, for texts that cannot exceed a limit."""
    try:
        value, end = _READER.raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
    except (json.JSONDecodeError, _NonFiniteNumber):
        raise NotJson from None
    if not may_follow(text, end):
        raise NotJson
    try:
        written = _WRITER.encode(value)
    except _HasDecimal:
        return json_of(value, sort=False), end
    return json_of(value, sort=False) if "\\u00" in written else written, end


class _NonFiniteNumber(Exception):
    """NaN, Infinity or -Infinity, which Python takes and JSON does not have."""


class _HasDecimal(Exception):
    """A value that the standard library does not write."""


def _refuse_constant(_: str) -> Any:
    raise _NonFiniteNumber


def _refuse_value(_: Any) -> Any:
    raise _HasDecimal


_READER: Final = json.JSONDecoder(parse_float=decimal_of, parse_constant=_refuse_constant)
_WRITER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_refuse_value
)
