"""Keys of many rows at once are those of one row after the other."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dialects.ytsaurus.test_laws import values_of
from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.columns import encode_rows
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.types.model import ANY, List, Optional, Primitive, Tagged, Type
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.rows import RowValidator
from trellis.dialects.ytsaurus.yson.values import Uint64

NAMES = ("int8", "int64", "uint8", "uint64", "double", "bool", "string", "utf8", "date", "timestamp64")
KEY_TYPES: list[Type] = [
    *(Optional(Primitive(name)) for name in NAMES),
    Primitive("null"),
    Tagged("t", Optional(Primitive("int32"))),
    List(Primitive("int64")),
]
MIXED = st.one_of(
    *(st.none(), st.booleans(), st.integers(-9, 9), st.integers(0, 9).map(Uint64)),
    *(st.binary(max_size=3), st.floats(), st.lists(st.integers(-9, 9), max_size=2)),
)


def key_values(type: Type) -> st.SearchStrategy[Any]:
    match type:
        case Optional(Primitive("double")):
            return st.none() | st.floats() | st.sampled_from([0.0, -0.0, float("nan"), float("-inf")])
        case Optional(Primitive("yson")):
            return MIXED
        case Tagged(_, item):
            return values_of(item)
    return values_of(type)


@given(st.data())
def test_c106_encoded_columns_are_encoded_rows(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from([*KEY_TYPES, ANY]), min_size=1, max_size=3))
    columns = tuple(Column(f"c{index}", type, "ascending") for index, type in enumerate(types))
    schema = TableSchema(columns)
    orders: Any = st.sampled_from(["ascending", "descending"])
    keys = [SortColumn(column.name, data.draw(orders)) for column in columns]
    row = st.fixed_dictionaries({column.name: key_values(column.type) for column in columns})
    rows = [*map(RowValidator(schema).validate, data.draw(st.lists(row, min_size=1, max_size=5)))]
    encoded = encode_keys(encode_rows(schema, rows), schema, keys).to_pylist()
    assert encoded == [
        encode_key([row.get(key.name) for key in keys], [key.sort_order for key in keys]) for row in rows
    ]
