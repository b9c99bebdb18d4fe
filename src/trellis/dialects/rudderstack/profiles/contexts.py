"""The context of an event: the app, the device, the page, and the user, as each SDK sends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
Draw = Callable[[], float]

SITE = "https://shop.example.com"
APPS = (
    {"name": "Tea shop", "version": "3.2.0", "installType": "npm"},
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
    f"Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0"
    for version in range(120, 127)
    for system in ("Windows NT 10.0", "Macintosh", "X11; Linux x86_64")
)
LOCALES = ("de-DE", "en-GB", "fr-FR", "ja-JP", "nb-NO")
OFFSETS = ("GMT+0200", "GMT+0100", "GMT+0900", "GMT+0530", "GMT-0400")
ZONES = ("Europe/Berlin", "Europe/Oslo", "Asia/Tokyo", "Asia/Kolkata", "America/New_York")
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
    {"source": source, "medium": medium, "name": "summer", "content": "hero", "term": "green tea"}
    for source, medium in (("google", "cpc"), ("newsletter", "email"), ("instagram", "social"))
)
PATHS = ("/", "/c/kettles", "/p/2201", "/cart", "/c/tea/green")
TITLES = ("Tea shop", "Kettles", "茶筅", "Cart", "Green tea, loose")
REFERRERS = (("https://www.google.com/", "www.google.com"), ("$direct", ""), (f"{SITE}/", "shop.example.com"))
PLANS = ("free", "club", "trade")
NO_SYSTEM = {"name": "", "version": ""}
NOTHING: Record = {}


def uuid(number: int) -> str:
    digits = f"{number & (1 << 128) - 1:032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def mixed(number: int) -> int:
    """128 bits that look like chance, the same for the same number."""
    return number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 0xD1B54A32D192ED03AABF3D19C5F1


def persisted(person: int) -> Record:
    """The traits of a person that an SDK stores and sends with each event."""
    return {"email": f"user{person}@example.com", "plan": PLANS[person % 3]}


def on_the_web(draw: Draw, person: int, known: bool) -> Record:
    a, b = draw(), draw()
    path = PATHS[int(a * 5)]
    referrer, domain = REFERRERS[int(b * 3)]
    context: Record = {
        "app": APPS[0],
        "library": LIBRARIES[0],
        "userAgent": AGENTS[person % 21],
        "locale": LOCALES[person % 5],
        "timezone": OFFSETS[person % 5],
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
        context["sessionStart"] = True
        context["page"]["initial_referrer"] = referrer
        context["page"]["initial_referring_domain"] = domain
    return context


def on_ios(draw: Draw, person: int, known: bool) -> Record:
    model = IPHONES[person % 4]
    device: Record = {
        "id": uuid(mixed(person)),
        "manufacturer": "Apple",
        "model": model,
        "name": model[:6],
        "type": "iOS",
        "attTrackingStatus": 2,
    }
    if person % 3 == 0:
        device |= {
            "attTrackingStatus": 3,
            "advertisingId": uuid(mixed(person + 1)),
            "adTrackingEnabled": True,
        }
    system = {"name": "iOS", "version": f"17.{person % 6}"}
    context = {"app": APPS[1], "library": LIBRARIES[1], "os": system, "device": device}
    return context | on_a_phone(draw, person, known)


def on_android(draw: Draw, person: int, known: bool) -> Record:
    maker, model = ANDROIDS[person % 4]
    version = 11 + person % 4
    context: Record = {
        "app": APPS[2],
        "library": LIBRARIES[2],
        "userAgent": f"Dalvik/2.1.0 (Linux; U; Android {version}; {model})",
        "os": {"name": "Android", "version": str(version)},
        "device": {
            "id": f"{mixed(person) >> 8 & 0xFFFFFFFFFFFFFFFF:016x}",
            "manufacturer": maker,
            "model": model,
            "name": model.lower(),
            "type": "Android",
            "adTrackingEnabled": person % 2 == 0,
        },
    }
    return context | on_a_phone(draw, person, known)


def on_a_phone(draw: Draw, person: int, known: bool) -> Record:
    wireless = draw() < 0.6
    return {
        "locale": LOCALES[person % 5],
        "timezone": ZONES[person % 5],
        "screen": SCREENS[person % 3],
        "network": {
            "carrier": CARRIERS[person % 4],
            "wifi": wireless,
            "cellular": not wireless,
            "bluetooth": False,
        },
        "sessionId": 1_717_200_000 + person * 7,
        "traits": persisted(person) if known else NOTHING,
    }


def on_a_server(draw: Draw, person: int, known: bool) -> Record:
    context: Record = {"library": LIBRARIES[3], "ip": f"198.51.100.{person % 251}"}
    if known:
        context["traits"] = persisted(person)
    return context
