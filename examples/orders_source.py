"""A source: orders that come with a cursor, and customers of which every version is kept.

trellis run examples/orders_source.py:shop --to duckdb:shop.duckdb --dataset shop_data
trellis run examples/orders_source.py:shop --with day=2 --to duckdb:shop.duckdb --dataset shop_data
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import trellis

ORDERS: dict[int, list[dict[str, Any]]] = {
    1: [
        {
            "id": 1,
            "updated_at": "2026-01-01T09:00:00Z",
            "total": 10,
            "lines": [{"sku": "tea"}, {"sku": "cup"}],
        },
        {"id": 2, "updated_at": "2026-01-01T10:00:00Z", "total": 5, "lines": []},
    ],
    2: [
        {
            "id": 2,
            "updated_at": "2026-01-02T08:00:00Z",
            "total": 7.5,
            "lines": [{"sku": "pot", "gift": True}],
        },
        {"id": 3, "updated_at": "2026-01-02T09:00:00Z", "total": 1, "lines": []},
    ],
}
CUSTOMERS: dict[int, list[dict[str, Any]]] = {
    1: [{"no": 1, "city": "Ghent"}, {"no": 2, "city": "Lyon"}],
    2: [{"no": 1, "city": "Bruges"}, {"no": 2, "city": "Lyon"}],
}


@trellis.resource(primary_key="id", write_disposition={"disposition": "merge", "strategy": "upsert"})
def orders(
    day: int, after: Any = trellis.incremental("updated_at", initial_value="2026-01-01T00:00:00Z")
) -> Iterator[Any]:
    yield from (order for each in range(1, day + 1) for order in ORDERS[each])


@trellis.resource(write_disposition={"disposition": "merge", "strategy": "scd2"})
def customers(day: int) -> Iterator[Any]:
    yield CUSTOMERS[day]


@trellis.source
def shop(day: int = 1) -> Any:
    """The shop on its first or second day."""
    return orders(int(day)), customers(int(day))
