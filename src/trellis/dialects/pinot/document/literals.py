"""The literals of a document for default values, and the values they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import FormatError
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.document.json_output import compact
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.numbers import parse_decimal, parse_double, parse_float, parse_whole
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, CannotConvert


def parse_default(data_type: PinotType, literal: Any) -> Value:
    """The value of a `defaultNullValue` literal, a JSON value that is not null.

    A number with a fraction is a double here, as in Pinot: a BIG_DECIMAL keeps all digits and its scale only
    if it is written as text. Raises CannotConvert with Pinot's sentence.

    >>> parse_default(PinotType.BOOLEAN, "yes"), parse_default(PinotType.STRING, {"a": 1})
    (0, '{"a":1}')
    >>> parse_default(PinotType.INT, 1.5)
    Traceback (most recent call last):
    CannotConvert: Cannot convert value: '1.5' to type: INT
    """
    text = literal_text(literal)
    try:
        return _PARSERS[data_type](text)
    except (ValueError, KeyError) as error:
        raise CannotConvert(f"Cannot convert value: '{text}' to type: {data_type.value}") from error


def literal_text(literal: Any) -> str:
    """A JSON value as the text that Pinot parses: scalars as text, anything else as compact JSON."""
    if isinstance(literal, str):
        return literal
    return compact(literal).strip('"') if isinstance(literal, float) else compact(literal)


def _stamp(text: str) -> int:
    try:
        return timestamp_millis(text)
    except FormatError as error:
        raise ValueError(text) from error


def _bytes(text: str) -> bytes:
    if not re.fullmatch(r"[0-9a-fA-F]*", text):
        raise ValueError(text)
    return bytes.fromhex(text)


def _uuid(text: str) -> bytes:
    if not re.fullmatch(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        raise ValueError(text)
    return bytes.fromhex(text.replace("-", ""))


def _json(expected: type) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        value = json.loads(text)
        if not isinstance(value, expected):
            raise ValueError(text)
        return value

    return parse


_PARSERS: Final[Mapping[PinotType, Callable[[str], Value]]] = {
    PinotType.INT: partial(parse_whole, low=INT_MIN, high=INT_MAX),
    PinotType.LONG: parse_whole,
    PinotType.FLOAT: parse_float,
    PinotType.DOUBLE: parse_double,
    PinotType.BIG_DECIMAL: parse_decimal,
    PinotType.BOOLEAN: lambda text: int(text == "1" or text.lower() == "true"),
    PinotType.TIMESTAMP: _stamp,
    PinotType.STRING: str,
    PinotType.JSON: str,
    PinotType.BYTES: _bytes,
    PinotType.UUID: _uuid,
    PinotType.MAP: _json(dict),
    PinotType.LIST: _json(list),
    PinotType.OPEN_STRUCT: _json(dict),
    PinotType.STRUCT: _json(dict),
}
