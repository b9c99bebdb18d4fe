"""Sources written once, for dlt and for Trellis: each is made of the module and the number of the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Make = Callable[[Any, int], Any]
"""From `dlt` or `trellis` and the number of a batch to a source."""

ORDERS: tuple[list[dict[str, Any]], ...] = (
    [
        {"id": 1, "at": 10, "total": 1.5, "lines": [{"sku": "a", "tags": ["x", "y"]}, {"sku": "b"}]},
        {"id": 2, "at": 20, "who": {"name": "Ann", "since": "2024-01-01T00:00:00Z"}, "lines": [{"sku": "q"}]},
    ],
    [
        {"id": 2, "at": 20, "who": {"name": "Ann", "since": "2024-01-01T00:00:00Z"}, "lines": [{"sku": "q"}]},
        {"id": 1, "at": 30, "total": 2.5, "paid": True, "lines": [{"sku": "c", "count": 2}]},
        {"id": 3, "at": 30, "total": "n/a", "who": {"name": 7}},
    ],
    [
        {"id": 3, "at": 30, "total": "n/a", "who": {"name": 7}},
        {"id": 4, "at": 40, "total": 9, "lines": [{"sku": "d", "count": "many"}], "notes": ["hi", 5]},
        {"id": 1, "at": 50, "total": 1, "lines": [{"sku": "e", "tags": [1]}]},
    ],
)
PEOPLE: tuple[list[dict[str, Any]], ...] = (
    [{"id": 1, "name": "Ann", "dogs": ["Rex"]}, {"id": 2, "name": "Bo"}],
    [{"id": 2, "name": "Bob", "cats": [{"name": "Tom"}]}, {"id": 3, "name": "Cy", "born": "2001-02-03"}],
    [{"id": 1, "name": "Ann", "dogs": ["Rex", "Max"]}],
)


def orders_of(lib: Any, batch: int, **hints: Any) -> Any:
    """A resource with a cursor, that counts its runs in its state."""

    @lib.resource(name="orders", **hints)
    def orders(at: Any = lib.sources.incremental("at", initial_value=0)) -> Iterator[Any]:  # noqa: B008
        kept = lib.current.resource_state()
        kept["runs"] = kept.get("runs", 0) + 1
        lib.current.source_state()["newest"] = at.last_value
        yield from ORDERS[batch]

    return orders


def one(**hints: Any) -> Make:
    """A source of orders alone."""

    def make(lib: Any, batch: int) -> Any:
        return lib.source(lambda: orders_of(lib, batch, **hints), name="shop")()

    return make


def guarded(source: Mapping[str, Any], **hints: Any) -> Make:
    """A source of orders and people, with arguments of the source, and hints of the orders."""

    def make(lib: Any, batch: int) -> Any:
        def shop() -> Iterator[Any]:
            yield orders_of(lib, batch, **hints)
            yield lib.resource(PEOPLE[batch], name="people")

        return lib.source(shop, name="shop", **source)()

    return make


def several(lib: Any, batch: int) -> Any:
    def shop() -> Iterator[Any]:
        yield orders_of(lib, batch, primary_key="id", write_disposition="merge")
        people = lib.resource(
            PEOPLE[batch], name="people", write_disposition="replace", columns={"name": {"nullable": False}}
        )
        yield people

        @lib.transformer(data_from=people, name="pets", primary_key=["owner", "name"])
        def pets(person: Any) -> Iterator[Any]:
            for customer in person if isinstance(person, list) else [person]:
                yield from ({"owner": customer["id"], "name": dog} for dog in customer.get("dogs") or ())

        yield pets

    return lib.source(shop, name="shop")()


def by_kind(lib: Any, batch: int) -> Any:
    def shop() -> Any:
        kinds = ("Click", "click", "PageView")
        rows = [{"kind": kinds[order["id"] % 3], **order} for order in ORDERS[batch]]
        return lib.resource(
            rows, name="events", table_name=lambda item: f"on_{item['kind']}", write_disposition="append"
        )

    return lib.source(shop, name="shop")()


def keyed_lists(lib: Any, batch: int) -> Any:
    def shop() -> Any:
        rows = [
            {
                "id": order["id"],
                "lines": [{"order": order["id"], **line} for line in order.get("lines") or ()],
            }
            for order in ORDERS[batch]
        ]
        nested = {"lines": {"primary_key": ["order", "sku"], "write_disposition": "merge"}}
        return lib.resource(
            rows, name="orders", primary_key="id", write_disposition="merge", nested_hints=nested
        )

    return lib.source(shop, name="shop")()


def with_settings(lib: Any, batch: int) -> Any:
    def shop() -> Any:
        schema = lib.current.source_schema()
        schema.remove_type_detection("iso_timestamp")
        schema.add_type_detection("iso_date")
        schema.merge_hints({"sort": ["id"], "not_null": ["re:^sku$"]})
        schema.update_preferred_types({"re:^total$": "decimal"})
        return orders_of(lib, batch, columns={"at": {"description": "of the clock"}})

    return lib.source(shop, name="shop")()


def forgotten(lib: Any, batch: int) -> Any:
    return guarded({} if batch else {"root_key": True, "max_table_nesting": 2})(lib, batch)


UPSERT = {"disposition": "merge", "strategy": "upsert"}
DISCARDING = {"columns": "discard_value", "data_type": "discard_row"}
SOURCES: Mapping[str, Make] = {
    "append": one(),
    "merge": one(write_disposition="merge", primary_key="id"),
    "upsert": one(write_disposition=UPSERT, primary_key="id"),
    "scd2": one(write_disposition={"disposition": "merge", "strategy": "scd2"}),
    "several": several,
    "tables by item": by_kind,
    "keyed lists": keyed_lists,
    "settings": with_settings,
    "contract": guarded({"schema_contract": DISCARDING}),
    "contract of a resource": guarded({}, schema_contract={"data_type": "discard_value"}),
    "max_table_nesting": guarded({"max_table_nesting": 1}),
    "max_table_nesting of a resource": guarded({"max_table_nesting": 2}, max_table_nesting=0),
    "root_key": guarded({"root_key": True}),
    "arguments of the first batch only": forgotten,
}


def refreshed(lib: Any, batch: int) -> Any:
    """Two resources with nested rows; from the second batch on only the orders, and with other arguments."""
    source = guarded({} if batch else {"max_table_nesting": 1})(lib, batch)
    return source.with_resources("orders") if batch else source
