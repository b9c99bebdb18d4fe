"""A smaller stream that shows the same difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from dialects.dlt.against_dlt.compare import Difference
from dialects.dlt.against_dlt.hunt import Found, compare
from dialects.dlt.against_dlt.known import unexplained
from dialects.dlt.against_dlt.streams import Load, Stream

BATCH = 6


def signature(one: Difference) -> tuple[str, ...]:
    """What makes two differences the same sort of thing."""
    if one.sort == "outcome":
        return one.sort, _error(one.theirs), _error(one.ours)
    variant = "variant" if "__v_" in one.column else ""
    return one.sort, variant, *_keys(one)


def _keys(one: Difference) -> tuple[str, ...]:
    if isinstance(one.theirs, dict) and isinstance(one.ours, dict) and one.sort == "schema column":
        changed_keys = {k for k in {*one.theirs, *one.ours} if one.theirs.get(k) != one.ours.get(k)}
        return (*sorted(changed_keys), f"{one.theirs.get('data_type')}/{one.ours.get('data_type')}")
    return ("absent",) if one.theirs is None else ("extra",) if one.ours is None else ()


def _error(text: str | None) -> str:
    """The class of the error in a text such as `load 0, normalize: KeyError: 'id'`."""
    return text.split(": ")[1] if text else ""


def smaller(stream: Stream, target: tuple[str, ...], way: str = "items", rounds: int = 40) -> Found:
    """Take away what can go while a difference of that signature stays."""
    ways = (way,)

    def shows(comparison: Found) -> bool:
        return any(signature(difference) == target for difference in unexplained(comparison, way)[0])

    best = compare([stream], ways=ways)[0]
    for _ in range(rounds):
        better = _first(best.stream, shows, ways)
        if better is None:
            return best
        best = better
    return best


def _first(stream: Stream, shows: Callable[[Found], bool], ways: Sequence[str]) -> Found | None:
    batch: list[Stream] = []
    for candidate in (*_candidates(stream), None):
        if candidate is not None:
            batch.append(candidate)
        if batch and (candidate is None or len(batch) == BATCH):
            for comparison in compare(batch, ways=ways):
                if shows(comparison):
                    return comparison
            batch = []
    return None


def _candidates(stream: Stream) -> Iterator[Stream]:
    loads = stream.loads
    for place in range(len(loads)):
        if len(loads) > 1:
            yield replace(stream, loads=(*loads[:place], *loads[place + 1 :]))
    for place, load in enumerate(loads):
        if len(load.items) > 2:
            half = len(load.items) // 2
            yield _with(stream, place, load.items[:half])
            yield _with(stream, place, load.items[half:])
    if stream.profile != "plain":
        yield replace(stream, profile="plain")
    if stream.table != "t":
        yield replace(stream, table="t")
    for name in loads[0].options:
        fewer_options = [
            replace(load, options={k: v for k, v in load.options.items() if k != name}) for load in loads
        ]
        yield replace(stream, loads=tuple(fewer_options))
    for place, load in enumerate(loads):
        for at in range(len(load.items)):
            yield _with(stream, place, [*load.items[:at], *load.items[at + 1 :]])
    for place, load in enumerate(loads):
        for at, item in enumerate(load.items):
            for less in _less(item):
                yield _with(stream, place, [*load.items[:at], less, *load.items[at + 1 :]])


def _with(stream: Stream, place: int, items: list[Any]) -> Stream:
    loads = list(stream.loads)
    loads[place] = Load(items, loads[place].options)
    return replace(stream, loads=tuple(loads))


def _less(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name in value:
            yield {k: v for k, v in value.items() if k != name}
        for name, member in value.items():
            for less in _less(member):
                yield {**value, name: less}
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, member in enumerate(value):
            for less in _less(member):
                yield [*value[:at], less, *value[at + 1 :]]
