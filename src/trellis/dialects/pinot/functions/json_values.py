"""Functions on JSON, text or nested values of the row, and the JSON paths of Jayway that they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import (
    Function,
    FunctionError,
    as_double,
    as_long,
    as_object,
    as_text,
    long_result,
)
from trellis.dialects.pinot.value.json_text import first_json_value, json_of, may_follow
from trellis.dialects.pinot.value.numbers import NotANumber, decimal_text, parse_double, parse_whole
from trellis.dialects.pinot.value.source_kinds import LONG_MIN

Step = str | int | None
"""The key of a map, a place in a list, or None for all children."""
_STEP: Final = re.compile(
    r"""\.?(?:
        (?P<all>\*|\[\s*\*\s*\])
        |(?P<name>[^.\[\]()'"\s*?,:]+)(?=[.\[]|$)
        |\[\s*(?:(?P<place>-?\d+)|'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]
    )""",
    re.VERBOSE,
)


class UnsupportedPath(FunctionError):
    """A path that Trellis does not follow; Pinot may."""


@lru_cache(maxsize=1024)
def read_path(text: str) -> tuple[Step, ...]:
    """Read a path; without `$` it starts at the root. Raises UnsupportedPath.

    >>> read_path("$.a[*]['b c']"), read_path("a[-1]")
    (('a', None, 'b c'), ('a', -1))
    """
    path = text.strip()
    path = path[1:] if path.startswith("$") else f".{path}"
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or (match["name"] and path[position] != "."):
            raise UnsupportedPath(
                f"the JSON path {text[:80]!r} is not supported from {path[position:][:40]!r} on"
            )
        quoted = match["single"] if match["single"] is not None else match["double"]
        if match["all"]:
            steps.append(None)
        elif match["place"]:
            steps.append(int(match["place"]))
        else:
            steps.append(match["name"] if quoted is None else re.sub(r"(?s)\\(.)", r"\1", quoted))
        position = match.end()
    return tuple(steps)


def value_at(root: Any, path: tuple[Step, ...]) -> Any:
    """The value at a path, None where there is none; the list of values of a path to all children.

    >>> value_at({"a": [{"b": 1}, {"b": 2}]}, read_path("$.a[*].b"))
    [1, 2]
    """
    values = [root]
    for step in path:
        values = [child for value in values for child in _children(value, step)]
    return values if None in path else next(iter(values), None)


def _children(value: Any, step: Step) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values() if step is None else (value[step],) if step in value else ()
    if isinstance(value, list | tuple) and not isinstance(step, str):
        if step is None:
            return value
        return (value[step],) if -len(value) <= step < len(value) else ()
    return ()


def as_text_or_null(value: Any) -> str | None:
    """A text, or null."""
    return None if value is None else as_text(value)


def read_json(text: str) -> Any:
    """The first JSON value of a text. Raises FunctionError.

    >>> read_json('{"a": [1, 2.5]} rest')
    {'a': [1, 2.5]}
    """
    try:
        value, end = first_json_value(text)
    except (ValueError, RecursionError):
        end = -1
    if end < 0 or not may_follow(text, end):
        raise FunctionError(f"JSON is expected, not the text {text[:60]!r}")
    return value


def _value_at(value: Any, path: str) -> Any:
    """The value at a path of JSON text or of a nested value."""
    return value_at(read_json(value) if isinstance(value, str) else value, read_path(path))


def _value_at_or_null(value: Any, path: str) -> Any:
    """As `_value_at`; None for a null, invalid JSON, or an invalid path."""
    if value is None:
        return None
    try:
        return _value_at(value, path)
    except UnsupportedPath:
        raise
    except FunctionError:
        return None


def _text_of(value: Any, default: str | None = None) -> str | None:
    """A text as it is, any other value as JSON text."""
    if value is None:
        return default
    return value if isinstance(value, str) else json_of(value, sort=False)


def _number_of(value: Any, default: Any, convert: Callable[[Any], Any], parse: Callable[[str], Any]) -> Any:
    """A number, also one in a text; the default for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return convert(value)
    try:
        return parse(_plain(value))
    except NotANumber:
        return default


_long_of: Final = partial(_number_of, convert=as_long, parse=parse_whole)
_double_of: Final = partial(_number_of, convert=as_double, parse=parse_double)


def _plain(value: Any) -> str:
    """A value as text if it is a text or an exact number; else empty."""
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, Mapping | list | tuple | bool) else decimal_text(value)


def _list_of(value: Any) -> list[Any] | None:
    """A list; any other value as a list of one."""
    if value is None or isinstance(value, list | tuple):
        return None if value is None else list(value)
    return [value]


_AT: Final = (as_object, as_text)
FUNCTIONS: Final[tuple[Function, ...]] = (
    Function("jsonFormat", partial(json_of, sort=False), as_object),
    Function("jsonPath", _value_at, *_AT),
    Function("jsonPathExists", lambda value, path: _value_at_or_null(value, path) is not None, *_AT),
    Function("jsonPathString", lambda value, path: _text_of(_value_at(value, path)), *_AT),
    Function(
        "jsonPathString",
        lambda value, path, default: _text_of(_value_at_or_null(value, path), default),
        *_AT,
        as_text_or_null,
        nullable=True,
    ),
    Function(
        "jsonPathLong",
        lambda value, path: _long_of(_value_at_or_null(value, path), LONG_MIN),
        *_AT,
        result=long_result,
    ),
    Function(
        "jsonPathLong",
        lambda value, path, default: _long_of(_value_at_or_null(value, path), default),
        *_AT,
        as_long,
        result=long_result,
        nullable=True,
    ),
    Function(
        "jsonPathDouble", lambda value, path: _double_of(_value_at_or_null(value, path), float("nan")), *_AT
    ),
    Function(
        "jsonPathDouble",
        lambda value, path, default: _double_of(_value_at_or_null(value, path), default),
        *_AT,
        as_double,
        nullable=True,
    ),
    Function("jsonPathArray", lambda value, path: _list_of(_value_at(value, path)), *_AT),
    Function(
        "jsonPathArrayDefaultEmpty",
        lambda value, path: _list_of(_value_at_or_null(value, path)) or [],
        *_AT,
        nullable=True,
    ),
)
