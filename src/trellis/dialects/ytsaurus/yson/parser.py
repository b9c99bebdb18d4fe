"""YSON read from bytes: text, pretty and binary, which may be mixed as in the original."""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import unpack_from
from typing import Any, Final, Literal, NoReturn

from trellis.dialects.ytsaurus.yson.values import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    Attributed,
    Uint64,
    YsonError,
    to_key,
)

YsonType = Literal["node", "list_fragment", "map_fragment"]

MAX_DEPTH: Final = 256
_SPACE = re.compile(rb"[ \t\r\n\v\f]*")
_NUMBER = re.compile(
    rb"(?:([+-]?\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))|(\+?\d+)u|([+-]?\d+))(?![\w.%+-])", re.ASCII
)
_BARE = re.compile(rb"[A-Za-z_][A-Za-z0-9_.%-]*")
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(.))", re.DOTALL)
_LITERAL = re.compile(rb"%(?:true|false|nan|[+-]?inf)(?![\w.%+-])")
_LITERALS: Final = {
    b"%true": True,
    b"%false": False,
    b"%nan": float("nan"),
    b"%inf": float("inf"),
    b"%+inf": float("inf"),
    b"%-inf": float("-inf"),
}
_CONTROLS: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def loads(data: bytes | str, *, yson_type: YsonType = "node", raw: bool = False) -> Any:
    """The value of a YSON document; the list or dict of a fragment. Raises YsonError with the position.

    Strings that are UTF-8 are str, others bytes; with `raw` all are bytes.

    >>> loads("<strict=%true>[{name=k; hits=5u}]")
    Attributed(value=[{'name': 'k', 'hits': 5u}], attributes={'strict': True})
    """
    parser = YsonParser(data, raw=raw)
    match yson_type:
        case "node":
            value = parser.parse_value()
            parser.expect_end()
            return value
        case "list_fragment":
            return list(parser.iter_fragment())
        case "map_fragment":
            return parser.parse_pairs(b"")
    raise YsonError(f"{yson_type!r} is not a type of YSON; expected node, list_fragment or map_fragment")


class YsonParser:
    """A cursor over bytes, for documents and for values that stand inside of other texts."""

    def __init__(self, data: bytes | str, position: int = 0, *, offset: int = 0, raw: bool = False) -> None:
        """`offset` is how many bytes of the document come before `data`."""
        self.data = data.encode() if isinstance(data, str) else data
        self.position = position
        self._offset = offset
        self._raw = raw
        self._depth = 0
        self.key = ""
        """Whose value is parsed, of a map whose keys are unique."""

    def peek(self) -> bytes:
        """The next byte that is not space; empty at the end."""
        match = _SPACE.match(self.data, self.position)
        if match is not None:
            self.position = match.end()
        return self.data[self.position : self.position + 1]

    def skip(self, token: bytes) -> bool:
        if self.peek() != token or not token:
            return False
        self.position += 1
        return True

    def expect(self, token: bytes) -> None:
        if not self.skip(token):
            self.fail(f"expected {token.decode()!r}")

    def expect_end(self) -> None:
        if self.peek():
            self.fail("expected the end of the document")

    def fail(self, expected: str) -> NoReturn:
        excerpt = self.data[self.position : self.position + 12].decode("utf-8", "backslashreplace")
        place = f"{excerpt!r}" if excerpt else "the end"
        raise YsonError(f"not YSON at byte {self._offset + self.position}: {place}; {expected}")

    def iter_fragment(self) -> Iterator[Any]:
        while self.peek():
            yield self.parse_value()
            if not self.skip(b";") and self.peek():
                self.fail("expected ';' between items")

    def parse_value(self) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail(f"values may be nested {MAX_DEPTH} levels deep")
        attributes = self.parse_attributes()
        value = self._parse_plain()
        self._depth -= 1
        return Attributed(value, attributes) if attributes else value

    def parse_attributes(self) -> dict[str, Any]:
        if not self.skip(b"<"):
            return {}
        attributes = self.parse_pairs(b">")
        self.expect(b">")
        if self.peek() == b"<":
            self.fail("expected a value after attributes")
        return attributes

    def parse_pairs(self, end: bytes, *, unique: bool = False) -> dict[str, Any]:
        """`key=value; ...` up to `end`, which is left to the caller.

        The last of equal keys counts; with `unique` they are an error.
        """
        pairs: dict[str, Any] = {}
        while self.peek() != end:
            if unique:
                self.key = ""
            key = self._parse_key()
            if unique:
                self.key = key
                if key in pairs:
                    self.fail(f"expected each key once; {key} is there twice")
            self.expect(b"=")
            pairs[key] = self.parse_value()
            if not self.skip(b";") and self.peek() != end:
                self.fail("expected ';' between items")
        return pairs

    def parse_string(self) -> bytes | None:
        """A quoted, binary or bare string if one begins here."""
        match self.peek():
            case b'"':
                quoted = _QUOTED.match(self.data, self.position)
                if quoted is None:
                    self.fail("expected a closing quote")
                self.position = quoted.end()
                return _unescape(quoted[1]) if b"\\" in quoted[1] else quoted[1]
            case b"\x01":
                self.position += 1
                size = self._parse_zigzag()
                text = self.data[self.position : self.position + size]
                if size < 0 or len(text) < size:
                    self.fail(f"expected a string of {size} bytes")
                self.position += size
                return text
        bare = _BARE.match(self.data, self.position)
        if bare is None:
            return None
        self.position = bare.end()
        return bare[0]

    def parse_number(self) -> int | float | None:
        """An integer or a double in text if one begins here."""
        self.peek()
        number = _NUMBER.match(self.data, self.position)
        if number is None:
            return None
        if number[1]:
            value: int | float = float(number[1])
        elif number[2]:
            value = Uint64(number[2])
            if value > MAX_UINT64:
                self.fail("expected an integer of at most 2^64-1")
        else:
            value = int(number[3])
            if not MIN_INT64 <= value <= MAX_INT64:
                self.fail("expected an integer from -2^63 to 2^63-1; unsigned ones end in u")
        self.position = number.end()
        return value

    def parse_literal(self) -> bool | float | None:
        """`%true` or another literal if one begins here."""
        self.peek()
        literal = _LITERAL.match(self.data, self.position)
        if literal is None:
            return None
        self.position = literal.end()
        return _LITERALS[literal[0]]

    def _parse_plain(self) -> Any:
        match self.peek():
            case b"{":
                self.position += 1
                pairs = self.parse_pairs(b"}")
                self.expect(b"}")
                return pairs
            case b"[":
                self.position += 1
                return self._parse_items()
            case b"#":
                self.position += 1
                return None
            case b"\x02" | b"\x03" | b"\x04" | b"\x05" | b"\x06":
                return self._parse_binary()
            case b"%":
                literal = self.parse_literal()
                return self.fail("expected %true, %false, %nan or %inf") if literal is None else literal
        text = self.parse_string()
        if text is not None:
            return text if self._raw else _decode(text)
        number = self.parse_number()
        return self.fail("expected a value") if number is None else number

    def _parse_items(self) -> list[Any]:
        items = []
        while self.peek() != b"]":
            items.append(self.parse_value())
            if not self.skip(b";") and self.peek() != b"]":
                self.fail("expected ';' or ']' after an item of a list")
        self.position += 1
        return items

    def _parse_key(self) -> str:
        key = self.parse_string()
        return self.fail("expected a key, which is a string") if key is None else to_key(key)

    def _parse_binary(self) -> int | float | bool:
        marker = self.data[self.position]
        self.position += 1
        match marker:
            case 2:
                return self._parse_zigzag()
            case 3:
                if len(self.data) < self.position + 8:
                    self.fail("expected the 8 bytes of a double")
                self.position += 8
                number: float = unpack_from("<d", self.data, self.position - 8)[0]
                return number
            case 6:
                return Uint64(self._parse_varint())
        return marker == 5

    def _parse_zigzag(self) -> int:
        number = self._parse_varint()
        return (number >> 1) ^ -(number & 1)

    def _parse_varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            if self.position >= len(self.data):
                break
            byte = self.data[self.position]
            self.position += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                if number <= MAX_UINT64:
                    return number
                break
        return self.fail("expected an integer of variable length, of at most 64 bits")


def _decode(text: bytes) -> str | bytes:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _unescape(text: bytes) -> bytes:
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return bytes([int(escape[1], 16)])
    if escape[2]:
        return chr(int(escape[2], 16)).encode("utf-8", "surrogatepass")
    if escape[3]:
        return bytes([int(escape[3], 8)])
    return _CONTROLS.get(escape[4], escape[4])
