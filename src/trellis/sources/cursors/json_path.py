"""The value at a path of keys: `updated_at`, `commit.author.date`, `$.items[0].at`, `items[*].at`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

MISSING = object()

_STEP = re.compile(r"\.?(?:\[(\*|\d+)\]|\[?'([^']*)'\]?|\[?\"([^\"]*)\"\]?|([^.\[\]]+))")


def is_one_name(path: str) -> bool:
    """Whether the path is just a key of the record.

    >>> is_one_name("updated_at"), is_one_name("commit.date")
    (True, False)
    """
    return re.search(r"[.$*\[\]]", path) is None


@lru_cache(1000)
def _steps(path: str) -> tuple[str | int, ...]:
    text, steps, at = path.removeprefix("$"), [], 0
    while at < len(text) and (step := _STEP.match(text, at)):
        index, *names = step.groups()
        name = next((member for member in names if member is not None), None)
        steps.append(name if name is not None else index if index == "*" else int(index))
        at = step.end()
    return tuple(steps)


def value_at(record: Any, path: str) -> Any:
    """The first value at the path, or MISSING.

    >>> value_at({"commit": {"date": 5}}, "commit.date"), value_at({"a.b": 1}, "a.b")
    (5, 1)
    """
    if isinstance(record, Mapping):
        if path in record:
            return record[path]
    elif hasattr(record, path):
        return getattr(record, path)
    return next(_found(record, _steps(path)), MISSING) if not is_one_name(path) else MISSING


def _found(within: Any, steps: tuple[str | int, ...]) -> Iterator[Any]:
    if not steps:
        yield within
        return
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(within, (list, Mapping)):
        for member in within.values() if isinstance(within, Mapping) else within:
            yield from _found(member, rest)
    elif isinstance(step, int):
        if isinstance(within, list) and step < len(within):
            yield from _found(within[step], rest)
    elif isinstance(within, Mapping) and step in within:
        yield from _found(within[step], rest)
