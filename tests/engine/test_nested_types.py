"""Laws of nested types and values."""

from __future__ import annotations

import io
import math
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from trellis.destinations.parquet.types import name_of
from trellis.engine.arrow.cast import json_of
from trellis.engine.arrow.nested_types import hint_of, kept_type, type_of
from trellis.engine.arrow.nested_values import Misfit, nested_cast, nested_of_texts
from trellis.evolution.scalars.iso import UTC

WHEN = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
SIMPLE: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.string(), st.text(max_size=5)),
    (pa.large_string(), st.text(max_size=5)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from("abc")),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates(date(1900, 1, 1), date(2100, 1, 1))),
    (pa.timestamp("us", "UTC"), WHEN.map(lambda at: at.replace(tzinfo=UTC))),
    (pa.timestamp("s"), WHEN.map(lambda at: at.replace(microsecond=0))),
    (pa.decimal128(10, 2), st.decimals(-(10**7), 10**7, places=2)),
]
Typed = tuple[pa.DataType, st.SearchStrategy[Any]]


def _list(of: Typed) -> Typed:
    return pa.list_(of[0]), st.lists(st.none() | of[1], max_size=3)


def _struct(of: list[Typed]) -> Typed:
    fields = {f"f{at}": type_ for at, type_ in enumerate(of)}
    struct = pa.struct([(name, type_) for name, (type_, _) in fields.items()])
    return struct, st.fixed_dictionaries({name: st.none() | values for name, (_, values) in fields.items()})


def _map(of: Typed) -> Typed:
    keys = st.dictionaries(st.text(max_size=3), st.none() | of[1], max_size=3)
    return pa.map_(pa.string(), of[0]), keys.map(lambda pairs: list(pairs.items()))


def _nested(of: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(of.map(_list), st.lists(of, min_size=1, max_size=3).map(_struct), of.map(_map))


NESTED = _nested(st.recursive(st.sampled_from(SIMPLE), _nested, max_leaves=4))


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    """Some values of some nested type, NULL among them, from the middle of an array."""
    type_, values = draw(NESTED)
    array = pa.array(draw(st.lists(st.none() | values, min_size=1, max_size=6)), type_)
    return array[draw(st.integers(0, len(array) - 1)) :]


def in_file(array: pa.Array) -> pa.ChunkedArray:
    """The values as they come back from a Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.table({"any": array}), file)
    return pq.read_table(file)["any"]


@given(arrays())
def test_seed_d103_what_is_kept_is_what_came(array: pa.Array) -> None:
    kept = kept_type(array.type)
    stored = nested_cast(array, kept)
    stored.validate(full=True)
    assert stored.type == kept
    assert stored.to_pylist() == array.to_pylist()
    back = in_file(stored)
    assert back.to_pylist() == array.to_pylist()
    assert name_of(back.type) == str(kept)
    assert kept_type(kept) == kept


@given(arrays())
def test_seed_d103_a_hint_tells_the_type(array: pa.Array) -> None:
    assert type_of(hint_of(array.type)) == array.type


@given(arrays())
def test_seed_d103_json_texts_tell_the_same_values(array: pa.Array) -> None:
    parsed = nested_of_texts(json_of(array).to_pylist(), kept_type(array.type))
    assert parsed.to_pylist() == nested_cast(array, kept_type(array.type)).to_pylist()


@given(arrays(), arrays())
def test_seed_d104_a_cast_loses_nothing_or_does_not_happen(array: pa.Array, other: pa.Array) -> None:
    try:
        stored = nested_cast(array, kept_type(other.type))
    except Misfit:
        return
    for before, after in zip(array.to_pylist(), stored.to_pylist(), strict=True):
        assert same(before, after), (before, after)


def same(before: Any, after: Any) -> bool:
    """Whether a value says what another one said; what is NULL may be absent."""
    if before is None or after is None:
        return before is after
    if isinstance(before, dict):
        names = {*before, *after}
        return all(same(before.get(name), after.get(name)) for name in names)
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(same, before, after))
    if isinstance(after, str):
        return str(before) == after
    if isinstance(after, datetime):
        midnight = datetime.combine(before, datetime.min.time())
        expected = before if isinstance(before, datetime) else midnight
        return expected.replace(tzinfo=None) == after.replace(tzinfo=None)
    return bool(before == after)


def test_numbers_that_are_none() -> None:
    odd = pa.array([[math.nan, math.inf, None, -0.0]])
    (converted,) = nested_cast(odd, pa.list_(pa.field("element", pa.float32()))).to_pylist()
    assert (math.isnan(converted[0]), *converted[1:]) == (True, math.inf, None, -0.0)
