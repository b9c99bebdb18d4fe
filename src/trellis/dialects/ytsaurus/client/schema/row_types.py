"""Rows as objects of dataclasses, whose fields are the columns."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tuple,
    Type,
    is_nullable,
    without_tags,
)
from trellis.dialects.ytsaurus.yson.values import Uint64 as YsonUint64

yt_dataclass = dataclasses.dataclass
"""A class of rows. Any dataclass will do."""

Int8 = Annotated[int, Primitive("int8")]
Int16 = Annotated[int, Primitive("int16")]
Int32 = Annotated[int, Primitive("int32")]
Int64 = Annotated[int, Primitive("int64")]
Uint8 = Annotated[int, Primitive("uint8")]
Uint16 = Annotated[int, Primitive("uint16")]
Uint32 = Annotated[int, Primitive("uint32")]
Uint64 = Annotated[int, Primitive("uint64")]
Float = Annotated[float, Primitive("float")]
Double = Annotated[float, Primitive("double")]
Date = Annotated[int, Primitive("date")]
Datetime = Annotated[int, Primitive("datetime")]
Timestamp = Annotated[int, Primitive("timestamp")]
Interval = Annotated[int, Primitive("interval")]
Yson = Annotated[Any, ANY]

_PRIMITIVES: Final[Mapping[Any, Type]] = {
    int: Primitive("int64"),
    str: Primitive("utf8"),
    bytes: Primitive("string"),
    float: Primitive("double"),
    bool: Primitive("bool"),
    Any: ANY,
}


def is_yt_dataclass(row_type: Any) -> bool:
    return isinstance(row_type, type) and dataclasses.is_dataclass(row_type)


def type_of(annotation: Any) -> Type:
    """The type of a column of a field. Raises YtError for an annotation that has none.

    >>> str(type_of(typing.Optional[list[int]]))
    'optional<list<int64>>'
    """
    if is_yt_dataclass(annotation):
        return Struct(tuple(Member(name, type_of(part)) for name, part in field_types(annotation).items()))
    if annotation in _PRIMITIVES:
        return _PRIMITIVES[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        for mark in arguments[1:]:
            if isinstance(mark, Type):
                return mark
        return type_of(arguments[0])
    if origin in (Union, UnionType) and len(arguments) == 2 and NoneType in arguments:
        return Optional(type_of(next(part for part in arguments if part is not NoneType)))
    if origin is list:
        return List(type_of(arguments[0]))
    if origin is dict:
        return Dict(type_of(arguments[0]), type_of(arguments[1]))
    if origin is tuple:
        return Tuple(tuple(map(type_of, arguments)))
    raise YtError(
        f"a field cannot be {annotation}; expected int, str, bytes, float, bool, a list or a dataclass"
    )


def field_types(row_type: type) -> dict[str, Any]:
    """The annotations of the fields of a dataclass."""
    hints = typing.get_type_hints(row_type, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(row_type)}


def row_writer(row_type: type) -> Callable[[Any], dict[str, Any]]:
    """Makes rows of the objects of a dataclass."""
    write_object = _writer(row_type)

    def write_row(value: Any) -> dict[str, Any]:
        if not isinstance(value, row_type):
            raise YtError(f"{value!r} is not an object of {row_type.__name__}")
        return typing.cast(dict[str, Any], write_object(value))

    return write_row


def row_reader(row_type: type) -> Callable[[Mapping[str, Any]], Any]:
    """Makes objects of a dataclass of rows."""
    return typing.cast(Callable[[Mapping[str, Any]], Any], _reader(row_type))


def make_row_type(name: str, columns: Mapping[str, Type]) -> type:
    """A dataclass for the rows of a table."""
    return dataclasses.make_dataclass(name, [(column, _annotation(type)) for column, type in columns.items()])


def _writer(annotation: Any) -> Callable[[Any], Any]:
    """Makes the value of a column of that of a field."""
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        writers = {name: _writer(part) for name, part in field_types(annotation).items()}
        return lambda value: {name: write(getattr(value, name)) for name, write in writers.items()}
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        write_part = _writer(next(part for part in arguments if part is not NoneType))
        return lambda value: None if value is None else write_part(value)
    if origin is list:
        write_item = _writer(arguments[0])
        return lambda value: [write_item(item) for item in value]
    if origin is dict:
        write_key, write_value = map(_writer, arguments)
        return lambda value: [[write_key(key), write_value(item)] for key, item in value.items()]
    if origin is tuple:
        writers_of_parts = [_writer(part) for part in arguments]
        return lambda value: [write(item) for write, item in zip(writers_of_parts, value, strict=True)]
    return lambda value: value


def _reader(annotation: Any) -> Callable[[Any], Any]:
    """Makes the value of a field of that of a column."""
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        readers = {name: _reader(part) for name, part in field_types(annotation).items()}
        return lambda value: annotation(**{name: read(value.get(name)) for name, read in readers.items()})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _reader(arguments[0])
    if origin in (Union, UnionType):
        read_part = _reader(next(part for part in arguments if part is not NoneType))
        return lambda value: None if value is None else read_part(value)
    if origin is list:
        read_item = _reader(arguments[0])
        return lambda value: [read_item(item) for item in value]
    if origin is dict:
        read_key, read_value = map(_reader, arguments)
        return lambda value: {read_key(key): read_value(item) for key, item in value}
    if origin is tuple:
        readers_of_parts = [_reader(part) for part in arguments]
        return lambda value: tuple(read(item) for read, item in zip(readers_of_parts, value, strict=True))
    if annotation is str:
        return lambda value: value.decode() if isinstance(value, bytes) else value
    if annotation is int:
        return lambda value: int(value) if isinstance(value, YsonUint64) else value
    return lambda value: value


def _annotation(type: Type) -> Any:
    plain = without_tags(type)
    if isinstance(plain, Optional):
        return Any if plain == ANY else _annotation(plain.item) | None
    if isinstance(plain, Primitive):
        for annotation, primitive in _PRIMITIVES.items():
            if primitive == plain:
                return annotation
        kind = {"string": bytes, "float": float}.get(plain.name, bytes if "tz_" in plain.name else int)
        return Annotated[kind, plain]
    return Annotated[Any, plain] if not is_nullable(plain) else Any
