"""Events of a shop on the web and on phones, as RudderStack's SDKs send them and its server passes them on."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate, cycle, islice
from random import Random
from typing import Any

from trellis.generate.words import CITIES, COUNTRIES, DAYS, MINUTES, NAMES, PRODUCTS, WORDS

Record = dict[str, Any]
Draw = Callable[[], float]

FIRST_DAY, SPAN = 152, 30 * 86_400_000  # 1 June 2024, and 30 days in milliseconds
SITE = "https://shop.example.com"


def events(rows: int, random: Random, _columns: int, names: int = 9) -> Iterator[bytes]:
    """In the order in which the server received them, over 30 days; `names` is how many track events there are.

    The first events are one of each type and name with all their keys, so that the tables do not depend on
    the number of rows, and no column of prices begins with a whole number. Only the key `loyalty_points` of
    orders comes late, after four fifths. One event in 200 is sent again, with its messageId; one in 1,000 has
    a value of another kind than before it, or two keys that become one column.
    """
    from orjson import dumps

    draw, bits = random.random, random.getrandbits
    makers = list(islice(_tracks(), names))
    steps = list(accumulate(1 / (4 + number) for number in range(names)))
    opening = [*range(names), *OTHERS]
    people = 50 + rows // 20
    late = rows * 4 // 5
    recent: list[Record] = []
    for i in range(rows):
        received = FIRST_DAY * 86_400_000 + i * SPAN // rows
        a = draw()
        if a < 0.005 and len(recent) == 64:
            again = recent[int(a * 12_800)]
            yield dumps({**again, "sentAt": stamp(received - 90), "receivedAt": stamp(received)})
            continue
        fresh = i < len(opening)
        kind = opening[i] if fresh else TYPES[int(draw() * 200)]
        if kind == "track":
            kind = bisect(steps, draw() * steps[-1])
        b, c = draw(), draw()
        person = int(b * b * people)
        place = PLACES.get(kind, ANYWHERE)[int(c * 20)]
        skew = SKEWS[person % 40] + int(c * 900)
        sent = received - 30 - int(b * 700) + skew
        original = sent - (int(a * 4_000) if c < 0.98 else int(a * 172_800_000))
        some = _all_keys if fresh else draw
        known = kind in KNOWN or b < 0.5
        record: Record = {
            "type": kind,
            "channel": CHANNELS[place],
            "messageId": uuid(bits(128)),
            "anonymousId": uuid(person * 0x9E3779B97F4A7C15F39CC0605CEDC835 + place),
            "originalTimestamp": stamp(original),
            "sentAt": stamp(sent),
            "receivedAt": stamp(received),
            "request_ip": f"203.0.{person % 114}.{person % 251}",
            "context": CONTEXTS[place](some, person, known),
            "integrations": EVERYWHERE,
        }
        if known:
            record["userId"] = f"u-{10_000 + person}"
        if kind.__class__ is int:
            record["type"] = "track"
            record["event"], make = makers[kind]
            record["properties"] = make(some, i)
            if i >= late and kind == ORDER and a < 0.5:
                record["properties"]["loyalty_points"] = int(a * 900)
        else:
            OTHERS[kind](record, some, person)
        if a > 0.97:
            record["timestamp"] = stamp(original - skew)
        if draw() < 0.001 and not fresh:
            drift(record, int(c * 4))
        if len(recent) < 64:
            recent.append(record)
        else:
            recent[i & 63] = record
        yield dumps(record)


def _all_keys() -> float:
    """In place of chance: every key that may be there is there, every choice is the first."""
    return 0.0


def stamp(time: int) -> str:
    """Milliseconds of the year 2024 as a time.

    >>> stamp(86_400_000 * 59 + 61_007)
    '2024-02-29T00:01:01.007Z'
    """
    minute, rest = divmod(time, 60_000)
    return f"{DAYS[minute // 1440]}{MINUTES[minute % 1440]}{rest // 1000:02d}.{rest % 1000:03d}Z"


def uuid(number: int) -> str:
    digits = f"{number & (1 << 128) - 1:032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def drift(record: Record, which: int) -> None:
    """Give one key a value of another kind than it has everywhere else, or another key its column."""
    values: Record = record.get("properties") or record.get("traits") or {}
    numbers = [key for key, value in values.items() if isinstance(value, (int, float))]
    texts = [key for key, value in values.items() if isinstance(value, str)]
    if which == 0 and numbers:
        values[numbers[-1]] = "NA"
    elif which == 1 and texts:
        values[texts[0]] = 789
    elif which == 2 and texts:
        values[texts[-1].upper()] = "4 December 2020"
    else:
        record["context"]["user_agent"] = "unknown"


# Prices: one in nine is a whole number, as JavaScript writes it, but not the first.
PRICES: tuple[int | float, ...] = tuple(
    cents // 100 if cents % 100 == 0 else cents / 100
    for cents in (number * 7_919 % 19_900 + 49 if number % 9 else number * 100 or 1_950 for number in range(360))
)
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


def product(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = {
        "product_id": f"P{int(a * 5_000)}",
        "name": PRODUCTS[int(b * 10)],
        "price": price(a),
        "quantity": 1 + int(b * 4),
    }
    if a < 0.3:
        found["brand"] = BRANDS[int(b * 5)]
    return found


def products(draw: Draw, number: int) -> list[Record]:
    return [product(draw, number) for _ in range(1 + int(draw() * draw() * 4))]


def viewed(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = product(draw, number) | {
        "sku": f"SKU-{int(a * 9_000)}",
        "category": CATEGORIES[int(b * 5)],
        "currency": "EUR",
        "position": int(a * 40),
        "inStock": b < 0.9,
        "url": f"{SITE}/p/{int(a * 5_000)}",
    }
    if b < 0.6:
        found["attributes"] = {
            "color": COLOURS[int(a * 5)],
            "size": {"height": int(b * 30), "width": int(a * 30), "unit": "cm"},
            "material": "cast iron" if a < 0.5 else "glass",
        }
    if a < 0.4:
        found["rating"] = {"average": int(b * 39) / 10 + 1.05, "count": int(a * 800)}
        found["variants"] = ["S", "M", "L"] if b < 0.5 else []
    if a < 0.25:
        found["available_from"] = MOMENTS[int(b * 6)]
        found["list"] = {"id": f"L{int(b * 90)}", "sorted_by": "price"}
    return found


def searched(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = {"query": f"{WORDS[int(a * 10)]} {WORDS[int(b * 10)]}", "results": int(a * 400)}
    if b < 0.5:
        found["filters"] = {"category": CATEGORIES[int(a * 5)], "maxPrice": price(a), "inStock": b < 0.3}
    if a < 0.4:
        found["sorts"] = [{"type": "price", "value": "desc" if b < 0.5 else "asc"}]
        found["took_ms"] = int(b * 900)
    if b < 0.2:
        found["spelling"] = {"corrected": True, "original": "grean tee"}
    return found


def added(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = viewed(draw, number) | {"cart_id": f"C{number % 90_000:05d}", "added_at": MOMENTS[int(a * 6)]}
    if b < 0.2:
        found["coupon"] = COUPONS[int(a * 4)]
    if b < 0.5:
        found["cart"] = {"items": 1 + int(a * 7), "total": price(b), "isGift": a < 0.1}
    return found


def cart(draw: Draw, number: int) -> Record:
    a = draw()
    found: Record = {"cart_id": f"C{number % 90_000:05d}", "value": price(a), "currency": "EUR"}
    found["products"] = products(draw, number)
    if a < 0.3:
        found["coupon"] = COUPONS[int(draw() * 4)]
        found["discount"] = price(draw())
    if a < 0.5:
        found["abandoned"] = {"before": draw() < 0.2, "last_seen": MOMENTS[int(draw() * 6)]}
    return found


def checkout(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = cart(draw, number) | {"checkout_id": f"K{number}", "step": 1 + int(a * 4)}
    if a < 0.7:
        found["shipping_method"] = "DHL" if b < 0.6 else "pick up"
        found["payment"] = {"method": "card" if b < 0.5 else "paypal", "saved": a < 0.3}
    if b < 0.4:
        found["address"] = {"city": CITIES[int(a * 8)], "country": COUNTRIES[int(b * 8)]}
    return found


def order(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = checkout(draw, number) | {
        "order_id": f"{500_000 + number}",
        "affiliation": "Web shop" if a < 0.8 else "Marketplace",
        "total": price(a),
        "subtotal": price(b),
        "shipping": 4.9 if b < 0.7 else 0,
        "tax": price(b / 9),
        "firstOrder": a < 0.2,
    }
    if a < 0.6:
        found["delivery"] = {
            "carrier": "DHL",
            "date": "2024-06-28",
            "express": b < 0.2,
            "window": {"from": MOMENTS[int(b * 6)], "to": MOMENTS[int(a * 6)]},
        }
    if b < 0.5:
        found["payment"] = {"method": "card", "card": {"brand": "visa", "last4": f"{int(a * 9_999):04d}"}}
        found["payment"]["installments"] = int(b * 12)
    if b < 0.1:
        found["note"] = "2 gifts: no invoice"
    return found


def refunded(draw: Draw, number: int) -> Record:
    a = draw()
    found: Record = {"order_id": f"{500_000 + number}", "total": price(a), "currency": "EUR", "partial": a < 0.4}
    found["products"] = products(draw, number)
    found["refunded_at"] = MOMENTS[int(a * 6)]
    if a < 0.5:
        found["reason"] = {"code": "R1" if a < 0.3 else "R2", "text": "It came broken", "photos": int(a * 6)}
    return found


def opened(draw: Draw, number: int) -> Record:
    a, b = draw(), draw()
    found: Record = {"version": f"5.{int(a * 9)}.{int(b * 20)}", "from_background": a < 0.5, "build": 4_100 + int(b * 90)}
    if a < 0.3:
        found["referring_application"] = "com.example.mail"
        found["url"] = f"shop://p/{int(b * 5_000)}"
    if b < 0.3:
        found["experiments"] = {"checkout_v2": a < 0.5, "bigImages": "B" if a < 0.5 else "A"}
    if a < 0.2:
        found["push"] = {"id": f"n{int(b * 9_000)}", "sent_at": MOMENTS[int(b * 6)], "opened": True}
    return found


NAMED: tuple[tuple[str, Callable[[Draw, int], Record]], ...] = (
    ("Product Viewed", viewed),
    ("Products Searched", searched),
    ("Add to Cart", added),
    ("Application Opened", opened),
    ("Cart Viewed", cart),
    ("Checkout Started", checkout),
    ("Order Completed", order),
    ("wishlistProductAdded", added),
    ("Order Refunded", refunded),
)
ORDER = 6
THINGS = (
    "Article", "Banner", "Brew Guide", "Bundle", "Campaign", "Category", "Comment", "Course", "Delivery",
    "Discount", "Filter", "Gift Card", "Invoice", "Message", "Newsletter", "Notification", "Payment", "Photo",
    "Profile", "Question", "Review", "Seat", "Store", "Subscription", "Video",
)  # fmt: skip
ACTIONS = (
    "Opened", "Closed", "Created", "Changed", "Deleted", "Shared", "Liked", "Reported", "Printed", "Expired",
    "Paused", "Resumed", "Approved", "Rejected", "Scrolled", "Hovered", "Copied", "Saved", "Failed", "Retried",
)  # fmt: skip
EXTRAS: tuple[tuple[str, Callable[[float], Any]], ...] = (
    ("title", lambda at: NAMES[int(at * 14)]),
    ("duration", lambda at: price(at)),
    ("count", lambda at: int(at * 900)),
    ("done", lambda at: at < 0.5),
    ("changed_at", lambda at: MOMENTS[int(at * 6)]),
    ("owner", lambda at: {"id": f"u-{int(at * 9_000)}", "role": "editor" if at < 0.5 else "guest"}),
    ("source", lambda at: "mail" if at < 0.5 else "search"),
    ("score", lambda at: at / 2 + 0.25),
    ("tags", lambda at: ["tea", "2024", "gift"][: int(at * 4)]),
    ("objectId", lambda at: f"O{int(at * 90_000)}"),
    ("position", lambda at: {"x": int(at * 1_900), "y": int(at * 900), "visible": at < 0.8}),
    ("comment", lambda at: "Lovely, and quick to arrive"),
    ("rank", lambda at: int(at * 40)),
    ("isNew", lambda at: at < 0.1),
    ("language", lambda at: "de" if at < 0.5 else "ja"),
    ("product", lambda at: {"id": f"P{int(at * 5_000)}", "price": price(at), "brand": BRANDS[int(at * 5)]}),
    ("due", lambda at: "2024-07-01"),
    ("size_mb", lambda at: at * 9 + 0.125),
    ("device", lambda at: {"os": {"name": "iOS" if at < 0.5 else "Android", "major": 17}, "rooted": False}),
)


def _tracks() -> Iterator[tuple[str, Callable[[Draw, int], Record]]]:
    """The name of each track event, and what makes its properties: the shop's, then any number of others."""
    yield from NAMED
    extras = cycle(EXTRAS)
    for version in range(1, 10**6):
        for action in ACTIONS:
            for thing in THINGS:
                name = f"{thing} {action}" if version == 1 else f"{thing} {action} v{version}"
                yield name, _other(tuple(islice(extras, 13)))


def _other(extras: tuple[tuple[str, Callable[[float], Any]], ...]) -> Callable[[Draw, int], Record]:
    def make(draw: Draw, number: int) -> Record:
        return {key: value(at) for key, value in extras if (at := draw()) < 0.8}

    return make


APPS = (
    {"name": "Tea shop", "version": "3.2.0", "namespace": "com.example.shop", "installType": "npm"},
    {"name": "Tea", "version": "5.1.2", "namespace": "com.example.tea", "build": "4102"},
    {"name": "Tea", "version": "5.0.9", "namespace": "com.example.tea", "build": "4100"},
)
LIBRARIES = (
    {"name": "RudderLabs JavaScript SDK", "version": "3.7.1"},
    {"name": "rudder-ios-library", "version": "1.29.0"},
    {"name": "com.rudderstack.android.sdk.core", "version": "1.25.1"},
    {"name": "analytics-python", "version": "2.1.0"},
)
AGENTS = tuple(
    f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/12{minor}.0.0.0 Safari/537.36"
    for minor in range(7)
    for system in ("Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64")
)
LOCALES = ("de-DE", "en-GB", "fr-FR", "ja-JP", "nb-NO")
ZONES = ("GMT+0200", "GMT+0100", "GMT+0900", "GMT+0530", "GMT-0400")
PHONE_ZONES = ("Europe/Berlin", "Europe/Oslo", "Asia/Tokyo", "Asia/Kolkata", "America/New_York")
WINDOWS = (
    {"density": 1, "width": 1920, "height": 1080, "innerWidth": 1903, "innerHeight": 969},
    {"density": 2, "width": 1440, "height": 900, "innerWidth": 1440, "innerHeight": 764},
    {"density": 3, "width": 390, "height": 844, "innerWidth": 390, "innerHeight": 664},
)
SCREENS = (
    {"density": 3, "width": 390, "height": 844},
    {"density": 420, "width": 1080, "height": 2400},
    {"density": 2, "width": 375, "height": 667},
)
IPHONES = ("iPhone15,2", "iPhone14,5", "iPhone12,8", "iPad13,1")
ANDROIDS = (("Google", "Pixel 8"), ("samsung", "SM-S911B"), ("Xiaomi", "2201117TY"), ("Fairphone", "FP5"))
CARRIERS = ("Telekom.de", "Telenor", "docomo", "unavailable")
CAMPAIGNS = tuple(
    {"source": source, "medium": medium, "name": f"summer_{number}", "content": "hero", "term": "green tea"}
    for number, (source, medium) in enumerate((("google", "cpc"), ("newsletter", "email"), ("instagram", "social")))
)
TITLES = ("Tea shop", "Kettles", "茶筅", "Cart", "Green tea, loose")
PATHS = ("/", "/c/kettles", "/p/2201", "/cart", "/c/tea/green")
REFERRERS = (("https://www.google.com/", "www.google.com"), ("$direct", ""), (f"{SITE}/", "shop.example.com"))
EVERYWHERE = {"All": True}
WEB, IOS, ANDROID, SERVER = range(4)
CHANNELS = ("web", "mobile", "mobile", "server")
# By twentieths of all events of a type.
ANYWHERE = (*[WEB] * 11, *[IOS] * 4, *[ANDROID] * 4, SERVER)
PLACES: dict[int | str, tuple[int, ...]] = {
    "page": (WEB,) * 20,
    "screen": (*[IOS] * 10, *[ANDROID] * 10),
    "group": (*[WEB] * 8, *[SERVER] * 12),
    "alias": (*[WEB] * 12, *[SERVER] * 8),
}
KNOWN = ("identify", "group", "alias")
TYPES = (
    *["track"] * 140, *["page"] * 26, *["screen"] * 14, *["identify"] * 16, *["group"] * 2, *["alias"] * 2,
)  # fmt: skip
# How far the clocks of devices are off, in milliseconds: most hardly, few by hours.
SKEWS = (*range(-1_500, 1_500, 100), -60_000, 45_000, 180_000, -420_000, 95_000, -9_000, 3_600_000, -7_200_000, 12, 0)


def on_the_web(draw: Draw, person: int, known: bool) -> Record:
    a, b = draw(), draw()
    path = PATHS[int(a * 5)]
    referrer, domain = REFERRERS[int(b * 3)]
    found: Record = {
        "app": APPS[0],
        "library": LIBRARIES[0],
        "userAgent": AGENTS[person % 21],
        "locale": LOCALES[person % 5],
        "timezone": ZONES[person % 5],
        "screen": WINDOWS[person % 3],
        "os": NO_SYSTEM,
        "device": None,
        "network": None,
        "sessionId": 1_717_200_000_000 + person * 7_919,
        "page": {
            "path": path,
            "url": SITE + path,
            "title": TITLES[int(a * 5)],
            "search": "?utm_source=google" if b < 0.1 else "",
            "referrer": referrer,
            "referring_domain": domain,
        },
        "campaign": CAMPAIGNS[int(b * 30)] if b < 0.1 else NOTHING,
        "traits": persisted(person) if known else NOTHING,
    }
    if a < 0.1:
        found["sessionStart"] = True
        found["page"]["initial_referrer"] = referrer
        found["page"]["initial_referring_domain"] = domain
    return found


def on_ios(draw: Draw, person: int, known: bool) -> Record:
    found = on_a_phone(draw, person, known)
    model = IPHONES[person % 4]
    tracked = person % 3 == 0
    found |= {"app": APPS[1], "library": LIBRARIES[1], "os": {"name": "iOS", "version": f"17.{person % 6}"}}
    found["device"] = {
        "id": uuid(person * 0xD1B54A32D192ED03AABF3D19),
        "manufacturer": "Apple",
        "model": model,
        "name": model.partition("1")[0],
        "type": "iOS",
        "attTrackingStatus": 3 if tracked else 2,
    }
    if tracked:
        found["device"] |= {"advertisingId": uuid(person * 0x9FB21C651E98DF25), "adTrackingEnabled": True}
    return found


def on_android(draw: Draw, person: int, known: bool) -> Record:
    found = on_a_phone(draw, person, known)
    maker, model = ANDROIDS[person % 4]
    found |= {"app": APPS[2], "library": LIBRARIES[2], "os": {"name": "Android", "version": str(11 + person % 4)}}
    found["userAgent"] = f"Dalvik/2.1.0 (Linux; U; Android 14; {model})"
    found["device"] = {
        "id": f"{person * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF:016x}",
        "manufacturer": maker,
        "model": model,
        "name": model.lower(),
        "type": "Android",
        "adTrackingEnabled": person % 2 == 0,
    }
    return found


def on_a_phone(draw: Draw, person: int, known: bool) -> Record:
    a = draw()
    found: Record = {
        "locale": LOCALES[person % 5],
        "timezone": PHONE_ZONES[person % 5],
        "screen": SCREENS[person % 3],
        "network": {"carrier": CARRIERS[person % 4], "wifi": a < 0.6, "cellular": a >= 0.6, "bluetooth": a < 0.3},
        "sessionId": 1_717_200_000 + person * 7,
        "traits": persisted(person) if known else {"anonymousId": uuid(person * 0xF39CC0605CEDC835)},
    }
    if a < 0.05:
        found["device_token_age_days"] = int(a * 900)
    return found


def on_a_server(draw: Draw, person: int, known: bool) -> Record:
    found: Record = {"library": LIBRARIES[3], "ip": f"198.51.100.{person % 251}"}
    if draw() < 0.5:
        found["traits"] = persisted(person)
    return found


def persisted(person: int) -> Record:
    """What an SDK remembers of a person and sends with each event."""
    return {"email": f"user{person}@example.com", "plan": PLANS[person % 3]}


NO_SYSTEM = {"name": "", "version": ""}
NOTHING: Record = {}
PLANS = ("free", "club", "trade")
CONTEXTS = (on_the_web, on_ios, on_android, on_a_server)


def identify(record: Record, draw: Draw, person: int) -> None:
    a, b = draw(), draw()
    name = NAMES[person % 14]
    traits: Record = persisted(person) | {
        "name": name,
        "firstName": name.partition(" ")[0],
        "createdAt": "2023-11-05T10:20:30.000Z",
        "newsletter": a < 0.4,
        "orderCount": int(b * 30),
        "lifetimeValue": price(b),
    }
    if a < 0.6:
        traits["address"] = {"city": CITIES[int(b * 8)], "country": COUNTRIES[int(a * 8)], "postalCode": "50667"}
    if b < 0.4:
        traits["birthday"] = "1990-02-28"
        traits["age"] = 18 + int(a * 60)
    if b < 0.2:
        traits["company"] = {"id": f"G{person % 500}", "name": "Teahouse Ltd", "employees": int(a * 90)}
        traits["interests"] = ["green", "matcha"]
    record["traits"] = traits


def page(record: Record, draw: Draw, person: int) -> None:
    shown = record["context"]["page"]
    record["name"] = TITLES[int(draw() * 5)]
    record["properties"] = {**shown, "name": record["name"], "load_ms": int(draw() * 3_000)}
    if draw() < 0.4:
        record["properties"]["category"] = CATEGORIES[int(draw() * 5)]


def screen(record: Record, draw: Draw, person: int) -> None:
    a = draw()
    record["name"] = TITLES[int(a * 5)]
    record["properties"] = {"name": record["name"], "automatic": a < 0.5, "depth": int(a * 9)}
    if draw() < 0.3:
        record["properties"]["previous"] = {"name": TITLES[int(draw() * 5)], "seconds": price(draw())}


def group(record: Record, draw: Draw, person: int) -> None:
    a = draw()
    record["groupId"] = f"G{person % 500}"
    record["traits"] = {
        "name": "Teahouse Ltd",
        "industry": "Catering" if a < 0.5 else "Retail",
        "employees": int(a * 90),
        "plan": {"tier": PLANS[int(a * 3)], "seats": int(a * 40), "renewsAt": MOMENTS[int(a * 6)]},
    }
    if draw() < 0.5:
        record["traits"]["yearlySpend"] = price(draw())


def alias(record: Record, draw: Draw, person: int) -> None:
    record["previousId"] = record["anonymousId"]


OTHERS: dict[int | str, Callable[[Record, Draw, int], None]] = {
    "page": page,
    "screen": screen,
    "identify": identify,
    "group": group,
    "alias": alias,
}
