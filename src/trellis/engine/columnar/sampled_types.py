"""The types of the values in some records, path by path, as a projection needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trellis.evolution.projection import Path

TypesByPath = Mapping[Path, pa.DataType]
_LEVELS: Final = 100
"""Objects that are nested deeper count as single values."""


def types_in(lines: Iterable[bytes]) -> TypesByPath:
    """What the values in some lines are by path: null where all are blank, a string for any single value.

    Paths whose values are of several kinds may be left out, and so are lines that are no records.

    >>> types = types_in([b'{"a": 1, "b": [1], "c": {"d": "", "e": {}}}', b'{"b": [2.5]}'])
    >>> {".".join(path): str(type_) for path, type_ in types.items()}
    {'a': 'string', 'b': 'list<item: double>', 'c.d': 'null', 'c.e': 'struct<>'}
    """
    records = _Values()
    for line in lines:
        with suppress(orjson.JSONDecodeError):
            record = orjson.loads(line)
            if isinstance(record, dict):
                records.add(record, _LEVELS)
    return dict(records.types(()))


class _Values:
    """What was met under one key: single values, lists, and objects with members or without."""

    __slots__ = ("is_filled", "is_object", "lists", "members")

    def __init__(self) -> None:
        self.members: dict[str, _Values] = {}
        self.lists: list[Any] = []
        self.is_object = self.is_filled = False

    def add(self, record: Mapping[str, Any], levels: int) -> None:
        """Add the members of an object, so many levels deep."""
        self.is_object = True
        for key, value in record.items():
            values = self.members.get(key)
            if values is None:
                values = self.members[key] = _Values()
            if values.is_filled:
                continue
            if isinstance(value, dict) and levels:
                values.add(value, levels - 1)
            elif isinstance(value, list):
                values.lists.append(value)
            elif value is not None and value != "":
                values.is_filled = True

    def types(self, path: Path) -> Iterator[tuple[Path, pa.DataType]]:
        """The types below a path."""
        for key, values in self.members.items():
            inner = (*path, key)
            if values.is_filled + values.is_object + bool(values.lists) > 1:
                continue
            if values.members:
                yield from values.types(inner)
            elif values.is_object:
                yield inner, pa.struct([])
            elif values.is_filled:
                yield inner, pa.string()
            elif not values.lists:
                yield inner, pa.null()
            else:
                with suppress(pa.ArrowException, OverflowError):
                    yield inner, pa.array(values.lists).type


def types_below(parent_path: Path, fields: Any, arrays: list[pa.Array]) -> Iterator[tuple[Path, pa.DataType]]:
    """The types of some values by path, as JSON has them: null where all are blank."""
    for index, array in enumerate(arrays):
        path = (*parent_path, fields.field(index).name)
        if pa.types.is_struct(array.type) and array.type.num_fields:
            yield from types_below(path, array.type, array.flatten())
        elif _is_blank(array):
            yield path, pa.null()
        else:
            yield path, _json_type(array.type)


def _is_blank(array: pa.Array) -> bool:
    if array.null_count == len(array):
        return True
    return pa.types.is_string(array.type) and not pc.max(pc.binary_length(array)).as_py()


def _json_type(type_: pa.DataType) -> pa.DataType:
    """The type as JSON has it: Arrow reads some texts as timestamps."""
    if pa.types.is_timestamp(type_):
        return pa.string()
    if pa.types.is_list(type_):
        return pa.list_(_json_type(type_.value_type))
    if pa.types.is_struct(type_):
        fields = (type_.field(index) for index in range(type_.num_fields))
        return pa.struct([pa.field(member.name, _json_type(member.type)) for member in fields])
    return type_
