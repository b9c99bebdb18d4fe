"""Rides of a taxi company: thirty columns of all types of Apache Pinot, with lists, nulls and dates."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from trellis.generate.words import CITIES, COUNTRIES, DAYS, MINUTES, NAMES, SECONDS, WORDS

FIRST = 1_704_067_200_000
"""2024-01-01, in milliseconds: the rides begin there, one every ten seconds."""
NULLABLE = ("tip", "rating", "note", "tags", "promo", "ended_at")


def rides(rows: int, random: Random, _columns: int) -> Iterator[bytes]:
    """In the order of time; one value in ten of six columns is null."""
    from orjson import dumps

    draw = random.random
    for i in range(rows):
        a, b, c, d = draw(), draw(), draw(), draw()
        person, driver = int(a * 900_000), int(b * 20_000)
        moment = DAYS[i * 366 // rows] + MINUTES[i * 527_040 // rows % 1440] + SECONDS[int(c * 60)]
        record = {
            "ride_id": 5_000_000_000 + i,
            "rider_id": person,
            "driver_id": driver,
            "rider": NAMES[person % 14],
            "city": CITIES[int(b * 8)],
            "country": COUNTRIES[int(c * 8)],
            "status": ("done", "cancelled", "no show")[int(d * 3)],
            "paid": a < 0.9,
            "shared": b < 0.1,
            "plate": f"ZH {driver:06d}",
            "vin": f"{int(a * 2**48):012x}{i:08x}",
            "note": WORDS[int(c * 10)],
            "promo": f"TEA{int(d * 50)}",
            "tags": [WORDS[int(x * 10)] for x in (a, b, c)[: int(d * 4)]],
            "stops": [int(x * 500) for x in (a, b, c, d)[: int(c * 5)]],
            "legs": [int(a * 900) / 100, int(b * 900) / 100],
            "vehicle": {"seats": 4 + int(a * 4), "model": WORDS[int(b * 10)]},
            "signature": f"{int(b * 2**32):08x}",
            "fare": int(a * 20_000) / 100,
            "tip": int(b * 2_000) / 100,
            "distance": c * 30,
            "rating": 1 + int(d * 5),
            "surge": int(d * 300) / 100,
            "battery": c,
            "tax": f"{int(a * 900)}.{int(b * 100):02d}",
            "started_at": moment.replace("T", " ").removesuffix("Z"),
            "ended_at": FIRST + i * 10_000,
            "day": DAYS[i * 366 // rows][:10],
            "hour": (FIRST + i * 10_000) // 3_600_000,
            "app": "7.4.1",
        }
        if d < 0.5:
            for x, name in zip((a, b, c, d * 2, a * 10 % 1, b * 10 % 1), NULLABLE, strict=True):
                if x < 0.2:
                    record[name] = None
        yield dumps(record)
