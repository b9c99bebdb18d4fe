"""Events of a shop, on the web and on phones, as RudderStack's SDKs and its server send them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from random import Random
from typing import Any

from trellis.dialects.rudderstack.profiles.contexts import (
    PLANS,
    TITLES,
    mixed,
    on_a_server,
    on_android,
    on_ios,
    on_the_web,
    persisted,
    uuid,
)
from trellis.dialects.rudderstack.profiles.properties import CATEGORIES, ORDER, moment, price, track_events
from trellis.generate.words import CITIES, COUNTRIES, DAYS, MINUTES, NAMES

Record = dict[str, Any]
Draw = Callable[[], float]

DAY = 86_400_000  # milliseconds
FIRST, SPAN = 152 * DAY, 30 * DAY  # June 2024
WEB, IOS, ANDROID, SERVER = range(4)
CONTEXTS = (on_the_web, on_ios, on_android, on_a_server)
CHANNELS = ("web", "mobile", "mobile", "server")
PLACES: dict[str, tuple[int, ...]] = {  # by twentieths
    "track": (*[WEB] * 11, *[IOS] * 4, *[ANDROID] * 4, SERVER),
    "page": (WEB,) * 20,
    "screen": (*[IOS] * 10, *[ANDROID] * 10),
    "identify": (*[WEB] * 10, *[IOS] * 4, *[ANDROID] * 4, *[SERVER] * 2),
    "group": (*[WEB] * 8, *[SERVER] * 12),
    "alias": (*[WEB] * 12, *[SERVER] * 8),
}
TYPES = (
    *["track"] * 140, *["page"] * 26, *["identify"] * 16, *["screen"] * 14, *["group"] * 2, *["alias"] * 2,
)  # fmt: skip
# How far the clocks of devices are off, in milliseconds: most hardly, few by hours.
FAR_OFF = (0, 12, -9_000, 45_000, -60_000, 95_000, 180_000, -420_000, 3_600_000, -7_200_000)
SKEWS = (*range(-1_500, 1_500, 100), *FAR_OFF)
EVERYWHERE = {"All": True}
MEMORY = 64  # events that may be sent again


def events(rows: int, random: Random, _columns: int, names: int = 9) -> Iterator[bytes]:
    """In the order in which the server received them, over 30 days; track events have `names` names.

    The first events are one of each name and type with every key of theirs, so that what a table has of its
    own does not depend on the number of rows, and no column of prices begins with a whole number. One key
    comes late: the `loyalty_points` of orders, after four fifths. One event in 200 is sent again under its
    messageId. One in 1,000 has a value of another kind than before, or two keys that become one column.
    """
    from orjson import dumps

    draw = random.random
    tracks = list(islice(track_events(), names))
    shares = list(accumulate(1 / (4 + number) for number in range(names)))
    others = tuple(OTHERS)
    people = 50 + rows // 20
    late = rows * 4 // 5
    recent: list[Record] = []
    for i in range(rows):
        received = FIRST + i * SPAN // rows
        first = i < names + len(others)
        chance = every_key if first else draw
        if not first and draw() < 0.005:
            again = recent[int(draw() * len(recent))]
            yield dumps({**again, "sentAt": stamp(received - 90), "receivedAt": stamp(received)})
            continue
        if first:
            kind = "track" if i < names else others[i - names]
        else:
            kind = TYPES[int(draw() * 200)]
        person = int(draw() * draw() * people)
        record = envelope(kind, received, person, random, chance)
        if kind == "track":
            name, make = tracks[i if first else bisect(shares, draw() * shares[-1])]
            record["event"] = name
            record["properties"] = make(chance, i)
            if i >= late and name == ORDER:
                record["properties"]["loyalty_points"] = int(draw() * 900)
        else:
            OTHERS[kind](record, chance, person)
        if not first and draw() < 0.001:
            drift(record, int(draw() * 4))
        if len(recent) < MEMORY:
            recent.append(record)
        else:
            recent[i % MEMORY] = record
        yield dumps(record)


def every_key() -> float:
    """In place of a random draw: every optional key is present, and every choice is the first."""
    return 0.0


def envelope(kind: str, received: int, person: int, random: Random, chance: Draw) -> Record:
    """The fields of events of all types. A few wait for days in a device without a network."""
    a, b, c = random.random(), random.random(), random.random()
    place = PLACES[kind][int(c * 20)]
    known = b < 0.5 or kind in ("identify", "group", "alias")
    skew = SKEWS[person % 40] + int(c * 900)
    sent = received - 30 - int(b * 700) + skew
    original = sent - int(a * (4_000 if b < 0.98 else 2 * DAY))
    record: Record = {
        "type": kind,
        "channel": CHANNELS[place],
        "messageId": uuid(random.getrandbits(128)),
        "anonymousId": uuid(mixed(person * 4 + place)),
        "originalTimestamp": stamp(original),
        "sentAt": stamp(sent),
        "receivedAt": stamp(received),
        "request_ip": f"203.0.113.{person % 251}",
        "context": CONTEXTS[place](chance, person, known),
        "integrations": EVERYWHERE,
    }
    if known:
        record["userId"] = f"u-{10_000 + person}"
    if a > 0.97:
        record["timestamp"] = stamp(original - skew)
    return record


def stamp(time: int) -> str:
    """Milliseconds of the year 2024 as a time.

    >>> stamp(59 * DAY + 61_007)
    '2024-02-29T00:01:01.007Z'
    """
    minute, rest = divmod(time, 60_000)
    return f"{DAYS[minute // 1440]}{MINUTES[minute % 1440]}{rest // 1000:02d}.{rest % 1000:03d}Z"


def drift(record: Record, which: int) -> None:
    """Give one key a value of another kind than it has everywhere else, or a second key its column."""
    values: Record = record.get("properties") or record.get("traits") or {}
    numbers = [key for key, value in values.items() if type(value) in (int, float)]
    texts = [key for key, value in values.items() if isinstance(value, str)]
    times = [key for key in texts if key.endswith(("_at", "_from", "edAt"))]
    if which == 0 and numbers:
        values[numbers[-1]] = "NA"
    elif which == 1 and times:
        values[times[0]] = "4 December 2020"
    elif which == 2 and texts:
        values[texts[0]] = 789
    elif texts:
        values[f"{texts[-1]} "] = "unknown"
    else:
        record["context"]["traits "] = {"plan": "unknown"}


def page(record: Record, draw: Draw, person: int) -> None:
    a, b = draw(), draw()
    shown = record["context"]["page"]
    record["name"] = shown["title"]
    record["properties"] = {**shown, "name": shown["title"], "loadMs": int(a * 3_000)}
    if b < 0.4:
        record["properties"]["category"] = CATEGORIES[int(a * 5)]


def screen(record: Record, draw: Draw, person: int) -> None:
    a, b = draw(), draw()
    record["name"] = TITLES[int(a * 5)]
    record["properties"] = {"name": record["name"], "automatic": a < 0.5, "depth": int(a * 9)}
    if b < 0.3:
        record["properties"]["previous"] = {"name": TITLES[int(b * 5)], "seconds": price(a)}


def identify(record: Record, draw: Draw, person: int) -> None:
    a, b = draw(), draw()
    name = NAMES[person % 14]
    traits = persisted(person) | {
        "name": name,
        "firstName": name.partition(" ")[0],
        "createdAt": "2023-11-05T10:20:30.000Z",
        "newsletter": a < 0.4,
        "orderCount": int(b * 30),
        "lifetimeValue": price(b),
    }
    if a < 0.6:
        traits["address"] = {
            "city": CITIES[int(b * 8)],
            "country": COUNTRIES[int(a * 8)],
            "postalCode": "50667",
        }
    if b < 0.4:
        traits["birthday"] = "1990-02-28"
        traits["age"] = 18 + int(a * 60)
    if b < 0.2:
        traits["company"] = {"id": f"G{person % 500}", "name": "Teahouse Ltd", "employees": int(a * 90)}
        traits["interests"] = ["green", "matcha"]
    record["traits"] = traits


def group(record: Record, draw: Draw, person: int) -> None:
    a, b = draw(), draw()
    record["groupId"] = f"G{person % 500}"
    record["traits"] = {
        "name": "Teahouse Ltd",
        "industry": "Catering" if a < 0.5 else "Retail",
        "employees": int(a * 90),
        "plan": {"tier": PLANS[int(a * 3)], "seats": int(a * 40), "renewsAt": moment(a)},
    }
    if b < 0.5:
        record["traits"]["yearlySpend"] = price(b)


def alias(record: Record, draw: Draw, person: int) -> None:
    record["previousId"] = record["anonymousId"]


OTHERS: dict[str, Callable[[Record, Draw, int], None]] = {
    "page": page,
    "screen": screen,
    "identify": identify,
    "group": group,
    "alias": alias,
}
