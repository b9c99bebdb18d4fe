"""Rows with types for a program that asks of which type each value is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from trellis.engine.arrow.types import value_type
from trellis.engine.input.parquet import rows_of

Kinds = Mapping[str, Callable[[Any], Any]]
Mark = Callable[[Any], Any]


def marked_rows(batch: pa.RecordBatch, kinds: Kinds) -> list[Any]:
    """The rows as dicts; values of the types that `kinds` names are of its classes, also inside others.

    >>> marked_rows(pa.record_batch({"n": pa.array([[1]], pa.list_(pa.int64()))}), {"int64": float})
    [{'n': [1.0]}]
    """
    marks = {field.name: mark for field in batch.schema if (mark := _mark(field.type, kinds)) is not None}
    rows = rows_of(batch)
    for row in rows:
        for name, mark in marks.items():
            if row[name] is not None:
                row[name] = mark(row[name])
    return rows


def _mark(type_: pa.DataType, kinds: Kinds) -> Mark | None:
    """What marks a value of a type that is not null; None where none is to be marked."""
    type_ = value_type(type_)
    if pa.types.is_map(type_):
        return _of_values(_mark(type_.item_type, kinds))
    if pa.types.is_struct(type_):
        return _of_fields(
            {field.name: mark for field in type_ if (mark := _mark(field.type, kinds)) is not None}
        )
    if pa.types.is_nested(type_) and type_.num_fields == 1:
        return _of_items(_mark(type_.field(0).type, kinds))
    return kinds.get(_NAMES.get(type_, ""))


def _of_values(mark: Mark | None) -> Mark | None:
    if mark is None:
        return None
    return lambda value: {key: None if member is None else mark(member) for key, member in value.items()}


def _of_fields(marks: Mapping[str, Mark]) -> Mark | None:
    if not marks:
        return None

    def mark(value: dict[str, Any]) -> dict[str, Any]:
        marked = {
            name: mark_field(value[name]) for name, mark_field in marks.items() if value[name] is not None
        }
        return {**value, **marked}

    return mark


def _of_items(mark: Mark | None) -> Mark | None:
    if mark is None:
        return None
    return lambda value: [None if element is None else mark(element) for element in value]


_NAMES = {pa.int64(): "int64", pa.uint32(): "int64", pa.float32(): "float32", pa.float16(): "float32"}
"""An unsigned integer of 32 bits needs 64 with a sign; what has no name here, Python tells apart."""
