"""Fields of a schema that have no values yet: they are null, or lists without elements.

Arrow's reader says that a value was there, but not in which line or under which key.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Indexes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def without_null_fields(schema: pa.Schema) -> pa.Schema:
    """The schema without such fields, under which Arrow guesses the types of their values.

    >>> without_null_fields(pa.schema({"a": pa.null(), "b": pa.struct({"c": pa.null(), "d": pa.int64()})}))
    b: struct<d: int64>
      child 0, d: int64
    """
    return pa.schema(_typed_fields(schema))


def rows_with_values(columns: Mapping[str, pa.Array], schema: pa.Schema, count: int) -> Mask:
    """Which of `count` records, read without the null fields of a schema, have values there."""
    rows: Mask = np.zeros(count, np.bool_)
    for field in schema:
        if field.name in columns:
            _mark_values(columns[field.name], field.type, np.arange(count), rows)
    return rows


def _typed_fields(fields: pa.Schema | pa.StructType) -> list[pa.Field]:
    return [field.with_type(_typed(field.type)) for field in fields if not _is_null(field.type)]


def _typed(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(type_):
        return pa.struct(_typed_fields(type_))
    return pa.list_(_typed(type_.value_type)) if pa.types.is_list(type_) else type_


def _is_null(type_: pa.DataType) -> bool:
    while pa.types.is_list(type_):
        type_ = type_.value_type
    return bool(pa.types.is_null(type_))


def _mark_values(array: pa.Array, type_: pa.DataType, origins: Indexes, rows: Mask) -> None:
    """`origins` are the numbers of the records that the values of an array are in."""
    if pa.types.is_null(type_) or (pa.types.is_list(type_) and not pa.types.is_list(array.type)):
        rows[origins[array.is_valid().to_numpy(zero_copy_only=False)]] = True
    elif pa.types.is_list(type_):
        parents = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
        if pa.types.is_null(type_.value_type):
            rows[origins[parents]] = True
        else:
            _mark_values(pc.list_flatten(array), type_.value_type, origins[parents], rows)
    elif pa.types.is_struct(type_):
        members = dict(zip((field.name for field in array.type), array.flatten(), strict=True))
        for field in type_:
            if field.name in members:
                _mark_values(members[field.name], field.type, origins, rows)
