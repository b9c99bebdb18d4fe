"""The words that records are made of, and moments of one year as ready-made text."""

from __future__ import annotations

NAMES = (
    "Ada Lovelace", "Grace Hopper", "José Núñez", "Ünal Çelik", "Søren Åkesson", "Zoë Müller-Lüdenscheidt",
    "山田 太郎", "Анна Каренина", "محمد علي", "이순신", "O'Brien, Pat", "Łukasz Żółć", "Ngô Bảo Châu",
    "🦊 Fox",
)  # fmt: skip
COUNTRIES = ("DE", "FR", "US", "JP", "BR", "IN", "NO", "PL")
CITIES = ("Köln", "Paris", "Boston", "東京", "São Paulo", "Pune", "Tromsø", "Łódź")
EVENTS = ("view", "click", "buy", "refund")
PRODUCTS = ("Kettle", "Teapot", "Mug", "Tray", "Whisk", "Sieve", "Crème brûlée torch", "茶筅", "Tin", "Scoop")
WORDS = ("tea", "green", "black", "gift", "set", "große Kanne", "matcha", "cheap", "iron", "new")
DEVICES = ("phone", "desktop", "tablet")
NOTES = ("leave at the door", "ring twice", "a gift: no invoice", "naïve façade, 2nd floor", None)
DAYS = tuple(
    f"2024-{month:02d}-{day:02d}T"
    for month, days in enumerate((31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1)
    for day in range(1, days + 1)
)
MINUTES = tuple(f"{hour:02d}:{minute:02d}:" for hour in range(24) for minute in range(60))
SECONDS = tuple(f"{second:02d}Z" for second in range(60))


def moment(day: int, tick: int) -> str:
    return DAYS[day] + MINUTES[tick * 7 % 1440] + SECONDS[tick % 60]
