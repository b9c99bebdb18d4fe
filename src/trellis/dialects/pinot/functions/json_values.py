"""Functions on JSON, text or nested values of the row, and the JSON paths of Jayway that they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import (
    FunctionError,
    Theme,
    as_double,
    as_long,
    as_mapping,
    as_object,
    as_text,
    long_result,
)
from trellis.dialects.pinot.value.json_text import first_json_value, json_of, may_follow
from trellis.dialects.pinot.value.numbers import NotANumber, decimal_text, parse_double, parse_whole
from trellis.dialects.pinot.value.source_kinds import LONG_MIN

Step = Callable[[Any], Iterator[Any]]
_STEP: Final = re.compile(
    r"""(?P<deep>\.\.)?\.?(?:
        (?P<all>\*|\[\s*\*\s*\])
        |(?P<name>[^.\[\]()'"\s*?,:]+)(?=[.\[]|$)
        |\[\s*(?:(?P<place>-?\d+)|'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]
    )""",
    re.VERBOSE,
)


class UnsupportedPath(FunctionError):
    """A path that Trellis does not follow; Pinot may."""


@dataclass(frozen=True)
class Path:
    """A path that was read. `definite`: it leads to one place at most."""

    steps: tuple[Step, ...]
    definite: bool

    def value(self, root: Any) -> Any:
        """One value of a definite path, None where there is none; the list of values of any other."""
        values = [root]
        for step in self.steps:
            values = [child for value in values for child in step(value)]
        if not self.definite:
            return values
        return values[0] if values else None


@lru_cache(maxsize=1024)
def read_path(text: str) -> Path:
    """Read a path; without `$` it starts at the root. Raises UnsupportedPath.

    >>> read_path("$.a[*].b").value({"a": [{"b": 1}, {"b": 2}]})
    [1, 2]
    >>> read_path("a[-1]").value({"a": [1, 2]})
    2
    """
    path = text.strip()
    path = path[1:] if path.startswith("$") else f".{path}"
    steps: list[Step] = []
    definite, position = True, 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or (match["name"] and path[position] != "."):
            raise UnsupportedPath(
                f"the JSON path {text[:80]!r} is not supported from {path[position:][:40]!r} on"
            )
        step = _step(match)
        steps.append(partial(_scan, step) if match["deep"] else step)
        definite = definite and not match["deep"] and not match["all"]
        position = match.end()
    return Path(tuple(steps), definite)


def _step(match: re.Match[str]) -> Step:
    if match["all"]:
        return _children_of
    if match["place"]:
        return partial(_element, int(match["place"]))
    quoted = match["single"] if match["single"] is not None else match["double"]
    return partial(_child, match["name"] if quoted is None else re.sub(r"(?s)\\(.)", r"\1", quoted))


def _child(name: str, value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping) and name in value:
        yield value[name]


def _element(place: int, value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple) and -len(value) <= place < len(value):
        yield value[place]


def _children_of(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value


def _scan(inner: Step, value: Any) -> Iterator[Any]:
    """What a step finds in a value and in all containers inside of it."""
    pending = [value]
    while pending:
        container = pending.pop()
        yield from inner(container)
        children = reversed(list(_children_of(container)))
        pending.extend(child for child in children if isinstance(child, Mapping | list | tuple))


JSON_DOCUMENTS: Final = Theme()


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
    return read_path(path).value(read_json(value) if isinstance(value, str) else value)


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


JSON_DOCUMENTS.function("jsonFormat", as_object)(partial(json_of, sort=False))


@JSON_DOCUMENTS.function("toJsonMapStr", as_object, nullable=True)
def _to_json_map(value: Any) -> str:
    """A map, or the text of one, as compact JSON text."""
    if value is None:
        return "null"
    return json_of(as_mapping(read_json(value) if isinstance(value, str) else value), sort=False)


JSON_DOCUMENTS.function("jsonPath", as_object, as_text)(_value_at)
JSON_DOCUMENTS.function("jsonPathExists", as_object, as_text)(
    lambda value, path: _value_at_or_null(value, path) is not None
)


def _as_json_text(value: Any) -> str:
    return value if isinstance(value, str) else json_of(value, sort=False)


@JSON_DOCUMENTS.function("jsonPathString", as_object, as_text)
def _json_path_string(value: Any, path: str) -> str | None:
    """The text at a path; any other value as JSON text."""
    value = _value_at(value, path)
    return None if value is None else _as_json_text(value)


@JSON_DOCUMENTS.function("jsonPathString", as_object, as_text, as_text_or_null, nullable=True)
def _json_path_string_or(value: Any, path: str, default: str | None) -> str | None:
    """As with two arguments; `default` where there is nothing, and for a null or invalid JSON."""
    value = _value_at_or_null(value, path)
    return default if value is None else _as_json_text(value)


@JSON_DOCUMENTS.function("jsonPathLong", as_object, as_text, result=long_result)
@JSON_DOCUMENTS.function("jsonPathLong", as_object, as_text, as_long, result=long_result, nullable=True)
def _json_path_long(value: Any, path: str, default: int = LONG_MIN) -> int:
    """The whole number at a path; `default` where there is none."""
    value = _value_at_or_null(value, path)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_long(value)
    try:
        return parse_whole(_plain(value))
    except NotANumber:
        return default


@JSON_DOCUMENTS.function("jsonPathDouble", as_object, as_text)
@JSON_DOCUMENTS.function("jsonPathDouble", as_object, as_text, as_double, nullable=True)
def _json_path_double(value: Any, path: str, default: float = float("nan")) -> float:
    """The number at a path; `default` where there is none."""
    value = _value_at_or_null(value, path)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_double(value)
    try:
        return parse_double(_plain(value))
    except NotANumber:
        return default


def _plain(value: Any) -> str:
    """A value as text if it is a text or an exact number; else empty."""
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, Mapping | list | tuple | bool) else decimal_text(value)


@JSON_DOCUMENTS.function("jsonPathArray", as_object, as_text)
def _json_path_array(value: Any, path: str) -> list[Any] | None:
    """The list at a path; any other value as a list of one."""
    value = _value_at(value, path)
    return None if value is None else _listed(value)


@JSON_DOCUMENTS.function("jsonPathArrayDefaultEmpty", as_object, as_text, nullable=True)
def _json_path_array_or_empty(value: Any, path: str) -> list[Any]:
    """As jsonPathArray; an empty list where there is nothing."""
    value = _value_at_or_null(value, path)
    return [] if value is None else _listed(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
