"""Which lines Arrow's reader is trusted with, and which it leaves to the exact path."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine.columnar.strict import StrictReader
from trellis.engine.input.blocks import line_array

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("user", pa.struct([("name", pa.string())])),
        ("items", pa.list_(pa.struct([("sku", pa.string())]))),
    ]
)


def read(*lines: bytes) -> tuple[list[Any], list[int]]:
    """The records that were read, and the indexes of the lines that were not."""
    array = line_array(b"\n".join(lines) + b"\n")
    result = StrictReader(SCHEMA, min_split=1).read(array, np.arange(len(array)))
    assert result.records.schema == SCHEMA
    return result.records.to_pylist(), sorted([*result.misfits.tolist(), *result.unread.tolist()])


GOOD = b'{"id":1,"user":{"name":"a"},"items":[{"sku":"x"},{}]}'
AS_READ = {"id": 1, "user": {"name": "a"}, "items": [{"sku": "x"}, {"sku": None}]}


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":2,"new":1}',
        b'{"id":2,"new":{}}',
        b'{"id":2,"new":[]}',
        b'{"id":2,"new":null}',
        b'{"id":2,"\\u006eew":null}',
        b'{"id":2,"a\\/b":null}',
        b'{"id":2,"user":{"age":3}}',
        b'{"id":2,"user":{"age" : null}}',
        b'{"id":2,"items":[{"sku":"y"},{"price":1}]}',
        b'{"id":2,"items":[null,{"price":null}]}',
        b'{"id":"2"}',
        b'{"id":2,"id":2}',
        b'{"id":9223372036854775808}',
        b'{"id":2} {"id":3}',
        b'{"id":2',
        b'{"user":{"name":"\xff"}}',
    ],
)
def test_a_line_that_does_not_fit_is_left_out_and_the_others_are_read(line: bytes) -> None:
    assert read(GOOD, line, GOOD) == ([AS_READ, AS_READ], [1])


def test_a_null_list_and_a_null_object_stay_null_beside_unknown_keys() -> None:
    lines = (b'{"items":null,"user":null}', b'{"items":[{"new":1}]}', b'{"items":[]}')
    assert read(*lines) == (
        [{"id": None, "user": None, "items": None}, {"id": None, "user": None, "items": []}],
        [1],
    )


@pytest.mark.parametrize("number", ["1.5", "{n}.25", "{n}e2", "98765432109876543{n:03}"])
def test_numbers_that_do_not_fit_under_one_key_cost_one_failed_read(number: str) -> None:
    lines = [b'{"id":%s}' % (number.format(n=n).encode() if n % 4 == 0 else b"%d" % n) for n in range(1, 401)]
    array = line_array(b"\n".join(lines) + b"\n")
    result = StrictReader(SCHEMA, max_misses=1).read(array, np.arange(len(array)))
    assert result.misfits.tolist() == list(range(3, 400, 4))
    assert (len(result.lines), len(result.unread)) == (300, 0)


def test_a_key_that_is_a_number_elsewhere_costs_only_the_line_whose_number_does_not_fit() -> None:
    schema = pa.schema([("total", pa.int64()), ("cart", pa.struct([("total", pa.float64())]))])
    lines = [b'{"total":%s,"cart":{"total":2.5}}' % (b"7.5" if n == 9 else b"7") for n in range(20)]
    result = StrictReader(schema).read(line_array(b"\n".join(lines) + b"\n"), np.arange(20))
    assert (result.misfits.tolist(), len(result.lines)) == ([9], 19)


records = st.fixed_dictionaries(
    {},
    optional={
        "id": st.none() | st.integers(-5, 5),
        "user": st.none()
        | st.dictionaries(st.sampled_from(["name", "age", "é"]), st.none() | st.text(max_size=2)),
        "items": st.none()
        | st.lists(
            st.none() | st.dictionaries(st.sampled_from(["sku", "n"]), st.none() | st.text(max_size=2)),
            max_size=3,
        ),
        "new": st.none() | st.booleans() | st.lists(st.none(), max_size=1),
    },
)


def fits(record: dict[str, Any]) -> bool:
    objects = [record.get("user"), *(record.get("items") or [])]
    keys = [{*(item or {})} for item in objects]
    return "new" not in record and keys[0] <= {"name"} and all(item <= {"sku"} for item in keys[1:])


@given(st.lists(records, min_size=1, max_size=8), st.booleans())
def test_the_lines_that_are_read_are_those_that_fit(rows: list[dict[str, Any]], ascii_only: bool) -> None:
    """A line may be left out without need, where a text looks like a key; none is read that does not fit."""
    loaded, left = read(*(json.dumps(row, ensure_ascii=ascii_only).encode() for row in rows))
    kept = [row for at, row in enumerate(rows) if at not in left]
    assert all(map(fits, kept))
    assert [row["id"] for row in loaded] == [row.get("id") for row in kept]
    assert [name_of(row) for row in loaded] == [name_of(row) for row in kept]


def name_of(row: dict[str, Any]) -> str | None:
    name: str | None = (row.get("user") or {}).get("name")
    return name


def test_nulls_in_a_list_that_never_held_a_value_leave_the_other_lines_readable() -> None:
    lines = [b'{"a":1,"l":[]}\n'] * 100 + [b'{"a":2,"l":[null,null]}\n'] + [b'{"a":3,"b":1}\n'] * 10
    read = StrictReader(pa.schema({"a": pa.int64(), "l": pa.list_(pa.null())})).read(
        pa.array(lines, pa.binary()), np.arange(len(lines))
    )
    assert read.lines.tolist() == list(range(100))
    assert sorted([*read.misfits, *read.unread]) == list(range(100, 111))
