"""One function on many items at once: in threads of this process, or in Spark's executors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

THREADS = 8


class Parallel(Protocol):
    """Runs a picklable function on many items at once, in threads or processes; results come in any order.

    An item may be run twice if the worker that had it died.
    """

    def __call__(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]: ...


def one_by_one(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """`Parallel` in the calling thread."""
    return map(work, items)


def in_threads(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """`Parallel` in threads: for work that waits for input or releases the interpreter lock."""
    if len(items) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(THREADS, len(items), os.cpu_count() or 1)) as pool:
        yield from pool.map(work, items)


def prefetch(items: Iterator[T]) -> Iterator[T]:
    """The same items; the next one is made in a thread while the caller works on this one."""
    end = object()
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, items, end)
        while (item := upcoming.result()) is not end:
            upcoming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
