"""Keys of many rows at once: `encode_key` on columns of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.types.model import Type
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.primitives import RANGES, wire_kind
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64

_NULL: Final = encode_key([None])
_TRUE, _FALSE = encode_key([True]), encode_key([False])
_INT64, _UINT64, _DOUBLE, _STRING = (encode_key([value])[:1] for value in (0, Uint64(0), 0.0, b""))
_STRING_END: Final = encode_key([b""])[1:]
_SIGN: Final = np.uint64(2**63)


def encode_keys(batch: pa.RecordBatch, schema: TableSchema, keys: Sequence[SortColumn]) -> pa.Array:
    """Bytes that compare as the keys of the rows do. A column that the batch lacks is null."""
    parts = []
    for key in keys:
        column = schema.by_name.get(key.name)
        if column is None or stored_name(column) not in batch.schema.names:
            part = pa.repeat(pa.scalar(_NULL, pa.binary()), batch.num_rows)
        else:
            part = _encode(batch.column(stored_name(column)), column.type)
        parts.append(_invert(part) if key.sort_order == "descending" else part)
    return parts[0] if len(parts) == 1 else _join(*parts)


def _encode(array: pa.Array, type: Type) -> pa.Array:
    name = plain_name(type)
    if name is None:
        texts = array.to_pylist()
        values = [_NULL if text is None else encode_key([loads(text, raw=True)]) for text in texts]
        return pa.array(values, pa.binary())
    if pa.types.is_null(array.type):
        return pa.repeat(pa.scalar(_NULL, pa.binary()), len(array))
    if pa.types.is_boolean(array.type):
        encoded = pc.if_else(array, _binary(_TRUE), _binary(_FALSE))
    elif pa.types.is_floating(array.type):
        encoded = _with_rank(_DOUBLE, _double_words(_numbers(array, pa.float64())))
    elif name in RANGES:
        if wire_kind(name) == "uint64":
            encoded = _with_rank(_UINT64, _numbers(array, pa.uint64()))
        else:
            encoded = _with_rank(_INT64, _numbers(array, pa.int64()).view(np.uint64) ^ _SIGN)
    else:
        escaped = pc.replace_substring(array.cast(pa.binary()), pattern=b"\0", replacement=b"\0\xff")
        encoded = _join(_binary(_STRING), escaped, _binary(_STRING_END))
    return pc.if_else(array.is_valid(), encoded, _binary(_NULL)) if array.null_count else encoded


def _numbers(array: pa.Array, type: pa.DataType) -> Any:
    numbers = array.cast(type)
    return (numbers.fill_null(0) if numbers.null_count else numbers).to_numpy(zero_copy_only=False)


def _double_words(values: Any) -> Any:
    """Bits that compare as the numbers do: both zeros alike, NaN after all."""
    bits = (values + 0.0).view(np.uint64)
    words = np.where(bits >> np.uint64(63), ~bits, bits ^ _SIGN)
    return np.where(np.isnan(values), np.uint64(2**64 - 1), words)


def _with_rank(rank: bytes, words: Any) -> pa.Array:
    """The rank of the kind before each word, whose highest byte comes first."""
    rows = np.empty((len(words), 9), np.uint8)
    rows[:, 0] = rank[0]
    rows[:, 1:] = words.astype(">u8").view(np.uint8).reshape(-1, 8)
    fixed = pa.Array.from_buffers(pa.binary(9), len(words), [None, pa.py_buffer(rows.tobytes())])
    return fixed.cast(pa.binary())


def _invert(array: pa.Array) -> pa.Array:
    _, offsets, data = array.buffers()
    if data is None:
        return array
    inverted = pa.py_buffer((255 - np.frombuffer(data, np.uint8)).tobytes())
    return pa.Array.from_buffers(pa.binary(), len(array), [None, offsets, inverted], offset=array.offset)


def _join(*parts: pa.Array | pa.Scalar) -> pa.Array:
    return pc.binary_join_element_wise(*parts, _binary(b""))


def _binary(value: bytes) -> pa.Scalar:
    return pa.scalar(value, pa.binary())
