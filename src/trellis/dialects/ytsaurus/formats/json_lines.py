"""Rows as JSON, one a line. With `encode_utf8` a character stands for a byte."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.yson.parser import MAX_DEPTH
from trellis.dialects.ytsaurus.yson.values import MAX_UINT64, MIN_INT64, Attributed, to_bytes


def read_json(stream: BinaryIO, *, encode_utf8: bool) -> Iterator[Row]:
    """Raises YtError with the number of the line, also where a row has a column twice."""
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_unique, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            message = f"line {number} is not a JSON object: {_reason(error)}"
            raise YtError(message, attributes={"line": number}) from None
        if not isinstance(row, dict):
            message = f'line {number} is not a JSON object; expected a row such as {{"k": 1}}'
            raise YtError(message, attributes={"line": number})
        try:
            columns = {_decode_key(key, encode_utf8): _decode(row[key], encode_utf8) for key in row}
        except YtError:
            raise _find_error(row, encode_utf8).at(line=number) from None
        yield columns


def write_json(rows: Iterable[Row], *, encode_utf8: bool) -> Iterator[bytes]:
    for row in rows:
        document = {
            _encode_text(name, encode_utf8): _encode(value, encode_utf8) for name, value in row.items()
        }
        try:
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except ValueError:
            name = next(name for name, value in document.items() if not _is_finite(value))
            message = "a double is infinite or not a number, which JSON does not have; read it as yson"
            raise YtError(message).in_column(name) from None
        yield text.encode("utf-8", "surrogateescape") + b"\n"


def _is_finite(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def to_json(value: Any, *, encode_utf8: bool = False) -> Any:
    """A document such as a schema as JSON: attributes beside the value, as YTsaurus writes them."""
    return _encode(value, encode_utf8)


def from_json(value: Any, *, encode_utf8: bool = False) -> Any:
    """The document of which `to_json` made this. Raises YtError."""
    return _decode(value, encode_utf8)


def _reason(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{error.msg[:1].lower()}{error.msg[1:].removesuffix(' at')}, character {error.colno}"
        case UnicodeDecodeError():
            return f"byte {error.start} is not UTF-8"
    return str(error)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return keys


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _find_error(row: Mapping[str, Any], encode_utf8: bool) -> YtError:
    """That of the first column that cannot be decoded."""
    for key, value in row.items():
        try:
            name = _decode_key(key, encode_utf8)
        except YtError as error:
            return error
        try:
            _decode(value, encode_utf8)
        except YtError as error:
            return error.in_column(name)
    raise AssertionError(row)


def _decode_key(key: str, encode_utf8: bool) -> str:
    return _decode_text(key, encode_utf8).decode("utf-8", "surrogateescape")


def _decode_text(text: str, encode_utf8: bool) -> bytes:
    if not encode_utf8:
        return text.encode("utf-8", "surrogatepass")
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise YtError(
            f"{text!r} has a character beyond U+00FF, where each stands for a byte; write UTF-8 texts with "
            "--format '<encode_utf8=%false>json'",
            ErrorCode.GENERIC,
        ) from None


def _decode(value: Any, encode_utf8: bool, depth: int = 1) -> Any:
    if depth > MAX_DEPTH:
        raise YtError(f"the value is nested deeper than {MAX_DEPTH} levels, the most that are allowed")
    match value:
        case str():
            return _decode_text(value, encode_utf8)
        case list():
            return [_decode(item, encode_utf8, depth + 1) for item in value]
        case {"$value": inner, "$attributes": dict(attributes)}:
            return Attributed(_decode(inner, encode_utf8, depth), _decode(attributes, encode_utf8, depth))
        case dict():
            return {
                _decode_key(key, encode_utf8): _decode(item, encode_utf8, depth + 1)
                for key, item in value.items()
            }
        case int() if not isinstance(value, bool) and not MIN_INT64 <= value <= MAX_UINT64:
            raise YtError(f"{value} is beyond 64 bits; YSON integers are from -2^63 to 2^64-1")
    return value


def _encode_text(text: str | bytes, encode_utf8: bool) -> str:
    return (
        to_bytes(text).decode("latin-1") if encode_utf8 else to_bytes(text).decode("utf-8", "surrogateescape")
    )


def _encode(value: Any, encode_utf8: bool) -> Any:
    match value:
        case str() | bytes():
            return _encode_text(value, encode_utf8)
        case Attributed():
            attributes = _encode(value.attributes, encode_utf8)
            return {"$attributes": attributes, "$value": _encode(value.value, encode_utf8)}
        case Mapping():
            return {_encode_text(key, encode_utf8): _encode(item, encode_utf8) for key, item in value.items()}
        case list() | tuple():
            return [_encode(item, encode_utf8) for item in value]
        case int() if not isinstance(value, bool):
            return int(value)
    return value
