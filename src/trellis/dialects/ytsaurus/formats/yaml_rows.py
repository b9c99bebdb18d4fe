"""Rows as YAML, a document each. Unsigned integers have the tag `!u`, bytes that are no text `!!binary`."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, BinaryIO

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, MAX_UINT64, MIN_INT64, Attributed, Uint64


def read_yaml(stream: BinaryIO) -> Iterator[Row]:
    """Raises YtError, also where a row has a column twice."""
    documents = _yaml().load_all(stream)
    for number in range(1, 2**63):
        try:
            document = next(documents, _END)
            if document is _END:
                return
            row = _decode_row(document)
        except (YAMLError, RecursionError) as error:
            message = f"document {number} is not YAML: {_reason(error)}"
            raise YtError(message, attributes={"document": number}) from None
        except YtError as error:
            raise error.at(document=number) from None
        yield row


def write_yaml(rows: Iterable[Row]) -> Iterator[bytes]:
    for row in rows:
        yield b"---\n" + dump_yaml(row)


def load_yaml(data: bytes) -> Any:
    """A single value. Raises YtError."""
    try:
        return _decode(_yaml().load(data))
    except YAMLError as error:
        raise YtError(f"the value is not YAML: {_reason(error)}") from None


def dump_yaml(value: Any) -> bytes:
    buffer = io.BytesIO()
    _yaml().dump(_encode(value), buffer)
    return buffer.getvalue()


def _decode_row(document: Any) -> Row:
    if not isinstance(document, Mapping):
        raise YtError("expected a row, which is a map such as 'k: 1'")
    row: Row = {}
    for key, value in document.items():
        name = str(key)
        if name in row:
            raise YtError(f"the column {name} is there twice")
        try:
            row[name] = _decode(value)
        except YtError as error:
            raise error.in_column(name) from None
    return row


def _reason(error: Exception) -> str:
    """In one line."""
    return " ".join(str(error).split())


_END = object()


class _Unsigned(int):
    """As it stands in a document."""


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.width = 2**20
    yaml.constructor.add_constructor("!u", _construct_unsigned)
    yaml.representer.add_representer(_Unsigned, _represent_unsigned)
    return yaml


def _construct_unsigned(constructor: Any, node: ScalarNode) -> Uint64:
    try:
        return Uint64(node.value)
    except ValueError:
        raise YtError(f"!u {node.value} is not an unsigned integer; expected one such as !u 5") from None


def _represent_unsigned(representer: Any, value: _Unsigned) -> Any:
    return representer.represent_scalar("!u", str(int(value)))


def _decode(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape")
        case Mapping():
            return {str(name): _decode(item) for name, item in value.items()}
        case list():
            return [_decode(item) for item in value]
        case date():
            return value.isoformat().encode()
        case Uint64() | bool():
            return value
        case float() if value != value:
            return float("nan")  # that of YAML has its sign set
        case int() if not MIN_INT64 <= value <= MAX_UINT64:
            raise YtError(f"{value} is beyond 64 bits; YSON integers are from -2^63 to 2^64-1")
        case int() if value > MAX_INT64:
            return Uint64(value)
    return value


def _encode(value: Any) -> Any:
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value
        case Uint64():
            return _Unsigned(value)
        case Attributed():
            return {"$attributes": _encode(value.attributes), "$value": _encode(value.value)}
        case Mapping():
            return {_encode(name): _encode(item) for name, item in value.items()}
        case list() | tuple():
            return [_encode(item) for item in value]
    return value
