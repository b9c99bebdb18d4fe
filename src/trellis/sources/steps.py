"""What is done to the items of a resource on their way: map, filter, one to many, stop."""

from __future__ import annotations

import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from trellis.sources.cursors.frames import library_of, rows_in
from trellis.sources.event_loop import EventLoop, is_awaitable
from trellis.sources.item_hints import Marked, Materialize


@dataclass(frozen=True)
class Page:
    """Items that were yielded together, and what was said of them. `single`: one item, not a list."""

    items: list[Any]
    single: bool = False
    mark: Marked | None = None
    materialize: bool = False

    @property
    def value(self) -> Any:
        """As it was yielded."""
        return self.items[0] if self.single and self.items else self.items

    def of(self, items: list[Any]) -> Page:
        return replace(self, items=items)


def pages_of(value: Any, loop: EventLoop, mark: Marked | None = None) -> Iterator[Page]:
    """The pages of one yielded value: an item, a list of items, an iterator of such; None is nothing.

    Iterators and items may be asynchronous.
    """
    if isinstance(value, Marked):
        yield from pages_of(value.data, loop, value.within(mark))
    elif isinstance(value, list):
        yield Page(value, mark=mark, materialize=isinstance(value, Materialize))
    elif isinstance(value, (Iterator, AsyncIterator)):
        for item in loop.in_order(value):
            yield from pages_of(item, loop, mark)
    elif is_awaitable(value):
        yield from pages_of(loop.run(value), loop, mark)
    elif value is not None:
        yield Page([value], True, mark)


class Step(Protocol):
    def __call__(self, page: Page, loop: EventLoop) -> Iterator[Page]: ...


@dataclass(frozen=True)
class Map:
    function: Callable[[Any], Any]

    def __call__(self, page: Page, loop: EventLoop) -> Iterator[Page]:
        results = loop.results([self.function(item) for item in page.items])
        if page.single and len(results) == 1 and isinstance(results[0], list):
            yield replace(page, items=results[0], single=False)
        else:
            yield page.of([result for result in results if result is not None])


@dataclass(frozen=True)
class Filter:
    function: Callable[[Any], Any]

    def __call__(self, page: Page, loop: EventLoop) -> Iterator[Page]:
        answers = loop.results([self.function(item) for item in page.items])
        kept = [item for item, yes in zip(page.items, answers, strict=True) if yes]
        if kept or not page.items:
            yield page.of(kept)


@dataclass(frozen=True)
class YieldMap:
    function: Callable[[Any], Iterable[Any] | AsyncIterable[Any]]

    def __call__(self, page: Page, loop: EventLoop) -> Iterator[Page]:
        if not page.items:
            yield page
        for item in page.items:
            for value in loop.in_order(self.function(item)):
                yield from pages_of(value, loop, page.mark)


def through(pages: Iterator[Page], steps: Iterable[Step], loop: EventLoop) -> Iterator[Page]:
    """The pages after all steps."""
    for step in steps:
        pages = _through_one(pages, step, loop)
    return pages


def _through_one(pages: Iterator[Page], step: Step, loop: EventLoop) -> Iterator[Page]:
    for page in pages:
        yield from step(page, loop)


@dataclass
class Limit:
    """The first pages only, or the first rows, or those of so many seconds: pages are not divided."""

    most: int | None
    count_rows: bool = False
    seconds: float | None = None
    count: int = field(default=0, compare=False)
    start: float = field(default_factory=time.monotonic, compare=False)

    @property
    def left(self) -> int | None:
        """How many pages or rows still go on; None: any number."""
        return None if self.most is None else max(self.most - self.count, 0)

    @property
    def reached(self) -> bool:
        late = self.seconds is not None and time.monotonic() - self.start > self.seconds
        return late or self.left == 0

    def restarted(self) -> Limit:
        """The limit for one run."""
        return replace(self, start=time.monotonic())

    def takes(self, page: Page) -> bool:
        """Whether this page still goes on."""
        if self.reached:
            return False
        self.count += _rows(page) if self.count_rows else 1
        return True


def _rows(page: Page) -> int:
    return sum(rows_in(item) if library_of(item) else 1 for item in page.items)
