"""JSON paths of Jayway that lead through names, places and all children.

    $.a.b  $['a']['b c']  $.a[0]  $.a[-1]  $.a[*]  $.*  $..b

A path that can only lead to one place is definite and gives that value; any other gives a list. What else
Jayway reads (conditions, slices, functions) is left to Pinot's own classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import FunctionError

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
