"""JSON text as columns hold it: compact, keys in their order; numbers in text that came stay as written."""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date, time
from enum import Enum
from math import isfinite
from typing import Any
from uuid import UUID

from trellis.evolution.scalars.values import MISFIT, HexBytes, JsonScalar


def plain(value: Any) -> Any:
    """The value behind an Enum or a UUID; anything else as it is."""
    if isinstance(value, Enum):
        return int(value.value) if isinstance(value, int) else str(value.value)
    return str(value) if isinstance(value, UUID) else value


def json_text(value: Any) -> str:
    """Compact JSON: keys in the given order, no escapes beyond the needed, decimals as text.

    >>> from decimal import Decimal
    >>> json_text({"é": [Decimal("1.50"), None]})
    '{"é":["1.50",null]}'
    """
    try:
        return _encode(value)
    except (TypeError, ValueError):
        return _encode(_jsonable(value))


def is_json(text: str) -> bool:
    """Whether it is one JSON value; lone halves of surrogate pairs are refused."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return "\\u" not in text or _SURROGATE.search(_TOKEN.sub(_minify_token, text)) is None


def minified(text: str) -> str | None:
    """JSON text without needless whitespace and escapes; None if it is no JSON.

    Numbers stay as they are written, whatever their size.

    >>> minified('{ "a": [1.0, 1e400] }')
    '{"a":[1.0,1e400]}'
    """
    if not is_json(text):
        return None
    return text if _SUPERFLUOUS.search(text) is None else _TOKEN.sub(_minify_token, text)


def text_of_bytes(value: bytes) -> str:
    return str(value) if isinstance(value, HexBytes) else b64encode(value).decode("ascii")


def iso(value: date | time) -> str:
    return value.isoformat()


def number_text(value: float) -> str:
    """A finite number: no zeros in front of an exponent, and no exponent for 0.00001 up to 0.0001.

    >>> [number_text(each) for each in (1e-07, 1.5e-05, -2.5, 1e22)]
    ['1e-7', '0.000015', '-2.5', '1e+22']
    """
    text = repr(value)
    if "e-0" not in text:
        return text
    digits, _, exponent = text.partition("e-0")
    if exponent != "5":
        return f"{digits}e-{exponent}"
    sign = "-" if digits[0] == "-" else ""
    return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"


def _refuse(word: str) -> Any:
    raise ValueError(word)


def default(value: Any) -> Any:
    """A value that JSON has no form for, as one that it has."""
    if isinstance(value, JsonScalar):
        return value.value
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return text_of_bytes(value if isinstance(value, bytes) else bytes(value))
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    return str(value)


def _jsonable(value: Any) -> Any:
    """The value with keys that are text and without NaN and infinities, which become text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return value if isfinite(value) else json.dumps(value)
    if isinstance(value, Mapping):
        return {_key(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(v) for v in value]
    return _jsonable(default(value))


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    text = _jsonable(key)
    return text if isinstance(text, str) else json_text(text)


def _encode(value: Any) -> str:
    text = _dumps(value)
    return _SMALL_NUMBERS.sub(_shorten_number, text) if "e-0" in text else text


def _shorten_number(token: re.Match[str]) -> str:
    text = token[0]
    return text if text[0] == '"' else number_text(float(text))


_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default).encode
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_refuse)

_SUPERFLUOUS = re.compile(r"[ \t\n\r]|\\[u/]")

_SMALL_NUMBERS = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e-0[0-9]')

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\n\r]+')

_SURROGATE = re.compile("[\ud800-\udfff]")


def _minify_token(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] != '"':
        return ""
    return _dumps(json.loads(text)) if "\\" in text else text


def json_of_text(text: str) -> Any:
    short = minified(text)
    return MISFIT if short is None else short
