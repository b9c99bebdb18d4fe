"""Paths into JSON values, as Jayway's library reads them for Pinot (spec pinot.md, section 5).

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

from trellis.dialects.pinot.expression.json_condition import Condition, PathError, condition
from trellis.dialects.pinot.expression.take import FunctionError

Values = Iterator[Any]
Step = Callable[[Any], Values]


class UnsupportedPath(FunctionError):
    """A path that Pinot reads and we do not."""


@dataclass(frozen=True)
class Path:
    """A path that was read. `definite`: it leads to one place at most."""

    steps: tuple[Step, ...]
    definite: bool

    def find(self, root: Any) -> list[Any]:
        """The values it leads to, in the order of the document."""
        found = [root]
        for step in self.steps:
            found = [each for value in found for each in step(value)]
        return found

    def value(self, root: Any) -> Any:
        """One value of a definite path, None where there is none; the list of values of any other."""
        found = self.find(root)
        if not self.definite:
            return found
        return found[0] if found else None


_NAME: Final = re.compile(r"[^.\[\]()'\"\s*?,:]+")
_WORDS: Final = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*""")
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
    said = text.strip()
    if not said:
        raise PathError("a JSON path is expected, not an empty text")
    if said[0] not in "$@":
        said = f"$.{said}"
    return _Reader(said).whole()


def _inner(text: str) -> Path:
    return read_path(text)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1
        self.definite = True

    def whole(self) -> Path:
        steps: list[Step] = []
        while self.at < len(self.text):
            steps.append(self.step())
        return Path(tuple(steps), self.definite)

    def wrong(self, expected: str) -> PathError:
        return PathError(
            f"{expected} is expected at character {self.at + 1} of the JSON path {self.text[:80]!r}"
        )

    def step(self) -> Step:
        if self.text.startswith("..", self.at):
            self.at += 2
            self.definite = False
            return _scan(self.bracket() if self.text.startswith("[", self.at) else self.name())
        if self.text[self.at] == "[":
            return self.bracket()
        if self.text[self.at] != ".":
            raise self.wrong(". or [")
        self.at += 1
        return self.bracket() if self.text.startswith("[", self.at) else self.name()

    def name(self) -> Step:
        if self.text.startswith("*", self.at):
            self.at += 1
            self.definite = False
            return _every
        found = _NAME.match(self.text, self.at)
        if not found:
            raise self.wrong("a name or *")
        self.at = found.end()
        if not self.text.startswith("(", self.at):
            return _child(found[0])
        if found[0] == "length" and self.text[self.at :] == "()":
            self.at += 2
            return _length
        raise UnsupportedPath(
            f"the function {found[0]}() in the JSON path {self.text[:80]!r} is not supported"
        )

    def bracket(self) -> Step:
        self.at += 1
        rest = self.text[self.at :].lstrip()
        if rest[:1] in ("'", '"'):
            return self.names()
        if rest.startswith("?"):
            return self.filter()
        end = self.text.find("]", self.at)
        if end < 0:
            raise self.wrong("]")
        inner, self.at = self.text[self.at : end], end + 1
        if inner.strip() == "*":
            self.definite = False
            return _every
        if _PLACES.fullmatch(inner):
            places = [int(each) for each in inner.split(",")]
            self.definite = self.definite and len(places) == 1
            return _at(places)
        span = _SPAN.fullmatch(inner)
        if not span:
            self.at -= len(inner) + 1
            raise self.wrong("a quoted name, a number, start:end, * or ?(...)")
        self.definite = False
        return _slice(int(span[1]) if span[1] else None, int(span[2]) if span[2] else None)

    def names(self) -> Step:
        names: list[str] = []
        while True:
            found = _WORDS.match(self.text, self.at)
            if not found:
                raise self.wrong("a quoted name")
            names.append(
                re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2], flags=re.DOTALL)
            )
            self.at = found.end()
            sign = self.text[self.at : self.at + 1]
            self.at += 1
            if sign == "]":
                break
            if sign != ",":
                self.at -= 1
                raise self.wrong(", or ]")
        if len(names) == 1:
            return _child(names[0])
        if self.at < len(self.text):
            raise UnsupportedPath(
                f"several names before the end of the JSON path {self.text[:80]!r} are not supported"
            )
        return _children(names)

    def filter(self) -> Step:
        start = self.text.find("(", self.at)
        if start < 0:
            raise self.wrong("?(...)")
        test, end = condition(self.text, start + 1, _inner)
        closing = re.compile(r"\s*\)\s*\]").match(self.text, end)
        if not closing:
            self.at = end
            raise self.wrong(")]")
        self.at = closing.end()
        self.definite = False
        return _where(test)


def _child(name: str) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, Mapping) and name in value:
            yield value[name]

    return step


def _children(names: list[str]) -> Step:
    def step(value: Any) -> Values:
        if isinstance(value, Mapping):
            yield {name: value[name] for name in names if name in value}

    return step


def _every(value: Any) -> Values:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value


def _at(places: list[int]) -> Step:
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
        waiting = [value]
        while waiting:
            one = waiting.pop()
            yield from inner(one)
            waiting.extend(
                each for each in reversed(list(_every(one))) if isinstance(each, Mapping | list | tuple)
            )

    return step
