"""One resource while it is read: its function, its steps, its model, its cursor, its limit."""

from __future__ import annotations

from collections.abc import AsyncIterable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trellis.errors import UsageError
from trellis.sources import current
from trellis.sources.arguments import call
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.cursors.frames import after_cursor
from trellis.sources.event_loop import AT_ONCE, EventLoop, Turns, is_awaitable
from trellis.sources.extraction.parts import Part, Sorter, as_given, is_typed
from trellis.sources.extraction.threads import Threads
from trellis.sources.extraction.validation import Dropped, checker_of
from trellis.sources.files import Files
from trellis.sources.resources import Resource
from trellis.sources.schema_editor import SchemaEditor
from trellis.sources.steps import Page, pages_of, through


@dataclass(frozen=True)
class ExtractionContext:
    """What the resources of one extraction share. `state` is that of the source, and is written to."""

    schema: SchemaEditor
    state: dict[str, Any]
    loop: EventLoop
    threads: Threads


class Stream:
    """A resource in one run. The pages that go on reach its sorter, if it is loaded, and its transformers."""

    def __init__(self, resource: Resource, context: ExtractionContext) -> None:
        self.resource = resource
        self.loop = context.loop
        self.threads = context.threads
        self.turns = Turns(context.loop, self._room)
        self.now = current.Running(context.schema, context.state, resource)
        self.cursor = self._bind(context.state)
        self.limit = resource.limit.restarted() if resource.limit is not None else None
        self.checker = checker_of(context.schema.name, resource.name, resource.hints.common)
        hints = resource.hints
        if self.cursor is not None and hints.common.incremental is None:
            hints = hints.changed(resource.name, {"incremental": resource.incremental})
        self.sorter = Sorter(resource.name, hints)
        self.children: list[Stream] = []

    @property
    def finished(self) -> bool:
        """Whether nothing that comes any more goes on."""
        closed = self.cursor is not None and self.cursor.progress is not None and self.cursor.progress.closed
        return closed or (self.limit is not None and self.limit.reached)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its cursor left out."""
        progress = self.cursor.progress if self.cursor is not None else None
        return progress.notes if progress is not None else ()

    def as_given(self) -> Part | None:
        """The rows without looking at them, where nothing is done to them."""
        resource = self.resource
        checked = self.checker is not None and not is_typed(resource.data)
        if resource.steps or self.cursor or self.limit or self.children or checked:
            return None
        return as_given(resource.name, self.sorter.hints, resource.data)

    def read(self) -> Generator[Page]:
        """The pages of a resource that has no parent."""
        with self._running():
            data = self._called() if callable(self.resource.data) else self.resource.data
        several = isinstance(data, (Iterable, AsyncIterable)) and not isinstance(data, dict)
        values = self.loop.each_of(data if several and not is_typed(data) else (data,))
        if self.resource.parallelized:
            values = self.threads.one_ahead(values, self._running)
        try:
            yield from self._onward(self.turns.each(values))
        finally:
            values.close()

    def transform(self, page: Page) -> Iterator[Page]:
        """The pages that a transformer makes of one page of its parent."""
        steps = self.resource.parent_steps
        with self._running():
            pages = [*through(iter((page,)), steps, self.loop)]
        for changed in pages:
            if not self.finished and (changed.items or not steps):
                yield from self._onward(self.turns.take(self._transformed(changed.value)))

    def _transformed(self, value: Any) -> Any:
        if self.resource.parallelized:
            return self.threads.call(lambda: self._called(value), self._running)
        with self._running():
            return self._called(value)

    def rest(self) -> Iterator[Page]:
        """The pages of a transformer that were still waited for when its parent ended."""
        yield from self._onward(self.turns.rest())

    def _onward(self, values: Iterator[Any]) -> Iterator[Page]:
        first = (page for value in values for page in pages_of(value, self.loop))
        pages = through(first, self.resource.steps, self.loop)
        while not self.finished:
            with self._running():
                page = next(pages, None)
                left = self._after_cursor(self._checked(page)) if page is not None else None
            if page is None:
                return
            if left is not None and (self.limit is None or self.limit.takes(left)):
                yield left

    def _running(self) -> current.running:
        return current.running(self.now)

    def _bind(self, state: dict[str, Any]) -> Incremental[Any] | None:
        cursor, data = self.resource.incremental, self.resource.data
        if isinstance(data, Files) and (cursor or self.resource.steps):
            raise UsageError(
                f"resource {self.resource.name}: its files are read by the engine, so no step and no cursor"
                " gets their rows; read them in a function that yields the rows"
            )
        if self.resource.begins_anew:
            (state.get("resources") or {}).pop(self.resource.name, None)
        if cursor is None:
            return None
        return cursor.bound(self.resource.name, state, self.resource.hints.common.primary_key)

    def _called(self, *item: Any) -> Any:
        name = self.resource.name
        result = call(self.resource.data, name, self.resource.arguments, self.cursor, *item)
        if isinstance(result, Resource):
            raise UsageError(
                f"resource {name}: its function gave a resource, but it gives rows; leave"
                " trellis.resource out"
            )
        if is_awaitable(result) and not item:
            result = self.loop.run(result)
        if result is None and not item:
            raise UsageError(f"resource {name}: its function gave nothing; yield rows, or return a list")
        return result

    def _room(self) -> int:
        left = self.limit.left if self.limit is not None else None
        return AT_ONCE if left is None else min(AT_ONCE, left)

    def _checked(self, page: Page) -> Page:
        """The page with its items as the model has them; those it turns away are counted."""
        if self.checker is None or not page.items:
            return page
        results = [item if is_typed(item) else self.checker(item) for item in page.items]
        turned_away = [result for result in results if isinstance(result, Dropped)]
        for item in (*turned_away, *self.checker.take_removed()):
            self.sorter.drop(item, page)
        return page.of([result for result in results if not isinstance(result, Dropped)])

    def _after_cursor(self, page: Page) -> Page | None:
        """The page with what is new; None where nothing is."""
        if not page.items:
            return page if page.materialize or page.mark is not None else None
        progress = self.cursor.progress if self.cursor is not None else None
        if progress is None:
            return page
        if any(is_typed(item) for item in page.items):
            filtered = [after_cursor(item, progress) for item in page.items]
            left = [item for item in filtered if item is not None]
        else:
            left = progress.rows(page.items)
        return page.of(left) if left else None
