"""Options: how they are said, stored, and changed by an event."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.rudderstack.conformance.exploding import NOW, event, rows
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.options import WORDS, Options
from trellis.errors import UsageError


def for_event(options: Options, event: dict[str, Any]) -> Options:
    """The options under which an event is transformed."""
    overrides = options.overrides_of(event)
    return options if overrides is None else options.with_overrides(overrides)


def test_nothing_said() -> None:
    options = Options.of({})
    assert options == Options()
    assert options.to_document() == {}
    assert (options.provider, options.max_columns, options.overflow) == ("POSTGRES", 1600, "rudder_overflow")
    assert options.populate_src_dest_info is True
    assert options.identity_resolution is options.underscore_divide_numbers is False
    assert options.prefer_append is None


@pytest.mark.parametrize(
    ("word", "value", "name", "read"),
    [
        ("skipUsersTable", "true", "skip_users_table", True),
        ("skip_users_table", True, "skip_users_table", True),
        ("skipTracksTable", " False ", "skip_tracks_table", False),
        ("jsonPaths", "a.b, c,,a.b", "json_paths", ("a.b", "c")),
        ("jsonPaths", ["a.b", "c"], "json_paths", ("a.b", "c")),
        ("preferAppend", False, "prefer_append", False),
        ("max_columns", "200", "max_columns", 200),
        ("max_columns", 200, "max_columns", 200),
        ("max_events", 0, "max_events", 0),
        ("namespace", " shop ", "namespace", "shop"),
        ("provider", "BQ", "provider", "BQ"),
        ("users_merge", "latest_row", "users_merge", "latest_row"),
        ("users_anonymous_id", "latest", "users_anonymous_id", "latest"),
        ("widen", "int_to_float", "widen", "int_to_float"),
        ("widen", "", "widen", ""),
        ("events", "Add to Cart,Sale", "events", ("Add to Cart", "Sale")),
        ("namespace", None, "namespace", ""),
    ],
)
def test_options_are_read_from_text_and_from_yaml(word: str, value: Any, name: str, read: Any) -> None:
    assert getattr(Options.of({word: value}), name) == read


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        ("skipUsersTable", "yes", "option skipUsersTable takes true or false, not 'yes'"),
        ("skip_users_table", 1, "option skip_users_table takes true or false, not 1"),
        ("max_columns", "many", "option max_columns takes a whole number of 1 or more, not 'many'"),
        ("max_columns", True, "option max_columns takes a whole number of 1 or more, not True"),
        ("max_columns", 0, "option max_columns takes a whole number of 1 or more, not 0"),
        ("max_events", -1, "option max_events takes a whole number of 0 or more, not -1"),
        ("max_events", "\u00b2", "option max_events takes a whole number of 0 or more, not '\u00b2'"),
        ("max_events", 1.5, "option max_events takes a whole number of 0 or more, not 1.5"),
        (
            "jsonPaths",
            [1],
            "option jsonPaths takes names with commas between them, or a list of names, not [1]",
        ),
        ("events", 5, "option events takes names with commas between them, or a list of names, not 5"),
        ("namespace", 5, "option namespace takes text, not 5"),
        ("overflow", " ", "option overflow takes a name, not ' '"),
        ("users_merge", "last", "option users_merge takes latest or latest_row, not 'last'"),
        ("users_anonymous_id", "all", "option users_anonymous_id takes \"\" or latest, not 'all'"),
        (
            "provider",
            "postgres",
            "option provider: there is no warehouse 'postgres': did you mean 'POSTGRES'?",
        ),
        (
            "skipUserTable",
            True,
            "dialect rudderstack has no option 'skipUserTable': did you mean 'skipUsersTable'?",
        ),
        ("max_column", 5, "dialect rudderstack has no option 'max_column': did you mean 'max_columns'?"),
    ],
)
def test_a_wrong_option_says_what_is_right(word: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Options.of({word: value})
    assert str(caught.value) == message


def test_one_option_in_two_spellings() -> None:
    with pytest.raises(UsageError, match="is given twice, as skipUsersTable and skip_users_table; keep one"):
        Options.of({"skipUsersTable": True, "skip_users_table": True})


def test_options_are_said_over_others() -> None:
    base = Options.of({"provider": "RS", "skipUsersTable": True})
    options = Options.of({"skipUsersTable": False, "namespace": "shop"}, base)
    assert options.to_document() == {"provider": "RS", "namespace": "shop"}
    assert Options.of({}, base) == base


def test_the_defaults_of_old_destinations() -> None:
    legacy = Options.of({"legacy": True})
    assert legacy.underscore_divide_numbers is legacy.allow_users_context_traits is True
    mixed = Options.of({"legacy": "true", "underscoreDivideNumbers": False})
    assert (mixed.underscore_divide_numbers, mixed.allow_users_context_traits) == (False, True)
    assert Options.of({"namespace": "shop"}, mixed).underscore_divide_numbers is False
    assert Options.of({"legacy": False}, legacy) == Options()
    tables = rows(event("track", event="2nd Try", properties={"userID2FA": 1}), legacy=True)
    assert tables["_2nd_try"]["user_id_2_fa"] == 1


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"provider": "BQ", "legacy": True},
        {"legacy": True, "underscoreDivideNumbers": False},
        {"jsonPaths": "a,b", "events": ["x"], "preferAppend": False, "max_events": 5, "overflow": "rest"},
    ],
)
def test_a_document_comes_back(record: dict[str, Any]) -> None:
    options = Options.of(record)
    document = options.to_document()
    assert Options.of_document(document) == options
    assert Options.of_document(document).to_document() == document
    assert all(isinstance(value, (str, int, bool, list)) for value in document.values())


def test_every_option_has_one_word() -> None:
    assert len(set(WORDS)) == len(WORDS)
    assert {"skipUsersTable", "customDatasetPrefix", "strict_timestamps", "users_merge"} <= set(WORDS)


# --- Events ----------------------------------------------------------------------------------------------


def asked(name: str = "POSTGRES", **options: Any) -> dict[str, Any]:
    return {"integrations": {name: {"options": options}}}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"integrations": None},
        {"integrations": {"All": True}},
        {"integrations": {"POSTGRES": True}},
        {"integrations": {"POSTGRES": {"options": None}}},
        {"integrations": {"POSTGRES": {"options": []}}},
        asked(skipUsersTable="true"),
        asked(skipUsersTable=1),
        asked(jsonPaths="a"),
        asked(jsonPaths=[5]),
        asked(storeFullEvent=True),
        asked("RS", skipUsersTable=True),
        asked("DATA_WAREHOUSE", skipUsersTable=True),
    ],
)
def test_events_that_ask_for_nothing(record: dict[str, Any]) -> None:
    options = Options()
    assert for_event(options, record) is options


def test_c36_c40_r35_r36_r39_what_an_event_may_ask() -> None:
    record = {
        "skipUsersTable": True,
        "skipTracksTable": True,
        "skipReservedKeywordsEscaping": True,
        "useBlendoCasing": True,
        "jsonPaths": ["b", "a"],
    }
    options = for_event(Options(json_paths=("a",)), asked(**record))
    assert options.to_document() == {**record, "jsonPaths": ["a", "b"]}
    assert for_event(Options(), asked(**record)) is for_event(Options(), asked(**record))


def test_a_skip_of_the_destination_stays() -> None:
    options = Options(skip_users_table=True, skip_tracks_table=True, use_blendo_casing=True)
    result = for_event(options, asked(skipUsersTable=False, skipTracksTable=False, useBlendoCasing=False))
    assert result == Options(skip_users_table=True, skip_tracks_table=True)


def test_c54_paths_are_brought_together() -> None:
    every = {
        "POSTGRES": {"options": {"jsonPaths": ["b"]}},
        "DATA_WAREHOUSE": {"options": {"jsonPaths": ["c", "a"]}},
    }
    assert for_event(Options(json_paths=("a",)), {"integrations": every}).json_paths == ("a", "b", "c")
    delta = Options(provider="DELTALAKE")
    assert for_event(delta, {"integrations": every}) is delta


def test_one_event_s_options_are_not_the_next_one_s() -> None:
    explode = EventRouter(Options(), NOW)
    record = event("track", event="e")
    for number in range(100):
        once = explode({**record, **asked(jsonPaths=[f"p{number}"], skipTracksTable=True)}, "1")
        assert [table for table, _ in once.rows] == ["e"]
        assert [table for table, _ in explode(record, "2").rows] == ["tracks", "e"]
