"""Row keys are those of dlt, byte for byte."""

from __future__ import annotations

import uuid
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from dlt.common.normalizers.json.helpers import get_nested_row_hash
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.dlt.load.row_ids import child_keys, content_hashes, key_hashes, random_keys
from trellis.evolution.scalars.values import HexBytes, Wei


def key_hash(subset: Mapping[str, Any]) -> str:
    (key,) = key_hashes([subset])
    return key


def content_hash(item: Mapping[str, Any]) -> str:
    (key,) = content_hashes([item])
    return key


def test_k01_primary_key_and_child() -> None:
    assert key_hash({"acct_id": 7}) == "XPlQj8bOR+4gow"
    assert child_keys(["XPlQj8bOR+4gow"], "ups__kids", [0]) == ["PNVbSgR3JXPfDw"]


def test_k02_key_of_text_and_child() -> None:
    assert key_hash({"sku": "A-1"}) == "kwdvCmGZv/sdzw"
    assert child_keys(["kwdvCmGZv/sdzw"], "stock__lots", [0]) == ["8cxX88R057nxFA"]


def test_k03_compound_key_in_any_order() -> None:
    assert key_hash({"sku": "A-1", "region": "EU"}) == "Mkd0f3N+1k6vcg"
    assert key_hash({"region": "EU", "sku": "A-1"}) == "Mkd0f3N+1k6vcg"


def test_k04_content_without_system_keys() -> None:
    assert content_hash({"b": 2, "a": {"z": [1, 2]}, "_dlt_x": 5}) == "3MBo4DpOc5IS5A"
    assert content_hash({"a": {"z": [1, 2]}, "b": 2}) == "3MBo4DpOc5IS5A"


def test_system_keys_count_where_they_are_nested() -> None:
    """As in dlt, which leaves out those of the item alone."""
    items: list[dict[str, Any]] = [
        {"a": {"_dlt_x": 5}},
        {"a": {"_dlt_x": 6}},
        {"a": {}, "text": '"_dlt_x":'},
        {"a": {}},
    ]
    assert len(set(content_hashes(items))) == 4


def test_k05_content_of_a_row() -> None:
    assert content_hash({"sku": "A-1", "qty": 3, "tags": ["x", "y"]}) == "bJIXJQGdlHrCrg"


def test_k06_typed_values() -> None:
    typed = {"k1": datetime(2024, 1, 2, 3, 4, 5), "k2": Decimal("1.50"), "s": "é"}
    assert key_hash(typed) == "PcwvI5b4s0/9BQ"


def test_k07_a_child_of_a_row_with_its_own_key() -> None:
    assert child_keys([7], "t__k", [0]) == child_keys(["7"], "t__k", [0])


def test_a_null_more_is_another_content() -> None:
    assert content_hash({"nk": 1}) != content_hash({"nk": 1, "z": None})


@given(st.lists(st.text(max_size=20)), st.text(max_size=20))
def test_many_children_at_once(parents: list[str], table: str) -> None:
    parents = [parent.encode("utf-8", "ignore").decode() for parent in parents]
    table = table.encode("utf-8", "ignore").decode()
    idxs = list(range(len(parents)))
    assert child_keys(parents, table, idxs) == [
        get_nested_row_hash(parent, table, idx) for parent, idx in zip(parents, idxs, strict=True)
    ]


@given(st.binary(), st.integers(0, 300))
def test_random_keys_are_the_same_for_the_same_seed(seed: bytes, n: int) -> None:
    keys = random_keys(seed, n)
    assert len(keys) == n == len(set(keys))
    assert all(len(key) == 14 and len(b64decode(key + "==", validate=True)) == 10 for key in keys)
    assert keys == random_keys(seed, n + 7)[:n]


def test_random_keys_are_the_digest() -> None:
    import hashlib
    from base64 import b64encode

    digest = hashlib.shake_128(b"seed").digest(30)
    expected = [b64encode(digest[i : i + 10]).decode().rstrip("=") for i in (0, 10, 20)]
    assert random_keys(b"seed", 3) == expected


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int


LEAVES: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8")),
    st.decimals(),
    st.decimals(allow_nan=False).map(Wei),
    st.datetimes(timezones=st.sampled_from([None, timezone.utc])),
    st.dates(),
    st.times(),
    st.uuids(),
    st.binary(),
    st.binary().map(HexBytes),
    st.sampled_from([Colour.RED, float("nan"), 1e-5, 1.5e-5, -0.00002, 1e-7, 1e16, 1e22, 1e100, -0.0]),
    st.integers(0, 9).map(Point),
)
ITEMS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.recursive(
        LEAVES,
        lambda deeper: (
            st.lists(deeper, max_size=3)
            | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), deeper, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def dlt() -> Any:
    return pytest.importorskip("dlt")


def for_dlt(value: Any) -> Any:
    """The value with dlt's own classes in it."""
    from dlt.common.libs.hexbytes import HexBytes as DltHexBytes
    from dlt.common.wei import Wei as DltWei

    if isinstance(value, dict):
        return {key: for_dlt(member) for key, member in value.items()}
    if isinstance(value, list):
        return [for_dlt(member) for member in value]
    if isinstance(value, Wei):
        return DltWei(value)
    return DltHexBytes(value) if isinstance(value, HexBytes) else value


@given(item=ITEMS)
def test_dlt_has_the_same_keys(dlt: Any, item: dict[str, Any]) -> None:
    from dlt.common.json import json
    from dlt.common.normalizers.json.helpers import get_row_hash

    stored = json.loadb(json.typed_dumpb(for_dlt(item)))
    assert content_hash(item) == get_row_hash(stored)
    assert key_hash(item) == get_row_hash(stored, subset=list(stored))


def test_keys_that_are_not_text() -> None:
    moment = datetime(2024, 1, 1)
    assert content_hash({"m": {1: 1, None: 3}}) == content_hash({"m": {"1": 1, "null": 3}})
    assert content_hash({"m": {True: 1}}) == content_hash({"m": {"true": 1}})
    assert content_hash({"m": {moment: 1}}) == content_hash({"m": {moment.isoformat(): 1}})
    assert content_hash({"m": {date(2024, 1, 1): 1}}) == content_hash({"m": {"2024-01-01": 1}})


def test_a_uuid_is_text_and_a_time_is_not() -> None:
    """dlt has a mark for UUIDs and does not use it: its encoder writes them as text before."""
    one = uuid.UUID(int=1)
    assert key_hash({"id": one}) == key_hash({"id": str(one)})
    assert key_hash({"id": time(1)}) != key_hash({"id": "01:00:00"})


def test_nothing_breaks_a_key() -> None:
    assert len(content_hash({"big": 10**5000, "nan": float("nan"), "set": {1}, "odd": 1j})) == 14
