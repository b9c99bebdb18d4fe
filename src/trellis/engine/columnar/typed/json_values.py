"""Values of typed rows that are JSON whatever is in them: maps, and texts that say that they are JSON.

The keys of a map are data, so they make no columns, unless the table has columns below it already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
import pyarrow as pa

from trellis.engine.arrow.types import is_json_text, value_type
from trellis.engine.input.parquet import rows_of
from trellis.evolution.scalars.values import JsonArray, JsonObject, JsonScalar

Path = tuple[str, ...]
Spreads = Callable[[Path], bool]
"""Whether the keys of the map at a path become columns."""
_Mark = Callable[[Any], Any]


def rows_with_json(batch: pa.RecordBatch, spreads: Spreads) -> list[Any]:
    """The rows of a batch as dicts of Python values, in which what is to stay JSON is of classes of its own.

    >>> labels = pa.array([[("env", "dev")]], pa.map_(pa.string(), pa.string()))
    >>> (row,) = rows_with_json(pa.record_batch({"labels": labels}), lambda path: False)
    >>> type(row["labels"]).__name__, row
    ('JsonObject', {'labels': {'env': 'dev'}})
    """
    marks = {
        field.name: mark for field in batch.schema if (mark := _mark(field.type, (field.name,), spreads))
    }
    rows = rows_of(batch)
    for row in rows:
        _mark_members(row, marks)
    return rows


def _mark(type_: pa.DataType, path: Path, spreads: Spreads) -> _Mark | None:
    """What marks a value of a type that is not null; None where none is to be marked."""
    if is_json_text(type_):
        return _parsed
    type_ = value_type(type_)
    if pa.types.is_map(type_):
        if spreads(path):
            return None
        member = _mark(type_.item_type, (*path, ""), lambda below: False)
        return partial(_marked_map, member) if member else JsonObject
    if pa.types.is_struct(type_):
        marks = {f.name: mark for f in type_ if (mark := _mark(f.type, (*path, f.name), spreads))}
        return (lambda value: _mark_members(value, marks)) if marks else None
    if pa.types.is_nested(type_) and type_.num_fields == 1:
        mark = _mark(type_.field(0).type, (*path, ""), lambda below: False)
        return (lambda value: _mark_elements(value, mark)) if mark else None
    return None


def _parsed(text: str) -> Any:
    value = orjson.loads(text)
    if isinstance(value, dict):
        return JsonObject(value)
    if isinstance(value, list):
        return JsonArray(value)
    return None if value is None else JsonScalar(value)


def _mark_members(value: dict[str, Any], marks: Mapping[str, _Mark]) -> dict[str, Any]:
    for name, mark in marks.items():
        if value[name] is not None:
            value[name] = mark(value[name])
    return value


def _marked_map(mark: _Mark, pairs: Any) -> JsonObject:
    members = JsonObject(pairs)
    for key, value in members.items():
        members[key] = None if value is None else mark(value)
    return members


def _mark_elements(values: Sequence[Any], mark: _Mark) -> list[Any]:
    return [None if value is None else mark(value) for value in values]
