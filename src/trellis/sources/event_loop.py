"""Asynchronous code of users, run for code that is not: on an event loop in a thread of its own.

So it runs inside another event loop too, such as that of a notebook.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

AT_ONCE = 20
"""How many awaitables of one resource run at the same time."""

_END = object()


class EventLoop:
    """An event loop that starts with the first thing to wait for, and ends with the block."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = asyncio.Event()

    def __enter__(self) -> EventLoop:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None and self._loop is not None:
            with suppress(RuntimeError):  # sys.exit in code of the user has closed it
                self._loop.call_soon_threadsafe(self._closed.set)
            self._thread.join()

    def start(self, awaitable: Awaitable[Any]) -> Future[Any]:
        """Let it run; what is current here is current in it."""
        work = awaitable if inspect.iscoroutine(awaitable) else _result_of(awaitable)
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """The result. Raises what the code raises."""
        return self.start(awaitable).result()

    def each_of(self, values: Iterable[Any] | AsyncIterable[Any]) -> Generator[Any]:
        """The values one by one; an asynchronous generator is closed where no more are wanted."""
        if isinstance(values, Iterable):
            yield from values
            return
        iterator = aiter(values)

        async def following() -> Any:
            return await anext(iterator, _END)

        try:
            while (value := self.run(following())) is not _END:
                yield value
        except GeneratorExit:
            if inspect.isasyncgen(iterator):
                self.run(iterator.aclose())
            raise

    def in_order(self, values: Iterable[Any] | AsyncIterable[Any]) -> Iterator[Any]:
        """The values, and the results of those that are awaitables, which run some at a time."""
        return Turns(self).each(self.each_of(values))

    def results(self, values: list[Any]) -> list[Any]:
        """The same of a list, of which mostly no value is an awaitable."""
        return list(Turns(self).each(values)) if any(map(is_awaitable, values)) else values

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            started: Future[asyncio.AbstractEventLoop] = Future()

            async def until_closed() -> None:
                started.set_result(asyncio.get_running_loop())
                await self._closed.wait()

            def work() -> None:
                with suppress(SystemExit):  # it is raised where the code is waited for
                    asyncio.run(until_closed())

            self._thread = threading.Thread(target=work, name="trellis-async", daemon=True)
            self._thread.start()
            self._loop = started.result()
        return self._loop


class Turns:
    """Awaitables are started before their turn, `room()` at most; their results come in the order given."""

    def __init__(self, loop: EventLoop, room: Callable[[], int] = lambda: AT_ONCE) -> None:
        self.loop = loop
        self.room = room
        self._waiting: deque[Future[Any]] = deque()

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """All values in their order."""
        for value in values:
            if self._waiting or is_awaitable(value):
                yield from self.take(value)
            else:
                yield value
        yield from self.rest()

    def take(self, value: Any) -> Iterator[Any]:
        """What has its turn now that this value is there as well."""
        if is_awaitable(value):
            self._waiting.append(self.loop.start(value))
            while self._waiting and len(self._waiting) >= self.room():
                yield self._waiting.popleft().result()
        else:
            yield from self.rest()
            yield value

    def rest(self) -> Iterator[Any]:
        """The results that are still to come."""
        while self._waiting:
            yield self._waiting.popleft().result()


def is_awaitable(value: Any) -> bool:
    return hasattr(type(value), "__await__")


async def _result_of(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
