"""Whose ids belong together: rules, and one rudder_id for all they join."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import Event, Opens, Shop, event, identify, track

RULES, MAPPINGS = "rudder_identity_merge_rules", "rudder_identity_mappings"


def resolving(open_shop: Opens, provider: str = "BQ") -> Shop:
    return open_shop(provider, identity_resolution=True)


def known(user: str, anonymous: str, at: int = 0) -> Event:
    return {**identify(user, at), "anonymousId": anonymous}


def groups(shop: Shop, table: str = MAPPINGS) -> list[set[str]]:
    """The values that share an id, the largest group first."""
    rows = shop.sql(f"SELECT list(merge_property_value) FROM {table} GROUP BY rudder_id")
    return sorted(({*values} for (values,) in rows), key=lambda value: (-len(value), sorted(value)))


C79 = [
    known("u1", "a1"),
    known("u2", "a2"),
    event("alias", "alias", userId="u1", previousId="u2"),
]


@pytest.mark.parametrize("provider", ["BQ", "SNOWFLAKE"])
@pytest.mark.parametrize("loads", [1, 3])
def test_c79_rules_join_what_they_name(open_shop: Opens, provider: str, loads: int) -> None:
    shop = resolving(open_shop, provider)
    for part in [C79] if loads == 1 else [[record] for record in C79]:
        shop.load(*part)
    assert groups(shop) == [{"a1", "u1", "a2", "u2"}]
    rules = shop.sql(
        "SELECT merge_property_1_type, merge_property_1_value, merge_property_2_type, merge_property_2_value "
        f"FROM {RULES} ORDER BY ALL"
    )
    assert rules == [
        ("anonymous_id", "a1", "user_id", "u1"),
        ("anonymous_id", "a2", "user_id", "u2"),
        ("user_id", "u1", "user_id", "u2"),
    ]
    assert shop.sql(
        f"SELECT count(*), count(DISTINCT rudder_id) FROM {MAPPINGS} WHERE updated_at > '2024-01-01'"
    ) == [(4, 1)]


def test_two_people_stay_two(open_shop: Opens) -> None:
    shop = resolving(open_shop)
    shop.load(*C79[:2])
    assert groups(shop) == [{"a1", "u1"}, {"a2", "u2"}]
    first = dict(shop.sql(f"SELECT merge_property_value, rudder_id FROM {MAPPINGS}"))
    shop.load(known("u1", "a1", 1), known("u1", "a3", 2))
    again = dict(shop.sql(f"SELECT merge_property_value, rudder_id FROM {MAPPINGS}"))
    assert {value: again[value] for value in first} == first
    assert again["a3"] == first["u1"]


def test_c59_rules_of_pages_and_tracks(open_shop: Opens) -> None:
    shop = resolving(open_shop, "SNOWFLAKE")
    page = event("page", "p", anonymousId="an", userId="u")
    unnamed = {**track("t", ""), "anonymousId": "a9", "userId": "u9"}
    shop.load(page, unnamed)
    assert shop.tables == {
        "PAGES", "TRACKS", "RUDDER_DISCARDS", "RUDDER_IDENTITY_MERGE_RULES", "RUDDER_IDENTITY_MAPPINGS",
    }  # fmt: skip
    assert groups(shop) == [{"an", "u"}]
    for provider in ("POSTGRES", "RS"):
        other = open_shop(provider, file=provider, identity_resolution=True)
        other.load(page)
        assert other.tables == {"pages", "rudder_discards"}


def test_half_rules(open_shop: Opens) -> None:
    """A user without an anonymous id, alone in its load: only two of the four columns come."""
    shop = resolving(open_shop)
    shop.load(identify("u", 1))
    assert groups(shop) == [{"u"}]
    shop.load(known("u", "a", 2))
    assert groups(shop) == [{"a", "u"}]
    shop.load(event("page", "p"))
    assert groups(shop) == [{"a", "u"}]


def test_c60_merge_events(open_shop: Opens) -> None:
    def merge(id: str, *pairs: tuple[str, Any]) -> Event:
        return event("merge", id, mergeProperties=[{"type": kind, "value": value} for kind, value in pairs])

    events = [merge("1", ("email", "x@y"), ("phone", 12)), merge("2", ("email", "x@y"))]
    shop = resolving(open_shop)
    report = shop.load(*events)
    assert (report.rows.loaded, report.rows.rejected) == (1, 1)
    assert groups(shop) == [{"x@y", "12"}]
    assert shop.rejects == [(2, "either or both identifiers missing in mergeProperties")]
    other = open_shop("POSTGRES", file="other", identity_resolution=True)
    report = other.load(*events)
    assert report.rows.dropped + report.rows.loaded == 2
    assert other.tables <= {"rudder_discards"}


def test_rules_are_kept_once(open_shop: Opens) -> None:
    shop = resolving(open_shop)
    for at in (1, 2):
        shop.load(known("u1", "a1", at), known("u1", "a1", at + 10))
    assert shop.sql(f"SELECT count(*) FROM {RULES}") == [(1,)]
    assert shop.sql(f"SELECT count(*) FROM {MAPPINGS}") == [(2,)]


@pytest.mark.parametrize("first", ["x" * 600, "x" * 501], ids=len)
def test_ids_that_are_too_long_for_a_rule(open_shop: Opens, first: str) -> None:
    """`anonymous_id` has 12 letters; type and value together have 512 at most."""
    shop = resolving(open_shop)
    shop.load(known("u", first, 1), known("v", "y" * 500, 1))
    replaced, kept = sorted(shop.values(RULES, "merge_property_1_value"))
    assert kept == "y" * 500
    assert replaced.startswith("rudder-discards-")
    reason = (
        "The maximum length of the concatenated columns merge_property_1_type and merge_property_1_value "
        "should be less than 512"
    )
    assert shop.discards == [(replaced, RULES, "merge_property_1_value", first, reason)]
