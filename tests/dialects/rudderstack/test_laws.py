"""Laws of exploding: of any events, under any options."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.dialects.rudderstack.events.cells import (
    ArrayText,
    JsonText,
    LongText,
    SpaceText,
    is_blank,
    json_text,
)
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.events.timestamps import parse, to_text
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import PROVIDERS
from trellis.evolution.dialect.transforms import Routed
from trellis.evolution.record_outcome import LostValue, Rejected

NOW = datetime(2024, 2, 29, 12, 0, tzinfo=timezone.utc)
CELLS = {int, float, bool, datetime, str, ArrayText, JsonText, LongText, SpaceText}
COLUMN = re.compile(r"[a-z_][a-z0-9_]*|[A-Z_][A-Z0-9_]*", re.ASCII)

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(("2024-02-29", "2023-02-30T10:00Z", "0001-01-01T00:00+01:00", "x-y", "  ", "\u00a0")),
)
KEYS = st.one_of(
    st.text(max_size=4),
    st.sampled_from(
        ("a", "a_b", "aB", "A_b", "b", "id", "userId", "name", "traits", "context_a", "ip", "0", "1", "")
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=6)
TYPES = ("track", "identify", "page", "screen", "group", "alias", "extract", "merge", "Track")
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("properties", "traits", "userProperties"), OBJECTS | JSON),
    **dict.fromkeys(
        (
            "messageId",
            "anonymousId",
            "userId",
            "event",
            "name",
            "groupId",
            "previousId",
            "recordId",
            "channel",
        ),
        TEXTS | JSON,
    ),
    **dict.fromkeys(("sentAt", "receivedAt", "originalTimestamp", "timestamp"), TEXTS | JSON),
    "integrations": JSON,
    "request_ip": TEXTS,
    "mergeProperties": JSON,
    "foo": JSON,
}
EVENTS = st.builds(
    lambda kind, context, fields: {"type": kind, "context": context, **fields},
    st.sampled_from(TYPES),
    OBJECTS | st.none(),
    st.fixed_dictionaries({}, optional=FIELDS),
)
OPTIONS = st.builds(
    Options,
    provider=st.sampled_from(tuple(PROVIDERS)),
    json_paths=st.sampled_from(((), ("a.b", "track.context.a", "identify.traits.a", "page.properties.a"))),
    allow_users_context_traits=st.booleans(),
    store_full_event=st.booleans(),
    identity_resolution=st.booleans(),
    strict_timestamps=st.booleans(),
    legacy_timestamps=st.booleans(),
    underscore_divide_numbers=st.booleans(),
    skip_tracks_table=st.booleans(),
    source_category=st.sampled_from(("", "cloud", "singer-protocol")),
    source_id=st.sampled_from(("", "s")),
    events=st.sampled_from(((), ("a",))),
    properties=st.sampled_from(((), ("a",), ("a.b", "id"))),
)


def explode(event: dict[str, Any], options: Options) -> Routed | str:
    try:
        return EventRouter(options, NOW)(event, "1")
    except Rejected as why:
        return str(why)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(item) for key, item in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def counted(lost: list[LostValue]) -> Counter[str]:
    return Counter(json_text(list(loss)) for loss in lost)


@given(st.dictionaries(KEYS | st.sampled_from(("type", *FIELDS)), JSON, max_size=8), OPTIONS)
def test_any_object_is_spread_or_rejected(event: dict[str, Any], options: Options) -> None:
    assert isinstance(explode(event, options), (Routed, str))


@given(EVENTS, OPTIONS)
def test_rows_hold_cells_that_are_not_blank_under_valid_names(
    event: dict[str, Any], options: Options
) -> None:
    outcome = explode(event, options)
    if isinstance(outcome, str):
        return
    assert outcome.rows or len(outcome.lost) == 1
    for table, row in outcome.rows:
        assert COLUMN.fullmatch(table)
        for column, value in row.items():
            assert COLUMN.fullmatch(column)
            assert type(value) in CELLS
            assert not is_blank(value) or (column.lower() == "event" and value == "")
            if type(value) is datetime:
                assert value.tzinfo is timezone.utc and value.microsecond % 1000 == 0
            if type(value) in (ArrayText, JsonText, LongText):
                orjson.loads(str(value))


@given(EVENTS, OPTIONS)
def test_the_order_of_keys_does_not_matter(event: dict[str, Any], options: Options) -> None:
    one, other = explode(event, options), explode(shuffled(event), options)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert one.rows == other.rows
    assert counted(one.lost) == counted(other.lost)


@given(st.lists(EVENTS, min_size=2, max_size=4), OPTIONS)
def test_what_was_seen_before_does_not_matter(events: list[dict[str, Any]], options: Options) -> None:
    learned = EventRouter(options, NOW)
    for event in events:
        try:
            outcome: Routed | str = learned(event, "1")
        except Rejected as why:
            outcome = str(why)
        alone = explode(event, options)
        assert outcome == alone
        if isinstance(outcome, Routed) and isinstance(alone, Routed):
            assert [list(row) for _, row in outcome.rows] == [list(row) for _, row in alone.rows]


@given(EVENTS, OPTIONS)
def test_the_event_is_left_as_it_was(event: dict[str, Any], options: Options) -> None:
    before = json_text(event)
    explode(event, options)
    assert json_text(event) == before


@given(st.dictionaries(KEYS, SCALARS, max_size=8))
def test_each_value_is_in_a_column_or_lost(properties: dict[str, Any]) -> None:
    """As many cells and losses as values that are not blank, where no two of one column are equal."""
    routed = EventRouter(Options(), NOW)({"type": "track", "event": "e", "properties": properties}, "1")
    tracks, event_row = (row for _, row in routed.rows)
    held = len(event_row) - len(tracks) + len(routed.lost)
    values = [value for value in properties.values() if not is_blank(value)]
    assert held <= len(values)
    if len({json_text(value) for value in values}) == len(values):
        assert held == len(values)


@given(JSON)
@example([1.0, 1e16, -0.0, 2**64])
def test_json_text_is_the_value(value: Any) -> None:
    text = json_text(value)
    assert orjson.loads(text) == orjson.loads(json_text(shuffled(value)))
    assert text == json_text(shuffled(value))


@given(st.datetimes(timezones=st.just(timezone.utc)))
def test_a_time_comes_back(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert parse(to_text(moment)) == moment


@given(st.text(alphabet="0123456789-:.TZz+ ", max_size=42) | st.text(max_size=42))
def test_parse_never_raises(text: str) -> None:
    moment = parse(text)
    assert moment is None or moment.tzinfo is timezone.utc


@given(
    st.from_regex(
        r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{4})?)?\Z"
    )
)
def test_parse_never_raises_on_what_looks_like_a_time(text: str) -> None:
    moment = parse(text)
    assert moment is None or parse(to_text(moment)) == moment
