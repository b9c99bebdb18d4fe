"""Flat records: twelve columns that never drift, and as many as one likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from trellis.generate.words import COUNTRIES, DAYS, EVENTS, MINUTES, NAMES, NOTES, SECONDS

HEX = {digit: value for value, digit in enumerate("0123456789abcdef")}


def flat(rows: int, random: Random, _columns: int) -> Iterator[bytes]:
    from orjson import dumps

    draw = random.random
    for i in range(rows):
        a, b, c = draw(), draw(), draw()
        yield dumps(
            {
                "id": i,
                "user_id": int(a * 100_000),
                "event": EVENTS[int(b * 4)],
                "created_at": DAYS[i * 366 // rows] + MINUTES[int(c * 1440)] + SECONDS[i % 60],
                "amount": int(a * 1_000_000) / 100,
                "quantity": 1 + int(b * 9),
                "active": c < 0.5,
                "name": NAMES[int(c * 14)],
                "email": f"user{int(a * 100_000)}@example.com",
                "country": COUNTRIES[int(b * 8)],
                "score": c,
                "note": NOTES[int(a * 5)],
            }
        )


def wide(rows: int, random: Random, columns: int) -> Iterator[bytes]:
    """Each column's fifteen values are written once; a row is a choice among them, or absent: one in 16.

    The first row has every column, so that the width does not depend on the number of rows.
    """
    makers: tuple[tuple[str, Callable[[int, int], str]], ...] = (
        ("int", lambda c, v: str((c * 7919 + v * 31 + 868) % 1_000)),
        ("text", lambda c, v: f'"value {(c + v) * 5 % 97}"'),
        ("double", lambda c, v: f"{(c * 13 + v) % 100}.75"),
        ("bool", lambda c, v: "true" if (c + v) % 2 else "false"),
        ("date", lambda c, v: f'"2024-{(c + v) % 12 + 1:02d}-{(c * v) % 28 + 1:02d}"'),
    )
    kinds = [makers[c % len(makers)] for c in range(columns)]
    parts = [
        [f'"c{c:03d}_{kind}":{make(c, v)}'.encode() for v in range(15)] + [b""]
        for c, (kind, make) in enumerate(kinds)
    ]
    if rows:
        yield b"{" + b",".join([choices[0] for choices in parts]) + b"}"
    for _ in range(rows - 1):
        bits = random.getrandbits(4 * columns)
        halves = bits.to_bytes((columns + 1) // 2, "little").hex()
        chosen = [choices[HEX[digit]] for choices, digit in zip(parts, halves, strict=False)]
        yield b"{" + b",".join(filter(None, chosen)) + b"}"
