"""Rows as Skiff: bytes without names, by a schema of wire types that the format brings."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from struct import Struct
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64, split_attributes, to_bytes, to_key
from trellis.dialects.ytsaurus.yson.writer import dumps

_ROW_INDEX: Final = "$row_index"
_RANGE_INDEX: Final = "$range_index"
_KEY_SWITCH: Final = "$key_switch"
_SPARSE: Final = "$sparse_columns"
_OTHER: Final = "$other_columns"
_END_8, _END_16 = b"\xff", b"\xff\xff"
_NUMBERS: Final = {
    "int8": Struct("<b"),
    "int16": Struct("<h"),
    "int32": Struct("<i"),
    "int64": Struct("<q"),
    "uint8": Struct("<B"),
    "uint16": Struct("<H"),
    "uint32": Struct("<I"),
    "uint64": Struct("<Q"),
    "double": Struct("<d"),
}
_WIDE: Final = {"int128": 16, "int256": 32, "uint128": 16, "uint256": 32}
_TAG_8, _TAG_16, _LENGTH = _NUMBERS["uint8"], _NUMBERS["uint16"], _NUMBERS["uint32"]


@dataclass(frozen=True)
class Wire:
    """A schema of Skiff, or a part of it."""

    type: str
    name: str = ""
    children: tuple[Wire, ...] = ()

    @classmethod
    def parse(cls, document: Any, registry: Mapping[str, Any]) -> Wire:
        """Raises YtError."""
        plain, _ = split_attributes(document)
        if isinstance(plain, str | bytes):
            name = to_key(plain).removeprefix("$")
            if name not in registry:
                raise YtError(f"skiff_schema_registry has no schema {name!r}")
            return cls.parse(registry[name], {})
        if not isinstance(plain, Mapping) or "wire_type" not in plain:
            raise YtError("a schema of skiff is not a map with wire_type")
        wire_type = to_key(plain["wire_type"])
        if wire_type not in _ENCODERS:
            raise YtError(f"there is no wire_type {wire_type!r}; expected one of {', '.join(_ENCODERS)}")
        children = tuple(cls.parse(child, registry) for child in plain.get("children", ()))
        return cls(wire_type, to_key(plain.get("name", "")), children)

    @property
    def is_optional(self) -> bool:
        return self.type == "variant8" and len(self.children) == 2 and self.children[0].type == "nothing"


@dataclass(frozen=True)
class SkiffRows:
    """Rows of one table."""

    row: Wire

    @classmethod
    def parse(cls, attributes: Mapping[str, Any]) -> SkiffRows:
        """Raises YtError."""
        schemas = attributes.get("table_skiff_schemas")
        if not isinstance(schemas, list) or not schemas:
            raise YtError("skiff needs table_skiff_schemas, a list with the schema of the table")
        registry, _ = split_attributes(attributes.get("skiff_schema_registry") or {})
        row = Wire.parse(schemas[0], registry)
        if row.type != "tuple":
            raise YtError(f"the schema of a table in skiff is a {row.type}; expected a tuple of its columns")
        return cls(row)

    def write_rows(self, rows: Iterable[Row], range_index: int, row_index: int) -> Iterator[bytes]:
        """The rows of a range, whose first has the number `row_index`. Raises YtError."""
        is_first = True
        for row in rows:
            parts = [b"\0\0"]
            for child in self.row.children:
                try:
                    parts.append(self._encode_column(child, row, range_index, row_index, is_first))
                except (YtError, LookupError, TypeError, ValueError, struct.error) as error:
                    reason = "it is null" if row.get(child.name) is None else str(error)
                    raise YtError(
                        f"the column {child.name} cannot be written as {child.type}: {reason}"
                    ) from None
            is_first = False
            yield b"".join(parts)

    def read_rows(self, stream: BinaryIO) -> Iterator[Row]:
        """Raises YtError with the number of the row."""
        reader = _Reader(stream)
        for number in range(2**63):
            start = stream.read(2)
            if not start:
                return
            try:
                if start != b"\0\0":
                    raise YtError(f"the row begins with the bytes {start.hex()}; expected 0000, the table 0")
                row = self._decode_row(reader)
            except YtError as error:
                raise error.at(row=number) from None
            yield row

    def _encode_column(self, wire: Wire, row: Row, range_index: int, row_index: int, is_first: bool) -> bytes:
        match wire.name:
            case "$row_index":
                return b"\1" + _NUMBERS["int64"].pack(row_index) if is_first else b"\0"
            case "$range_index":
                return b"\1" + _NUMBERS["int64"].pack(range_index) if is_first else b"\0"
            case "$key_switch":
                return b"\0"
            case "$sparse_columns":
                return self._encode_sparse(wire, row)
            case "$other_columns":
                known = {child.name for child in self.row.children} | _sparse_names(self.row)
                others = {name: value for name, value in row.items() if name not in known}
                return _encode_bytes(dumps(others, yson_format="binary"))
        return _encode(wire, row.get(wire.name))

    def _encode_sparse(self, wire: Wire, row: Row) -> bytes:
        values = [
            _TAG_16.pack(tag) + _encode(child, row[child.name])
            for tag, child in enumerate(wire.children)
            if row.get(child.name) is not None
        ]
        return b"".join(values) + _END_16

    def _decode_row(self, reader: _Reader) -> Row:
        row: Row = {}
        for wire in self.row.children:
            if wire.name == _SPARSE:
                for tag in reader.tags(_TAG_16, _END_16):
                    child = _child(wire, tag)
                    _add(row, {child.name: _decode_column(child, reader)})
            elif wire.name == _OTHER:
                others = _decode_column(replace(wire, type="yson32"), reader)
                if not isinstance(others, Mapping):
                    raise YtError("expected a map of columns").in_column(wire.name)
                _add(row, others)
            elif wire.name in (_ROW_INDEX, _RANGE_INDEX, _KEY_SWITCH):
                _decode_column(wire, reader)
            else:
                row[wire.name] = _decode_column(wire, reader)
        return row


class _Reader:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise YtError(f"the data ends in the middle of a row; expected {size} bytes, not {len(data)}")
        return data

    def number(self, number: Struct) -> Any:
        return number.unpack(self.read(number.size))[0]

    def text(self) -> bytes:
        return self.read(self.number(_LENGTH))

    def tags(self, number: Struct, end: bytes) -> Iterator[int]:
        """Those of a repeated variant, up to its end."""
        while (data := self.read(number.size)) != end:
            yield number.unpack(data)[0]


# --- Values ----------------------------------------------------------------------------------------------


def _encode(wire: Wire, value: Any) -> bytes:
    return _ENCODERS[wire.type](wire, value)


def _encode_number(wire: Wire, value: Any) -> bytes:
    number = _NUMBERS[wire.type]
    if isinstance(value, bytes):  # a decimal
        value = _unscaled(value)
    return number.pack(value)


def _encode_wide(wire: Wire, value: bytes) -> bytes:
    if not isinstance(value, bytes) or len(value) != _WIDE[wire.type]:
        raise YtError(f"expected a decimal of {_WIDE[wire.type]} bytes")
    return _unscaled(value).to_bytes(len(value), "little", signed=True)


def _encode_boolean(wire: Wire, value: Any) -> bytes:
    if not isinstance(value, bool):
        raise YtError("expected a boolean")
    return b"\1" if value else b"\0"


def _encode_string(wire: Wire, value: Any) -> bytes:
    if not isinstance(value, str | bytes):
        raise YtError("expected a string")
    return _encode_bytes(to_bytes(value))


def _encode_nothing(wire: Wire, value: Any) -> bytes:
    if value is not None:
        raise YtError("expected null")
    return b""


def _encode_variant(wire: Wire, value: Any) -> bytes:
    number = _TAG_8 if wire.type == "variant8" else _TAG_16
    if wire.is_optional:
        if value is None:
            return number.pack(0)
        item = wire.children[1]
        return number.pack(1) + _encode(item, value[0] if item.is_optional else value)
    tag = _alternative(wire, value[0])
    return number.pack(tag) + _encode(wire.children[tag], value[1])


def _encode_repeated(wire: Wire, value: Sequence[Any]) -> bytes:
    number, end = (_TAG_8, _END_8) if wire.type == "repeated_variant8" else (_TAG_16, _END_16)
    if len(wire.children) == 1:
        parts = [number.pack(0) + _encode(wire.children[0], item) for item in value]
    else:
        tags = [_alternative(wire, item[0]) for item in value]
        pairs = zip(tags, value, strict=True)
        parts = [number.pack(tag) + _encode(wire.children[tag], item[1]) for tag, item in pairs]
    return b"".join(parts) + end


def _encode_tuple(wire: Wire, value: Any) -> bytes:
    if isinstance(value, Mapping):
        return b"".join(_encode(child, value.get(child.name)) for child in wire.children)
    return b"".join(_encode(child, item) for child, item in zip(wire.children, value, strict=True))


def _encode_bytes(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


_ENCODERS: Final[Mapping[str, Callable[[Wire, Any], bytes]]] = {
    **dict.fromkeys(_NUMBERS, _encode_number),
    **dict.fromkeys(_WIDE, _encode_wide),
    "boolean": _encode_boolean,
    "string32": _encode_string,
    "yson32": lambda wire, value: _encode_bytes(dumps(value, yson_format="binary")),
    "nothing": _encode_nothing,
    "variant8": _encode_variant,
    "variant16": _encode_variant,
    "repeated_variant8": _encode_repeated,
    "repeated_variant16": _encode_repeated,
    "tuple": _encode_tuple,
}


def _add(row: Row, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        if name in row:
            raise YtError(f"the column {name} is there twice")
        row[name] = value


def _decode_column(wire: Wire, reader: _Reader) -> Any:
    """Raises YtError with the column."""
    try:
        return _decode(wire, reader)
    except YtError as error:
        raise error.in_column(wire.name) from None


def _decode(wire: Wire, reader: _Reader) -> Any:
    match wire.type:
        case "nothing":
            return None
        case "boolean":
            return reader.read(1) != b"\0"
        case "string32":
            return reader.text()
        case "yson32":
            return loads(reader.text(), raw=True)
        case "variant8" | "variant16":
            return _decode_variant(wire, reader)
        case "repeated_variant8" | "repeated_variant16":
            tags = reader.tags(*((_TAG_8, _END_8) if wire.type.endswith("t8") else (_TAG_16, _END_16)))
            if len(wire.children) == 1:
                return [_decode(_child(wire, tag), reader) for tag in tags]
            return [[_choice(wire, tag), _decode(_child(wire, tag), reader)] for tag in tags]
        case "tuple":
            values = [_decode(child, reader) for child in wire.children]
            if wire.children and wire.children[0].name:
                return dict(zip((child.name for child in wire.children), values, strict=True))
            return values
    if wire.type in _WIDE:
        return _scaled(reader.read(_WIDE[wire.type]))
    value = reader.number(_NUMBERS[wire.type])
    return Uint64(value) if wire.type.startswith("uint") else value


def _decode_variant(wire: Wire, reader: _Reader) -> Any:
    tag = reader.number(_TAG_8 if wire.type == "variant8" else _TAG_16)
    value = _decode(_child(wire, tag), reader)
    if wire.is_optional:
        return [value] if tag and wire.children[1].is_optional else value
    return [_choice(wire, tag), value]


def _child(wire: Wire, tag: int) -> Wire:
    """Raises YtError where there is none of this number."""
    if tag >= len(wire.children):
        raise YtError(f"there is no alternative {tag}; expected one of {len(wire.children)}, counted from 0")
    return wire.children[tag]


def _choice(wire: Wire, tag: int) -> str | int:
    return _child(wire, tag).name or tag


def _alternative(wire: Wire, choice: Any) -> int:
    """The number of an alternative, by its number or by its name."""
    if isinstance(choice, int):
        return choice
    return [child.name for child in wire.children].index(to_key(choice))


def _unscaled(data: bytes) -> int:
    """The number of a decimal, whose bytes are big-endian with the top bit inverted."""
    return int.from_bytes(data, "big") - (1 << (8 * len(data) - 1))


def _scaled(data: bytes) -> bytes:
    unscaled = int.from_bytes(data, "little", signed=True) + (1 << (8 * len(data) - 1))
    return unscaled.to_bytes(len(data), "big")


def _sparse_names(row: Wire) -> set[str]:
    return {child.name for wire in row.children if wire.name == _SPARSE for child in wire.children}
