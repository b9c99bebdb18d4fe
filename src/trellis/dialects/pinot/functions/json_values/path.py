"""JSON paths.

    $.a.b  $['a']['b c']  $.a[0]  $.a[-1]  $.a[0,2]  $.a[1:3]  $.a[*]  $.*  $..b  $.a[?(@.x > 1)]  $.length()

A path that can only lead to one place is definite and gives that value; any other gives a list. Other
functions of the library (`sum()`, `keys()`, ...) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from trellis.dialects.pinot.functions.arguments import FunctionError
from trellis.dialects.pinot.functions.json_values.condition import Condition, PathError, read_condition

Values = Iterator[Any]
Step = Callable[[Any], Values]


class UnsupportedPath(FunctionError):
    """A path that Pinot reads and Trellis does not."""


@dataclass(frozen=True)
class Path:
    """A path that was read. `definite`: it leads to one place at most."""

    steps: tuple[Step, ...]
    definite: bool

    def find(self, root: Any) -> list[Any]:
        """The values it leads to, in the order of the document."""
        values = [root]
        for step in self.steps:
            values = [child for value in values for child in step(value)]
        return values

    def value(self, root: Any) -> Any:
        """One value of a definite path, None where there is none; the list of values of any other."""
        values = self.find(root)
        if not self.definite:
            return values
        return values[0] if values else None


_NAME: Final = re.compile(r"[^.\[\]()'\"\s*?,:]+")
_QUOTED: Final = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*""")
_PLACES: Final = re.compile(r"\s*-?\d+\s*(?:,\s*-?\d+\s*)*")
_SPAN: Final = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*-?\d*\s*)?")


@lru_cache(maxsize=1024)
def read_path(text: str) -> Path:
    """Read a path; without `$` it starts at the root. Raises PathError or UnsupportedPath.

    >>> read_path("$.a[*].b").value({"a": [{"b": 1}, {"b": 2}]})
    [1, 2]
    >>> read_path("a[-1]").value({"a": [1, 2]})
    2
    """
    path = text.strip()
    if not path:
        raise PathError("a JSON path is expected, not an empty text")
    if path[0] not in "$@":
        path = f"$.{path}"
    return _PathReader(path).read()


class _PathReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 1
        self.definite = True

    def read(self) -> Path:
        steps: list[Step] = []
        while self.position < len(self.text):
            steps.append(self.read_step())
        return Path(tuple(steps), self.definite)

    def unexpected(self, expected: str) -> PathError:
        return PathError(
            f"{expected} is expected at character {self.position + 1} of the JSON path {self.text[:80]!r}"
        )

    def read_step(self) -> Step:
        if self.text.startswith("..", self.position):
            self.position += 2
            self.definite = False
            return _scan(
                self.read_bracket() if self.text.startswith("[", self.position) else self.read_name()
            )
        if self.text[self.position] == "[":
            return self.read_bracket()
        if self.text[self.position] != ".":
            raise self.unexpected(". or [")
        self.position += 1
        return self.read_bracket() if self.text.startswith("[", self.position) else self.read_name()

    def read_name(self) -> Step:
        if self.text.startswith("*", self.position):
            self.position += 1
            self.definite = False
            return _children_of
        match = _NAME.match(self.text, self.position)
        if not match:
            raise self.unexpected("a name or *")
        self.position = match.end()
        if not self.text.startswith("(", self.position):
            return _child(match[0])
        if match[0] == "length" and self.text[self.position :] == "()":
            self.position += 2
            return _length
        raise UnsupportedPath(
            f"the function {match[0]}() in the JSON path {self.text[:80]!r} is not supported"
        )

    def read_bracket(self) -> Step:
        self.position += 1
        rest = self.text[self.position :].lstrip()
        if rest[:1] in ("'", '"'):
            return self.read_names()
        if rest.startswith("?"):
            return self.read_filter()
        end = self.text.find("]", self.position)
        if end < 0:
            raise self.unexpected("]")
        inner, self.position = self.text[self.position : end], end + 1
        if inner.strip() == "*":
            self.definite = False
            return _children_of
        if _PLACES.fullmatch(inner):
            places = [int(place) for place in inner.split(",")]
            self.definite = self.definite and len(places) == 1
            return _elements(places)
        span = _SPAN.fullmatch(inner)
        if not span:
            self.position -= len(inner) + 1
            raise self.unexpected("a quoted name, a number, start:end, * or ?(...)")
        self.definite = False
        return _slice(int(span[1]) if span[1] else None, int(span[2]) if span[2] else None)

    def read_names(self) -> Step:
        names: list[str] = []
        while True:
            match = _QUOTED.match(self.text, self.position)
            if not match:
                raise self.unexpected("a quoted name")
            name = match[1] if match[1] is not None else match[2]
            names.append(re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL))
            self.position = match.end()
            sign = self.text[self.position : self.position + 1]
            self.position += 1
            if sign == "]":
                break
            if sign != ",":
                self.position -= 1
                raise self.unexpected(", or ]")
        if len(names) == 1:
            return _child(names[0])
        if self.position < len(self.text):
            raise UnsupportedPath(
                f"several names before the end of the JSON path {self.text[:80]!r} are not supported"
            )
        return _sub_object(names)

    def read_filter(self) -> Step:
        start = self.text.find("(", self.position)
        if start < 0:
            raise self.unexpected("?(...)")
        test, end = read_condition(self.text, start + 1, read_path)
        closing = re.compile(r"\s*\)\s*\]").match(self.text, end)
        if not closing:
            self.position = end
            raise self.unexpected(")]")
        self.position = closing.end()
        self.definite = False
        return _where(test)


def _child(name: str) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, Mapping) and name in value:
            yield value[name]

    return step


def _sub_object(names: list[str]) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, Mapping):
            yield {name: value[name] for name in names if name in value}

    return step


def _children_of(value: Any) -> Values:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value


def _elements(places: list[int]) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, list | tuple):
            for place in places:
                if -len(value) <= place < len(value):
                    yield value[place]

    return step


def _slice(start: int | None, end: int | None) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, list | tuple):
            yield from value[start:end]

    return step


def _where(test: Condition) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, Mapping):
            if test(value):
                yield value
        elif isinstance(value, list | tuple):
            yield from filter(test, value)

    return step


def _length(value: Any) -> Values:
    if isinstance(value, Mapping | list | tuple):
        yield len(value)


def _scan(inner: Step) -> Step:
    def step(value: Any) -> Values:
        pending = [value]
        while pending:
            container = pending.pop()
            yield from inner(container)
            children = reversed(list(_children_of(container)))
            pending.extend(child for child in children if isinstance(child, Mapping | list | tuple))

    return step
