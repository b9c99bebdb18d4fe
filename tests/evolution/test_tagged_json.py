"""Values that are stored as JSON come back as they were: of the same class, and equal."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.evolution.scalars.tagged_json import MAX_DEPTH, dumps, from_tagged, loads, to_tagged
from trellis.evolution.scalars.values import HexBytes, Wei

offsets = st.integers(-82_800, 82_800).map(lambda seconds: timezone(timedelta(seconds=seconds)))
zones = st.none() | st.just(timezone.utc) | offsets
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.binary().map(HexBytes)
    | st.decimals()
    | st.integers(0, 2**256).map(Wei)
    | st.datetimes(timezones=zones).map(lambda value: value.replace(fold=0))
    | st.dates()
    | st.times(timezones=zones).map(lambda value: value.replace(fold=0))
    | st.uuids()
)
hashable = st.recursive(
    scalars.filter(lambda value: not (isinstance(value, Decimal) and value.is_snan())),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=3,
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(hashable, max_size=3)
        | st.frozensets(hashable, max_size=3)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(["$", "$decimal", "$map"]), inner, max_size=4)
        | st.dictionaries(hashable, inner, max_size=3)
    ),
    max_leaves=12,
)


def through_text(value: Any) -> Any:
    return from_tagged(json.loads(json.dumps(to_tagged(value), allow_nan=False, ensure_ascii=False)))


def exact(value: Any) -> str:
    """The value with all its classes; sets in an order of their own."""
    if isinstance(value, dict):
        return f"{type(value)}{[(exact(key), exact(member)) for key, member in value.items()]}"
    if isinstance(value, (list, tuple)):
        return f"{type(value)}{list(map(exact, value))}"
    if isinstance(value, (set, frozenset)):
        return f"{type(value)}{sorted(map(exact, value))}"
    return f"{type(value)}{value!r}"


@given(values)
def test_every_value_comes_back_as_it_was(value: Any) -> None:
    assert exact(through_text(value)) == exact(value)


@given(st.lists(values, max_size=4))
def test_many_values_come_back_as_they_were(rows: list[Any]) -> None:
    assert exact(loads(dumps(rows))) == exact(rows)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([{"a": 1, "b": [None, "é"]}], '[{"a":1,"b":[null,"é"]}]'),
        ([{"at": datetime(2024, 5, 6)}], '[{"at":{"$datetime":"2024-05-06T00:00:00"}}]'),
        ([{"a": {"b": [(1,)]}}], '[{"a":{"b":[{"$tuple":[1]}]}}]'),
        ([UUID(int=1)], '[{"$uuid":"00000000-0000-0000-0000-000000000001"}]'),
        ([float("nan"), 2**64], '[{"$float":"nan"},{"$int":"0x10000000000000000"}]'),
        ([{"x": {"$a": 1}}], '[{"x":{"$map":[["$a",1]]}}]'),
        ([{"x": {True: 1}}], '[{"x":{"$map":[[true,1]]}}]'),
    ],
)
def test_the_text_of_values(rows: list[Any], text: str) -> None:
    assert dumps(rows).decode() == text
    assert exact(loads(text.encode())) == exact(rows)


@pytest.mark.parametrize(
    ("value", "document"),
    [
        ({"a": [1, 2.5, True, None, "x"]}, {"a": [1, 2.5, True, None, "x"]}),
        (2**63, {"$int": "0x8000000000000000"}),
        (-(2**63), -(2**63)),
        (float("-inf"), {"$float": "-inf"}),
        (Decimal("-0.00"), {"$decimal": "-0.00"}),
        (Wei(5), {"$wei": "5"}),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (HexBytes(b"hi"), {"$hex_bytes": "aGk="}),
        (datetime(2024, 5, 6, 7, 8, 9, 10), {"$datetime": "2024-05-06T07:08:09.000010"}),
        (date(2024, 5, 6), {"$date": "2024-05-06"}),
        (time(7, 8, tzinfo=timezone.utc), {"$time": "07:08:00+00:00"}),
        (UUID(int=1), {"$uuid": "00000000-0000-0000-0000-000000000001"}),
        ((1, {2}), {"$tuple": [1, {"$set": [2]}]}),
        ({"$date": 1}, {"$map": [["$date", 1]]}),
        ({1: "one"}, {"$map": [[1, "one"]]}),
    ],
)
def test_what_a_document_says(value: Any, document: Any) -> None:
    assert to_tagged(value) == document
    assert exact(from_tagged(document)) == exact(value)


def test_a_zone_becomes_its_offset_at_that_time() -> None:
    summer = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert through_text(summer) == summer
    assert through_text(summer).tzinfo == timezone(timedelta(hours=2))
    assert through_text(datetime(2024, 7, 1, tzinfo=ZoneInfo("UTC"))).tzinfo is timezone.utc


class Colour(str):
    pass


@pytest.mark.parametrize(
    "value", [object, Colour("red"), time(1, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2024, 1, 1, fold=1)]
)
def test_another_class_is_refused_or_left_to_the_caller(value: Any) -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        to_tagged([value])
    others: list[Any] = []
    document = to_tagged({"a": value}, others.append)
    assert document == {"a": {"$other": None}}
    assert from_tagged(document, lambda _: others[0])["a"] is value


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value, value[:0]]
    return value


def test_what_is_nested_too_deeply_is_refused_or_left_to_the_caller() -> None:
    assert through_text(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(RecursionError, match="nested more than 200 levels deep"):
        to_tagged(nested(MAX_DEPTH + 1))
    others: list[Any] = []
    deep = nested(5_000)
    assert dumps([1, deep, (2,)], others.append) == b'[1,{"$other":null},{"$tuple":[2]}]'
    assert others == [deep]


def test_values_that_hold_themselves_are_left_to_the_caller() -> None:
    others: list[Any] = []
    family: dict[str, Any] = {"id": 1}
    family.update(parent=family, child=family)
    assert dumps([family], others.append) == b'[{"$other":null}]'
    assert others[0] is family


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"$call": "os.system"}, "no value of $call: 'os.system'"),
        ({"$other": 0}, "no value of $other: 0"),
        ({"$date": 5}, "no value of $date: 5"),
        ({"$date": "5"}, "no value of $date: '5'"),
        ({"$decimal": "x"}, "no value of $decimal: 'x'"),
        ({"$bytes": "?"}, "no value of $bytes: '?'"),
        ({"$set": [[]]}, "no value of $set: [[]]"),
        ({"$tuple": "ab"}, "no value of $tuple: 'ab'"),
        ({"$map": [1]}, "no value of $map: [1]"),
        ({"$set": [], "a": 1}, "expected $set alone in its object, found $set, a"),
    ],
)
def test_what_is_no_document_of_a_value(document: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        from_tagged([document])
    assert str(refused.value) == sentence
