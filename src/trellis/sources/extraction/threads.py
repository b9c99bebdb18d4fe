"""Code of users that runs in threads beside the extraction: `parallelized=`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

THREADS = 5
_END = object()

Context = Callable[[], AbstractContextManager[None]]
"""What is current for the code while it runs."""


class Threads(ThreadPoolExecutor):
    """The threads of one extraction; they start with the first work."""

    def __init__(self) -> None:
        super().__init__(THREADS, "trellis-extract")

    def one_ahead(self, values: Generator[Any], context: Context) -> Generator[Any]:
        """The values, the next one made while one is used."""

        def following() -> Any:
            with context():
                return next(values, _END)

        future = self.submit(following)
        try:
            while (value := future.result()) is not _END:
                future = self.submit(following)
                yield value
        finally:
            if not future.cancel():
                future.exception()
            values.close()

    def call(self, function: Callable[[], Any], context: Context) -> Awaitable[Any]:
        """The result of a call; of a generator what it yields."""

        def result() -> Any:
            with context():
                value = function()
                return iter([*value]) if isinstance(value, Iterator) else value

        future = self.submit(result)

        async def wait() -> Any:
            return await asyncio.wrap_future(future)

        return wait()
