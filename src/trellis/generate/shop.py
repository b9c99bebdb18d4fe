"""Events of a shop, which drift as events do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from trellis.generate.words import CITIES, COUNTRIES, DAYS, DEVICES, MINUTES, NAMES, PRODUCTS, SECONDS, WORDS

Record = dict[str, Any]


def shop_with_conflicts(rate: float) -> Callable[[int, Random, int], Iterator[bytes]]:
    """The profile `shop` with a value of another kind than usual in that part of its records."""

    def profile(rows: int, random: Random, columns: int) -> Iterator[bytes]:
        return shop(rows, random, columns, rate)

    return profile


def shop(rows: int, random: Random, _columns: int, conflicts: float = 0.01) -> Iterator[bytes]:
    """Half views, then searches, carts and orders, in the order of time.

    `coupon` first comes after half of the rows, `loyalty` and an order's `refunds` after four fifths,
    and `campaign_id` in the last row alone: a sample of the head misses them.
    """
    from orjson import dumps

    draw = random.random
    half, late, last = rows // 2, rows * 4 // 5, rows - 1
    for i in range(rows):
        a, b, c = draw(), draw(), draw()
        person = int(a * 50_000)
        record: Record = {
            "event_id": f"{int(b * 2**32):08x}-{i:08d}",
            "event": "view",
            "occurred_at": DAYS[i * 366 // rows] + MINUTES[i * 527_040 // rows % 1440] + SECONDS[int(c * 60)],
            "user": {"id": person, "name": NAMES[person % 14]},
            "context": {"device": DEVICES[int(b * 3)], "country": COUNTRIES[int(c * 8)]},
        }
        if a > 0.9:
            record["user"]["address"] = {"city": CITIES[int(b * 8)], "zip": f"{int(c * 99_999):05d}"}
        if b < 0.3:
            record["referrer"] = "https://example.org/tea" if b < 0.2 else None
        if c < 0.5:
            record["product"] = {"sku": f"SKU-{int(a * 5_000)}", "price": int(b * 20_000) / 100}
        elif c < 0.7:
            record["event"] = "search"
            record["search"] = {"query": WORDS[int(a * 10)], "results": int(b * 400)}
        elif c < 0.85:
            record["event"] = "cart"
            record["cart"] = {"items": int(a * 7), "total": int(b * 50_000) / 100}
        else:
            record["event"] = "order"
            record["order"] = order(i, draw)
            if i >= late and a < 0.2:
                record["order"]["refunds"] = [{"amount": int(b * 900) / 100, "reasons": ["late", "broken"]}]
        if i >= half and a < 0.25:
            record["coupon"] = f"TEA{int(b * 50)}"
        if i >= late and b < 0.25:
            record["loyalty"] = {"tier": "gold" if a < 0.3 else "silver", "points": int(a * 9_000)}
        if draw() < conflicts:
            conflict(record, int(b * 5))
        if i == last:
            record["campaign_id"] = 7
        yield dumps(record)


def order(number: int, draw: Callable[[], float]) -> Record:
    items = []
    total = 0
    for _ in range(1 + int(draw() * draw() * 5)):
        a, b = draw(), draw()
        cents = 100 + int(a * 9_900)
        item: Record = {
            "sku": f"SKU-{int(b * 5_000)}",
            "title": PRODUCTS[int(a * 10)],
            "quantity": 1 + int(b * 4),
            "price": cents / 100,
        }
        if b < 0.15:
            item["discounts"] = [{"code": f"D{int(a * 20)}", "percent": 5 + int(a * 4) * 5}]
            if a < 0.3:
                item["discounts"].append({"code": "STAFF", "amount": 1.5})
        total += cents * item["quantity"]
        items.append(item)
    record: Record = {
        "number": 100_000 + number,
        "total": total / 100,
        "currency": "EUR",
        "line_items": items,
    }
    if draw() < 0.2:
        record["tags"] = ["gift", "express"] if draw() < 0.5 else ["gift"]
    return record


def conflict(record: Record, which: int) -> None:
    """Give one key a value of another kind than it has everywhere else."""
    if which == 0:
        record["user"]["id"] = f"guest-{record['user']['id']}"
    elif which == 1:
        record["occurred_at"] = 1_700_000_000
    elif which == 2:
        record["context"] = "unknown"
    elif "order" in record:
        record["order"]["total"] = f"{record['order']['total']} EUR"
    elif "product" in record:
        record["product"]["price"] = "free"
    else:
        record["user"]["id"] = record["user"]["id"] + 0.5
