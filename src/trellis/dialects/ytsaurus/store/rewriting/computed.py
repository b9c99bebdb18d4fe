"""Computed columns of batches: as whole arrays where the expression allows it, else row by row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.computed.expression import Expression, compile_expression, kind_of_type
from trellis.dialects.ytsaurus.computed.farm_hash import SEED, combine_hashes, fingerprint, mix_integer
from trellis.dialects.ytsaurus.computed.nodes import Call, Constant, Reference, TypedNode, ValueKind
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.columns import arrow_type, decode_rows, stored_name
from trellis.dialects.ytsaurus.yson.writer import dumps

_DTYPES: Final[Mapping[ValueKind, Any]] = {
    "int64": np.int64,
    "uint64": np.uint64,
    "double": np.float64,
    "boolean": np.bool_,
}
_LOWEST: Final = -(2**63)


class ComputedColumns:
    """The computed columns of a table, or those of them that are `chosen`."""

    def __init__(self, schema: TableSchema, chosen: Collection[str] | None = None) -> None:
        kinds = {column.name: kind_of_type(column.type) for column in schema.columns}
        self._schema = schema
        self._expressions = [
            (column, compile_expression(column.expression, kinds, (kinds[column.name],)))
            for column in schema.columns
            if column.expression is not None and (chosen is None or column.name in chosen)
        ]

    @property
    def references(self) -> frozenset[str]:
        """The columns that they are computed from."""
        return frozenset(name for _, expression in self._expressions for name in expression.references)

    def fill(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch in the layout of chunks, with the values of these columns. Raises YtError."""
        for column, expression in self._expressions:
            index = batch.schema.get_field_index(stored_name(column))
            batch = batch.set_column(
                index, batch.schema.field(index), self._compute(column, expression, batch)
            )
        return batch

    def _compute(self, column: Column, expression: Expression, batch: pa.RecordBatch) -> pa.Array:
        sources = [self._schema.by_name[name] for name in expression.references]
        arrays = {source.name: batch.column(stored_name(source)) for source in sources}
        try:
            values = _evaluate(expression.root, arrays, batch.num_rows)
        except _NeedsRowsError:
            # Also where the value of a row is an error, which names it.
            read = TableSchema(tuple(sources))
            rows = decode_rows(read, read, batch)
            results = [expression.evaluate(row) for row in rows]
            if expression.kind == "any":
                results = [None if item is None else dumps(item, yson_format="binary") for item in results]
            return pa.array(results, arrow_type(column.type))
        return pa.array(values.data, mask=~values.valid).cast(arrow_type(column.type))


class _NeedsRowsError(Exception):
    """An expression, or values, that are not evaluated as arrays."""


@dataclass(frozen=True)
class _Values:
    """Values of one kind; those that are not valid are null, and 0 or empty."""

    kind: ValueKind
    data: npt.NDArray[Any]
    valid: npt.NDArray[np.bool_]


def _evaluate(typed: TypedNode, arrays: Mapping[str, pa.Array], rows: int) -> _Values:
    """Raises _NeedsRowsError."""
    match typed.node:
        case Constant(kind, value):
            return _constant(kind, value, rows)
        case Reference(name):
            return _column(typed.kind, arrays[name])
        case Call(name):
            arguments = [_evaluate(argument, arrays, rows) for argument in typed.arguments]
            with np.errstate(all="ignore"):
                if name == "farm_hash":
                    return _farm_hash(arguments, rows)
                if name in _ARITHMETIC and typed.kind in ("int64", "uint64"):
                    valid = np.logical_and.reduce([argument.valid for argument in arguments])
                    data = _ARITHMETIC[name](*(argument.data for argument in arguments))
                    return _Values(typed.kind, np.where(valid, data, data.dtype.type(0)), valid)
                if name == "%":
                    return _remainder(*arguments)
                if name in _COMPARISONS and arguments[0].kind in ("int64", "uint64", "boolean"):
                    return _COMPARISONS[name](*arguments)
    raise _NeedsRowsError


def _constant(kind: ValueKind, value: Any, rows: int) -> _Values:
    if kind == "null" or value is None:
        return _Values(kind, np.zeros(rows, _DTYPES.get(kind, np.uint64)), np.zeros(rows, np.bool_))
    dtype = _DTYPES.get(kind, np.object_)
    return _Values(kind, np.full(rows, value, dtype), np.ones(rows, np.bool_))


def _column(kind: ValueKind, array: pa.Array) -> _Values:
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if kind == "string":
        texts = array.cast(pa.binary()).fill_null(b"") if array.null_count else array.cast(pa.binary())
        return _Values(kind, np.array([*texts.to_pylist(), None], np.object_)[:-1], valid)
    if kind not in _DTYPES:
        raise _NeedsRowsError
    numbers = pc.fill_null(array.cast(pa.from_numpy_dtype(_DTYPES[kind])), _DTYPES[kind](0).item())
    return _Values(kind, numbers.to_numpy(zero_copy_only=False), valid)


def _farm_hash(arguments: Sequence[_Values], rows: int) -> _Values:
    result = np.full(rows, SEED, np.uint64)
    for argument in arguments:
        result = combine_hashes(result, _hash(argument))
    count = np.uint64(len(arguments))
    return _Values("uint64", result ^ count, np.ones(rows, np.bool_))


def _hash(values: _Values) -> npt.NDArray[np.uint64]:
    if values.kind == "string":
        hashes = np.fromiter(map(fingerprint, values.data), np.uint64, len(values.data))
    else:
        hashes = mix_integer(values.data.astype(np.uint64))
    return np.where(values.valid, hashes, np.uint64(0))


def _remainder(left: _Values, right: _Values) -> _Values:
    """With the sign of the dividend."""
    valid = left.valid & right.valid
    is_beyond = (left.data == _LOWEST) & (right.data == -1) if left.kind == "int64" else np.False_
    if np.any(valid & ((right.data == 0) | is_beyond)):
        raise _NeedsRowsError
    divisors = np.where(valid, right.data, right.data.dtype.type(1))
    return _Values(left.kind, np.where(valid, np.fmod(left.data, divisors), left.data.dtype.type(0)), valid)


def _is_equal(left: _Values, right: _Values) -> npt.NDArray[np.bool_]:
    """Null is equal to null."""
    equal: npt.NDArray[np.bool_] = (left.valid == right.valid) & (~left.valid | (left.data == right.data))
    return equal


def _is_less(left: _Values, right: _Values) -> npt.NDArray[np.bool_]:
    """Null is less than every value."""
    less: npt.NDArray[np.bool_] = right.valid & (~left.valid | (left.data < right.data))
    return less


def _comparison(
    compare: Callable[[_Values, _Values], npt.NDArray[np.bool_]],
) -> Callable[[_Values, _Values], _Values]:
    return lambda left, right: _Values("boolean", compare(left, right), np.ones(len(left.data), np.bool_))


_ARITHMETIC: Final[Mapping[str, Callable[..., npt.NDArray[Any]]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "|": np.bitwise_or,
    "&": np.bitwise_and,
    "~": np.bitwise_not,
    "negate": np.negative,
}
"""Of integers, which wrap at 64 bits."""
_COMPARISONS: Final = {
    "=": _comparison(_is_equal),
    "!=": _comparison(lambda left, right: ~_is_equal(left, right)),
    "<": _comparison(_is_less),
    "<=": _comparison(lambda left, right: ~_is_less(right, left)),
    ">": _comparison(lambda left, right: _is_less(right, left)),
    ">=": _comparison(lambda left, right: ~_is_less(left, right)),
}
