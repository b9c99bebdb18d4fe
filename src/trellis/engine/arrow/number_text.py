"""Exact numbers of more digits than any Arrow type has: staged as text, which the destination reads."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import pyarrow as pa

from trellis.engine.arrow.types import arrow_type, column_type
from trellis.evolution.scalars.coerce import coercer
from trellis.evolution.scalars.values import MISFIT, WEI_SIZE
from trellis.schema.model import Column, number_size

_NUMBERS = ("bigint", "double", "decimal", "text")


def is_number_text(column: Column) -> bool:
    """Whether the numbers of a complete column are staged as text."""
    return column.data_type in ("decimal", "wei") and pa.types.is_string(arrow_type(column))


def number_texts(numbers: Iterable[Decimal | None]) -> pa.Array:
    """The numbers with all their digits, and without an exponent.

    >>> number_texts([Decimal("1.50e40"), None]).to_pylist()
    ['15000000000000000000000000000000000000000', None]
    """
    return pa.array([None if number is None else f"{number:f}" for number in numbers], pa.string())


def texts_of_numbers(array: pa.Array, column: Column) -> pa.Array | None:
    """The values as the column takes them one by one; None where one does not fit."""
    assert column.data_type is not None
    source_type = column_type(array.type)
    if source_type is None or array.null_count == len(array):
        return pa.nulls(len(array), pa.string())
    if source_type.data_type not in _NUMBERS:
        return None
    precision, scale = number_size(column, WEI_SIZE) if column.data_type == "wei" else number_size(column)
    convert = coercer(column.data_type, precision=precision, scale=scale)
    numbers = [None if value is None else convert(value) for value in array.to_pylist()]
    return None if MISFIT in numbers else number_texts(numbers)
