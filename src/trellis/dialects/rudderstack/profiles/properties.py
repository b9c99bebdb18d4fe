"""The properties of track events: those of a shop, and any number of generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from trellis.generate.words import CITIES, COUNTRIES, NAMES, PRODUCTS, WORDS

Record = dict[str, Any]
Draw = Callable[[], float]
Make = Callable[[Draw, int], Record]  # a draw of 0.0 gives every key, and the first of every choice
Extra = tuple[str, Callable[[float], Any]]

# One price in nine is a whole number, as JavaScript writes it, but not the first.
CENTS = (1_950, *(n * 400 if n % 9 == 0 else n * 7_919 % 19_900 + 95 for n in range(1, 360)))
PRICES: tuple[int | float, ...] = tuple(n // 100 if n % 100 == 0 else n / 100 for n in CENTS)
MOMENTS = (
    "2024-06-01T09:30:12.984Z", "2024-05-19 14:39:22", "2024-06-26", "2024-06-11 04:56:55.175116",
    "2024-06-26T06:30:12.984+0530", "2024-06-26T06:30:12.984+05:30",
)  # fmt: skip
BRANDS = ("Hario", "Kinto", "Iittala", "Le Creuset", "茶の都")
CATEGORIES = ("Teaware", "Tea/Green", "Tea/Black", "Gifts", "Küche")
COLOURS = ("black", "celadon", "white", "rouge", None)
COUPONS = ("SUMMER24", "TEA10", "WELCOME", "")


def price(at: float) -> int | float:
    return PRICES[int(at * 360)]


def moment(at: float) -> str:
    """A time in one of the shapes that RudderStack accepts."""
    return MOMENTS[int(at * 6)]


def product(draw: Draw, _: int = 0) -> Record:
    a, b = draw(), draw()
    properties: Record = {
        "product_id": f"P{int(a * 5_000)}",
        "name": PRODUCTS[int(b * 10)],
        "price": price(a),
        "quantity": 1 + int(b * 4),
    }
    if a < 0.3:
        properties["brand"] = BRANDS[int(b * 5)]
    return properties


def products(draw: Draw) -> list[Record]:
    return [product(draw) for _ in range(1 + int(draw() * draw() * 4))]


def viewed(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties = product(draw) | {
        "sku": f"SKU-{int(a * 9_000)}",
        "category": CATEGORIES[int(b * 5)],
        "currency": "EUR",
        "position": int(a * 40),
        "inStock": b < 0.9,
    }
    if b < 0.3:
        properties["attributes"] = {
            "color": COLOURS[int(a * 5)],
            "size": {"height": int(b * 30), "width": int(a * 30), "unit": "cm"},
            "material": "cast iron" if a < 0.5 else "glass",
        }
    if a < 0.2:
        properties["rating"] = {"average": (105 + int(b * 39) * 10) / 100, "count": int(a * 800)}
        properties["variants"] = ["S", "M", "L"] if b < 0.5 else []
    if a < 0.2:
        properties["available_from"] = moment(b)
        properties["list"] = {"id": f"L{int(b * 90)}", "sorted_by": "price"}
    return properties


def searched(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties: Record = {"query": f"{WORDS[int(a * 10)]} {WORDS[int(b * 10)]}", "results": int(a * 400)}
    if b < 0.5:
        properties["filters"] = {"category": CATEGORIES[int(a * 5)], "maxPrice": price(a), "inStock": b < 0.3}
    if a < 0.4:
        properties["sorts"] = [{"type": "price", "value": "desc" if b < 0.5 else "asc"}]
        properties["took_ms"] = int(b * 900)
    if b < 0.2:
        properties["spelling"] = {"corrected": True, "original": "grean tee"}
    return properties


def added(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties = viewed(draw, number) | {"cart_id": f"C{number % 90_000:05d}", "added_at": moment(a)}
    if b < 0.2:
        properties["coupon"] = COUPONS[int(a * 4)]
    if b < 0.4:
        properties["cart"] = {"items": 1 + int(a * 7), "total": price(b), "isGift": a < 0.1}
    return properties


def cart(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties: Record = {"cart_id": f"C{number % 90_000:05d}", "value": price(a), "currency": "EUR"}
    properties["products"] = products(draw)
    if a < 0.3:
        properties["coupon"] = COUPONS[int(b * 4)]
        properties["discount"] = price(b)
    if a < 0.4:
        properties["abandoned"] = {"before": b < 0.2, "last_seen": moment(b)}
    return properties


def checkout(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties = cart(draw, number) | {"checkout_id": f"K{number}", "step": 1 + int(a * 4)}
    if a < 0.6:
        properties["shipping_method"] = "DHL" if b < 0.6 else "pick up"
        properties["payment"] = {"method": "card" if b < 0.5 else "paypal", "saved": a < 0.3}
    if b < 0.4:
        properties["address"] = {"city": CITIES[int(a * 8)], "country": COUNTRIES[int(b * 8)]}
    return properties


def order(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties = checkout(draw, number) | {
        "order_id": f"{500_000 + number}",
        "affiliation": "Web shop" if a < 0.8 else "Marketplace",
        "total": price(a),
        "subtotal": price(b),
        "shipping": 4.9 if b < 0.7 else 0,
        "tax": price(b / 9),
        "firstOrder": a < 0.2,
    }
    if a < 0.5:
        window = {"from": moment(b), "to": moment(a)}
        properties["delivery"] = {
            "carrier": "DHL",
            "date": "2024-06-28",
            "express": b < 0.2,
            "window": window,
        }
    if b < 0.5:
        card = {"brand": "visa", "last4": f"{int(a * 9_999):04d}"}
        properties["payment"] = {
            "method": "card",
            "saved": a < 0.3,
            "card": card,
            "installments": int(b * 12),
        }
    if b < 0.1:
        properties["note"] = "2 gifts: no invoice"
    return properties


def refunded(draw: Draw, number: int) -> Record:
    a = draw()
    properties: Record = {"order_id": f"{500_000 + number}", "total": price(a), "partial": a < 0.4}
    properties["products"] = products(draw)
    properties["refunded_at"] = moment(a)
    if a < 0.5:
        properties["reason"] = {
            "code": "R1" if a < 0.3 else "R2",
            "text": "It came broken",
            "photos": int(a * 6),
        }
    return properties


def opened(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    properties: Record = {
        "version": f"5.{int(a * 9)}.{int(b * 20)}",
        "build": 4_100 + int(b * 90),
        "fromBackground": a < 0.5,
    }
    if a < 0.3:
        properties["referring_application"] = "com.example.mail"
        properties["url"] = f"shop://p/{int(b * 5_000)}"
    if b < 0.3:
        properties["experiments"] = {"checkout_v2": a < 0.5, "bigImages": "B" if a < 0.5 else "A"}
    if a < 0.2:
        properties["push"] = {"id": f"n{int(b * 9_000)}", "sent_at": moment(b), "opened": True}
    return properties


ORDER = "Order Completed"
SHOP: tuple[tuple[str, Make], ...] = (
    ("Product Viewed", viewed),
    ("Products Searched", searched),
    ("Add to Cart", added),
    ("Application Opened", opened),
    ("Cart Viewed", cart),
    ("Checkout Started", checkout),
    (ORDER, order),
    ("wishlistProductAdded", added),
    ("Order Refunded", refunded),
)
THINGS = (
    "Article", "Banner", "Brew Guide", "Bundle", "Campaign", "Category", "Comment", "Course", "Delivery",
    "Discount", "Filter", "Gift Card", "Invoice", "Message", "Newsletter", "Notification", "Payment", "Photo",
    "Profile", "Question", "Review", "Seat", "Store", "Subscription", "Video",
)  # fmt: skip
ACTIONS = (
    "Opened", "Closed", "Created", "Changed", "Deleted", "Shared", "Liked", "Reported", "Printed", "Expired",
    "Paused", "Resumed", "Approved", "Rejected", "Scrolled", "Hovered", "Copied", "Saved", "Failed", "Tried",
)  # fmt: skip
EXTRAS: tuple[Extra, ...] = (
    ("title", lambda at: NAMES[int(at * 14)]),
    ("duration", price),
    ("count", lambda at: int(at * 900)),
    ("done", lambda at: at < 0.5),
    ("changed_at", moment),
    ("owner", lambda at: {"id": f"u-{int(at * 9_000)}", "role": "editor" if at < 0.5 else "guest"}),
    ("source", lambda at: "mail" if at < 0.5 else "search"),
    ("score", lambda at: (251 + int(at * 498)) / 1_000),
    ("tags", lambda at: ["tea", "2024", "gift"][: int(at * 4)]),
    ("objectId", lambda at: f"O{int(at * 90_000)}"),
    ("position", lambda at: {"x": int(at * 1_900), "y": int(at * 900), "visible": at < 0.8}),
    ("comment", lambda at: "Lovely, and quick"),
    ("rank", lambda at: int(at * 40)),
    ("isNew", lambda at: at < 0.1),
    ("language", lambda at: "de" if at < 0.5 else "ja"),
    ("product", lambda at: {"id": f"P{int(at * 5_000)}", "price": price(at), "brand": BRANDS[int(at * 5)]}),
    ("due", lambda at: "2024-07-01"),
    ("megabytes", lambda at: (1 + 2 * int(at * 900)) / 8),
    ("app", lambda at: {"mode": "dark" if at < 0.5 else "light", "zoom": 100 + int(at * 9), "beta": False}),
)


def track_events() -> Iterator[tuple[str, Make]]:
    """Endless names of track events, each with the maker of its properties, first those of the shop."""
    yield from SHOP
    extras = cycle(EXTRAS)
    version = 0
    while version := version + 1:
        for action in ACTIONS:
            for thing in THINGS:
                name = f"{thing} {action}" if version == 1 else f"{thing} {action} v{version}"
                yield name, _some_of(tuple(islice(extras, 12)))


def _some_of(extras: tuple[Extra, ...]) -> Make:
    def make(draw: Draw, number: int) -> Record:
        return {key: value(at) for key, value in extras if (at := draw()) < 0.7}

    return make
