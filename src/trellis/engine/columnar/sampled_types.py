"""The types of the values in some lines, path by path, as a projection needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from trellis.engine.columnar.strict import single_chunk
from trellis.evolution.projection import Path

SAMPLE_LINES: Final = 16
"""Lines whose types are read together."""

TypesByPath = Mapping[Path, pa.DataType]


def types_in(lines: Sequence[bytes]) -> TypesByPath:
    """The types of the values in some lines by path: null where all are blank, none where they are mixed."""
    types: dict[Path, pa.DataType | None] = {}
    objects = [line for line in lines if line.startswith(b"{")]  # a null at the start is a crash of Arrow
    for start in range(0, len(objects), SAMPLE_LINES):
        data = b"\n".join(objects[start : start + SAMPLE_LINES]) + b"\n"
        try:
            records = pj.read_json(pa.BufferReader(data), pj.ReadOptions(use_threads=False))
        except (pa.ArrowException, UnicodeDecodeError):
            continue
        for path, type_ in types_below(
            (), records.schema, [single_chunk(column) for column in records.columns]
        ):
            known_type = types.setdefault(path, type_)
            if known_type is not None and known_type != type_:
                types[path] = _common_type(known_type, type_)
    return {path: type_ for path, type_ in types.items() if type_ is not None}


def _common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both; None where there is none."""
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    if pa.types.is_list(left) and pa.types.is_list(right):
        inner = _common_type(left.value_type, right.value_type)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        fields = {member.name: member.type for member in left}
        for type_ in right:
            inner = _common_type(fields[type_.name], type_.type) if type_.name in fields else type_.type
            if inner is None:
                return None
            fields[type_.name] = inner
        return pa.struct(list(fields.items()))
    numbers = all(pa.types.is_integer(type_) or pa.types.is_floating(type_) for type_ in (left, right))
    return pa.float64() if numbers else None


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
