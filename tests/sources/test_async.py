"""Asynchronous generators, functions, steps and sources: the rows that dlt gives, always in their order."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any

import dlt
import pytest

from sources.conftest import read, rows
from trellis import sources as trellis
from trellis.errors import UsageError


async def item(number: int) -> dict[str, int]:
    """Later ones are ready earlier."""
    for _ in range(20 - number):
        await asyncio.sleep(0)
    return {"n": number}


async def generator() -> AsyncIterator[Any]:
    yield await item(1)
    yield [await item(2), await item(3)]
    yield None
    yield []
    yield item(4)


def awaitables() -> Iterator[Any]:
    yield {"n": 0}
    yield from map(item, range(1, 9))
    yield [{"n": 9}, {"n": 10}]
    yield item(11)


def awaitables_of_pages() -> Iterator[Awaitable[Any]]:
    async def page(number: int) -> Any:
        return [{"n": number}, {"n": number + 10}] if number % 2 else None

    return map(page, range(4))


def inside_a_yield() -> Iterator[Any]:
    yield map(item, range(4))
    yield generator()


MAKERS: dict[str, Callable[[Any], Any]] = {
    "generator": lambda maker: maker.resource(generator, name="r"),
    "object": lambda maker: maker.resource(generator(), name="r"),
    "awaitables": lambda maker: maker.resource(awaitables, name="r"),
    "list": lambda maker: maker.resource([item(1), item(2)], name="r"),
    "pages": lambda maker: maker.resource(awaitables_of_pages, name="r"),
    "inside": lambda maker: maker.resource(inside_a_yield, name="r"),
    "map": lambda maker: maker.resource([{"n": 1}, {"n": 2}, {"n": 3}], name="r").add_map(doubled),
    "limit": lambda maker: maker.resource(generator, name="r").add_limit(1),
    "transformer": lambda maker: (
        maker.resource(awaitables, name="p") | maker.transformer(one_by_one, name="r")
    ),
    "transformer_generator": lambda maker: (
        maker.resource(awaitables, name="p") | maker.transformer(twice, name="r")
    ),
}


async def doubled(row: dict[str, int]) -> dict[str, int] | None:
    await item(row["n"])
    return {"n": row["n"] * 2} if row["n"] != 2 else None


async def one_by_one(page: Any) -> Any:
    return [await doubled(row) for row in (page if isinstance(page, list) else [page]) if row["n"] != 2]


async def twice(page: Any) -> AsyncIterator[Any]:
    yield page
    yield await one_by_one(page)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_rows_are_those_of_dlt_in_the_order_of_the_resource(make: Callable[[Any], Any]) -> None:
    def numbers(resources: Any) -> list[int]:
        return [row["n"] for row in resources]

    ours = numbers(make(trellis))
    assert sorted(ours) == sorted(numbers(make(dlt)))
    assert rows(make(trellis))["r"] == [{"n": number} for number in ours]


def test_the_order_is_that_of_the_resource() -> None:
    def numbers(name: str) -> list[int]:
        return [row["n"] for row in MAKERS[name](trellis)]

    assert numbers("awaitables") == list(range(12))
    assert numbers("transformer") == [0, 2, 6, 8, 10, 12, 14, 16, 18, 20, 22]
    assert numbers("inside") == [0, 1, 2, 3, 1, 2, 3, 4]
    assert numbers("map") == [2, 6]


def test_a_function_that_returns_its_rows_may_be_asynchronous() -> None:
    @trellis.resource
    async def listed() -> Any:
        return [await item(1), await item(2)]

    @trellis.resource
    async def nothing() -> None:
        await asyncio.sleep(0)

    assert rows(listed) == {"listed": [{"n": 1}, {"n": 2}]}
    assert rows(listed.add_limit(1)) == {"listed": [{"n": 1}]}
    with pytest.raises(UsageError, match="resource nothing: its function gave nothing"):
        read(nothing)


def test_filters_and_steps_that_yield_may_be_asynchronous() -> None:
    async def odd(row: dict[str, int]) -> bool:
        return (await item(row["n"]))["n"] % 2 == 1

    data = [{"n": number} for number in range(4)]
    assert list(trellis.resource(data, name="r").add_filter(odd)) == [{"n": 1}, {"n": 3}]
    assert list(trellis.resource(data[2:], name="r") | twice) == [{"n": 2}, {"n": 3}, {"n": 6}]


class Crowd:
    """Nobody leaves before so many have come. Counts who is inside at the same time, and who ever came."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.inside = self.most = self.came = 0

    async def visit(self, row: Any) -> Any:
        self.came += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        while self.came < self.expected:
            await asyncio.sleep(0)
        self.inside -= 1
        return row


def test_twenty_at_a_time_run_together() -> None:
    crowd = Crowd(20)
    assert len(list(trellis.resource(lambda: map(crowd.visit, range(50)), name="r"))) == 50
    assert (crowd.came, crowd.most) == (50, 20)
    crowd = Crowd(20)
    visit = trellis.transformer(crowd.visit, name="t")
    numbers_read = rows(trellis.resource(range(50), name="r") | visit)
    assert numbers_read == {"t": [{"value": number} for number in range(50)]}
    assert (crowd.came, crowd.most) == (50, 20)


def test_no_more_than_a_limit_wants_are_started() -> None:
    crowd = Crowd(3)
    limited = trellis.resource(lambda: map(crowd.visit, range(50)), name="r").add_limit(3)
    assert list(limited) == [0, 1, 2]
    assert crowd.came == 3


def test_a_generator_that_is_not_read_to_its_end_is_closed() -> None:
    closed: list[str] = []

    async def numbers(name: str) -> AsyncIterator[int]:
        try:
            for number in range(100):
                yield number
        finally:
            await asyncio.sleep(0)
            closed.append(name)

    assert list(trellis.resource(numbers("limit"), name="r").add_limit(2)) == [0, 1]
    reading = iter(trellis.resource(numbers("left"), name="r"))
    assert next(reading) == 0
    assert isinstance(reading, Generator)
    reading.close()
    assert closed == ["limit", "left"]


def test_schema_state_and_cursor_are_current_in_it() -> None:
    @trellis.resource
    async def counted(after: Any = trellis.incremental("n", initial_value=1)) -> AsyncIterator[Any]:  # noqa: B008
        await asyncio.sleep(0)
        trellis.current.resource_state()["seen"] = after.start_value
        yield [await item(number) for number in range(4)]
        trellis.current.source_schema().add_type_detection("iso_date")

    extracted = read(counted)
    assert list(extracted.parts[0].source) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert extracted.state["resources"]["counted"]["seen"] == 1
    assert extracted.state["resources"]["counted"]["incremental"]["n"]["last_value"] == 3
    assert extracted.schema.settings.detections == ("iso_timestamp", "iso_date")


def test_it_runs_inside_a_running_event_loop() -> None:
    async def notebook() -> dict[str, list[Any]]:
        return rows(trellis.resource(generator, name="a"), trellis.resource(awaitables, name="b"))

    assert asyncio.run(notebook()) == {
        "a": [{"n": number} for number in range(1, 5)],
        "b": [{"n": number} for number in range(12)],
    }


async def fails(*_: Any) -> Any:
    await asyncio.sleep(0)
    raise LookupError("no such page")


async def fails_late() -> AsyncIterator[Any]:
    yield {"n": 1}
    await fails()


FAILING: dict[str, Callable[[], Any]] = {
    "generator": lambda: trellis.resource(fails_late, name="r"),
    "awaitable": lambda: trellis.resource(lambda: map(fails, range(3)), name="r"),
    "function": lambda: trellis.resource(fails, name="r"),
    "map": lambda: trellis.resource([{"n": 1}], name="r").add_map(fails),
    "transformer": lambda: trellis.resource(awaitables, name="p") | trellis.transformer(fails, name="r"),
}


@pytest.mark.parametrize("make", FAILING.values(), ids=FAILING)
def test_what_it_raises_is_raised(make: Callable[[], Any]) -> None:
    with pytest.raises(LookupError, match="no such page") as raised:
        read(make())
    assert raised.traceback[-1].name == "fails"


def test_it_may_end_the_program() -> None:
    @trellis.resource
    async def ends() -> AsyncIterator[Any]:
        yield {"n": 1}
        sys.exit(3)

    with pytest.raises(SystemExit) as raised:
        read(ends)
    assert raised.value.code == 3


def test_an_asynchronous_source_is_awaited() -> None:
    @trellis.source
    async def shop(count: int) -> Any:
        trellis.current.source_schema().add_type_detection("iso_date")
        return [trellis.resource([await item(count)], name="items")]

    @trellis.source(name="store", max_table_nesting=1)
    async def named() -> Any:
        return trellis.resource(generator)

    source = asyncio.run(shop(3))
    assert (source.name, list(source.items), source.schema.detections) == (
        "shop",
        [{"n": 3}],
        ("iso_timestamp", "iso_date"),
    )
    other = asyncio.run(named())
    assert (other.name, list(other.resources), other.max_table_nesting) == ("store", ["generator"], 1)
