"""Functions on JSON: text or nested values of the row (spec pinot.md, section 5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.expression.json_path import UnsupportedPath, read_path
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_double,
    as_long,
    as_mapping,
    as_object,
    as_text,
    give_long,
)
from trellis.dialects.pinot.value.java_text import decimal_text
from trellis.dialects.pinot.value.json_exact import may_follow
from trellis.dialects.pinot.value.json_write import json_of
from trellis.dialects.pinot.value.kinds import LONG_MIN
from trellis.dialects.pinot.value.numerals import NotANumber, parse_double, parse_whole

JSON: Final = Theme()
BLANKS: Final = " \t\n\r"


def as_double_or_null(value: Any) -> float | None:
    """A number, or null."""
    return None if value is None else as_double(value)


def as_text_or_null(value: Any) -> str | None:
    """A text, or null."""
    return None if value is None else as_text(value)


def read_json(text: str) -> Any:
    """The first JSON value of a text. Raises FunctionError.

    >>> read_json('{"a": [1, 2.5]} rest')
    {'a': [1, 2.5]}
    """
    try:
        value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(BLANKS)))
    except (ValueError, RecursionError):
        end = -1
    if end < 0 or not may_follow(text, end):
        raise FunctionError(f"JSON is expected, not the text {text[:60]!r}")
    return value


def _refused(word: str) -> Any:
    raise ValueError(word)


_DECODER: Final = json.JSONDecoder(parse_constant=_refused)


def _at(value: Any, path: str) -> Any:
    """The value at a path of JSON text or of a nested value."""
    known = read_path(path)
    return known.value(read_json(value) if isinstance(value, str) else value)


def _at_or_null(value: Any, path: str) -> Any:
    """As `_at`; None where the value is null or no JSON, or the path is none."""
    if value is None:
        return None
    try:
        return _at(value, path)
    except UnsupportedPath:
        raise
    except FunctionError:
        return None


@JSON.function("jsonFormat", as_object)
def _json_format(value: Any) -> str:
    """A value as compact JSON text; a text becomes a JSON string."""
    return json_of(value, sort=False)


@JSON.function("toJsonMapStr", as_object, nullable=True)
def _to_json_map(value: Any) -> str:
    """A map, or the text of one, as compact JSON text."""
    if value is None:
        return "null"
    return json_of(as_mapping(read_json(value) if isinstance(value, str) else value), sort=False)


@JSON.function("jsonPath", as_object, as_text)
def _json_path(value: Any, path: str) -> Any:
    """What is at a path; null where there is nothing."""
    return _at(value, path)


@JSON.function("jsonPathExists", as_object, as_text)
def _json_path_exists(value: Any, path: str) -> bool:
    """Whether there is a value at a path that is not null."""
    return _at_or_null(value, path) is not None


def _as_json_text(found: Any) -> str:
    return found if isinstance(found, str) else json_of(found, sort=False)


@JSON.function("jsonPathString", as_object, as_text)
def _json_path_string(value: Any, path: str) -> str | None:
    """The text at a path; any other value as JSON text."""
    found = _at(value, path)
    return None if found is None else _as_json_text(found)


@JSON.function("jsonPathString", as_object, as_text, as_text_or_null, nullable=True)
def _json_path_string_or(value: Any, path: str, default: str | None) -> str | None:
    """As with two arguments; `default` where there is nothing, and for a null or a text that is no JSON."""
    found = _at_or_null(value, path)
    return default if found is None else _as_json_text(found)


@JSON.function("jsonPathLong", as_object, as_text, gives=give_long)
def _json_path_long(value: Any, path: str) -> int:
    """The whole number at a path; Long.MIN_VALUE where there is none."""
    return _long_at(value, path, LONG_MIN)


@JSON.function("jsonPathLong", as_object, as_text, as_long, gives=give_long, nullable=True)
def _json_path_long_or(value: Any, path: str, default: int) -> int:
    """The whole number at a path; `default` where there is none."""
    return _long_at(value, path, default)


def _long_at(value: Any, path: str, default: int) -> int:
    found = _at_or_null(value, path)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return as_long(found)
    try:
        return parse_whole(_plain(found))
    except NotANumber:
        return default


@JSON.function("jsonPathDouble", as_object, as_text)
def _json_path_double(value: Any, path: str) -> float:
    """The number at a path; NaN where there is none."""
    return _double_at(value, path, float("nan"))


@JSON.function("jsonPathDouble", as_object, as_text, as_double, nullable=True)
def _json_path_double_or(value: Any, path: str, default: float) -> float:
    """The number at a path; `default` where there is none."""
    return _double_at(value, path, default)


def _double_at(value: Any, path: str, default: float) -> float:
    found = _at_or_null(value, path)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return as_double(found)
    try:
        return parse_double(_plain(found))
    except NotANumber:
        return default


def _plain(found: Any) -> str:
    """A found value as text, if it is a text or an exact number; else empty."""
    if isinstance(found, str):
        return found
    return "" if found is None or isinstance(found, Mapping | list | tuple | bool) else decimal_text(found)


@JSON.function("jsonPathArray", as_object, as_text)
def _json_path_array(value: Any, path: str) -> list[Any] | None:
    """The list at a path; any other value as a list of one."""
    found = _at(value, path)
    return None if found is None else _listed(found)


@JSON.function("jsonPathArrayDefaultEmpty", as_object, as_text, nullable=True)
def _json_path_array_or_empty(value: Any, path: str) -> list[Any]:
    """As jsonPathArray; an empty list where there is nothing."""
    found = _at_or_null(value, path)
    return [] if found is None else _listed(found)


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]


@JSON.function("isJson", as_text)
def _is_json(text: str) -> bool:
    """Whether the text starts with a JSON value; an empty text counts."""
    if not text.strip(BLANKS):
        return True
    try:
        read_json(text)
    except FunctionError:
        return False
    return True
