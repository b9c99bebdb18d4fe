"""Made-up events: the same each time, and as a shop's servers receive them."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from random import Random
from typing import Any, cast

import pytest

from trellis.dialects.rudderstack.profiles.events import events
from trellis.generate import generate


def records(rows: int, profile: str, seed: int = 0) -> list[dict[str, object]]:
    return [json.loads(line) for line in generate(rows, seed, profile)]


@pytest.mark.parametrize(("profile", "checksum"), [("events", 834139457), ("events-500", 3904210406)])
def test_the_same_seed_gives_the_same_bytes(profile: str, checksum: int) -> None:
    lines = list(generate(500, 7, profile))
    assert zlib.crc32(b"\n".join(lines)) == checksum
    assert lines == list(generate(500, 7, profile)) != list(generate(500, 8, profile))


def test_events_are_of_every_type_and_most_are_track() -> None:
    kinds = Counter(row["type"] for row in records(20_000, "events"))
    assert set(kinds) == {"track", "page", "identify", "screen", "group", "alias"}
    assert 0.67 < kinds["track"] / 20_000 < 0.73
    assert min(kinds.values()) > 100


def test_events_are_about_a_thousand_bytes() -> None:
    assert 1_100 < sum(map(len, generate(5_000, profile="events"))) / 5_000 < 1_300
    assert 1_100 < sum(map(len, generate(5_000, profile="events-500"))) / 5_000 < 1_300


@pytest.mark.parametrize(("profile", "names"), [("events", 9), ("events-500", 500)])
def test_the_first_events_are_one_of_each_name_with_every_key(profile: str, names: int) -> None:
    def keys(value: Any, path: str = "") -> set[str]:
        if not isinstance(value, dict):
            return {path}
        return set().union(*(keys(inner, f"{path}.{key}") for key, inner in value.items()))

    rows: list[Any] = records(12_000, profile, seed=4)
    messages: dict[str, set[str]] = {}
    for row in rows[:names]:
        messages[row["event"]] = keys(row["properties"])
    assert len(messages) == names
    assert [row["type"] for row in rows[names : names + 5]] == [
        "page",
        "screen",
        "identify",
        "group",
        "alias",
    ]
    late = {
        (row["event"], key)
        for row in rows[names:]
        if row["type"] == "track"
        for key in keys(row["properties"]) - messages[row["event"]]
        if not key.endswith(" ")
    }
    assert late <= {("Order Completed", ".loyalty_points")}
    assert len({row["event"] for row in rows if row["type"] == "track"}) == names


def test_events_have_as_many_names_as_asked_for() -> None:
    rows = [json.loads(line) for line in events(1_300, Random(0), 0, names=1_200)]
    assert len({row["event"] for row in rows[:1_200]}) == 1_200


def test_no_column_of_prices_begins_with_a_whole_number() -> None:
    first: dict[tuple[str, str], object] = {}
    whole = 0
    for row in records(5_000, "events"):
        if row["type"] == "track":
            for key, value in cast(dict[str, object], row["properties"]).items():
                if key in ("price", "total", "value", "subtotal", "shipping", "tax", "discount"):
                    first.setdefault((str(row["event"]), key), value)
                    whole += type(value) is int
    assert len(first) == 14
    assert {type(value) for value in first.values()} == {float}
    assert whole > 100


def test_one_event_in_two_hundred_is_sent_again() -> None:
    rows = records(20_000, "events")
    sent: dict[object, dict[str, object]] = {}
    again = 0
    for row in rows:
        before = sent.setdefault(row["messageId"], row)
        if before is not row:
            again += 1
            changed = {key for key in row if row[key] != before.get(key)}
            assert changed == {"sentAt", "receivedAt"}
    assert 60 < again < 140


def test_about_one_event_in_a_thousand_drifts() -> None:
    texts = ("product_id", "cart_id", "order_id", "query", "version", "path", "name", "email")

    def drifts(row: Any) -> bool:
        values = row.get("properties") or row.get("traits") or {}
        return (
            bool({"NA", "4 December 2020"}.intersection(map(str, values.values())))
            or any(key.endswith(" ") for key in (*values, *row["context"]))
            or any(type(values.get(key)) is int for key in texts)
        )

    assert 8 < sum(drifts(row) for row in records(20_000, "events")) < 40


def test_events_come_as_the_server_received_them_and_were_sent_after_they_happened() -> None:
    rows = records(5_000, "events")
    received = [str(row["receivedAt"]) for row in rows]
    assert received == sorted(received)
    sent_again = {row["messageId"] for row in rows}
    assert len(sent_again) < len(rows)
    assert all(str(row["originalTimestamp"]) <= str(row["sentAt"]) for row in rows)
    ahead = sum(str(row["sentAt"]) > str(row["receivedAt"]) for row in rows)
    assert 0.3 < ahead / len(rows) < 0.8  # clocks are off both ways
    assert 0.01 < sum("timestamp" in row for row in rows) / len(rows) < 0.05
