"""Rows as DSV: `key=value` between tabs, or the values of named columns alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import ReadingNotes, Row
from trellis.dialects.ytsaurus.yson.values import kind_of, to_bytes, to_key
from trellis.dialects.ytsaurus.yson.writer import format_double

_ESCAPES: Final = {b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b"\\": b"\\\\", b"\0": b"\\0", b"=": b"\\="}
_UNESCAPED: Final = {escape[1:]: character for character, escape in _ESCAPES.items()}
_SPECIAL: Final = re.compile(rb"[\t\n\r\\\0]")
_SPECIAL_KEY: Final = re.compile(rb"[\t\n\r\\\0=]")
_KEY: Final = re.compile(rb"((?:[^\\=]|\\.)*)=", re.DOTALL)


def read_dsv(stream: BinaryIO, notes: ReadingNotes) -> Iterator[Row]:
    """Raises YtError where a row has a column twice. Fields without a key are skipped and noted."""
    for number, line in enumerate(_lines(stream), 1):
        row: Row = {}
        for field in line.split(b"\t") if line else ():
            key = _KEY.match(field)
            if key is None:
                if field:
                    notes.skip_field(number, field)
                continue
            name = to_key(_unescape(key[1]))
            if name in row:
                raise YtError(f"the column {name} is there twice").at(line=number)
            row[name] = _unescape(field[key.end() :])
        yield row


def write_dsv(rows: Iterable[Row]) -> Iterator[bytes]:
    for row in rows:
        fields = [
            _SPECIAL_KEY.sub(_escape, to_bytes(name)) + b"=" + _text(name, value)
            for name, value in row.items()
            if value is not None
        ]
        yield b"\t".join(fields) + b"\n"


@dataclass(frozen=True)
class SchemafulDsv:
    """Values of named columns between tabs."""

    columns: tuple[str, ...]
    missing_value_mode: str
    """What becomes of a row without a value: fail, skip_row or print_sentinel."""
    sentinel: bytes

    def read_rows(self, stream: BinaryIO) -> Iterator[Row]:
        for number, line in enumerate(_lines(stream), 1):
            fields = line.split(b"\t")
            if len(fields) != len(self.columns):
                raise YtError(
                    f"line {number} has {len(fields)} values; expected {len(self.columns)}, between tabs",
                    attributes={"line": number},
                )
            yield dict(zip(self.columns, map(_unescape, fields), strict=True))

    def write_rows(self, rows: Iterable[Row]) -> Iterator[bytes]:
        for row in rows:
            fields = [self._field(name, row.get(name)) for name in self.columns]
            if None not in fields:
                yield b"\t".join(field or b"" for field in fields) + b"\n"

    def _field(self, name: str, value: Any) -> bytes | None:
        if value is not None:
            return _text(name, value)
        match self.missing_value_mode:
            case "skip_row":
                return None
            case "print_sentinel":
                return self.sentinel
        raise YtError(f"a row has no value for {name}; set missing_value_mode to skip_row or print_sentinel")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    return (line.removesuffix(b"\n") for line in stream)


def _text(name: str, value: Any) -> bytes:
    match kind_of(value):
        case "string":
            return _SPECIAL.sub(_escape, to_bytes(value))
        case "boolean":
            return b"true" if value else b"false"
        case "double":
            return format_double(value).removeprefix("%").encode()
        case "int64" | "uint64":
            return b"%d" % value
        case kind:
            raise YtError(
                f"the column {name} holds a {kind}, which dsv does not have; read it as yson or json"
            )


def _escape(character: re.Match[bytes]) -> bytes:
    return _ESCAPES[character[0]]


def _unescape(text: bytes) -> bytes:
    return re.sub(rb"\\(.)", lambda escape: _UNESCAPED.get(escape[1], escape[1]), text, flags=re.DOTALL)
