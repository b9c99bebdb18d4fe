"""YSON written to bytes as YTsaurus's own writer does, to the byte."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.yson.binary import check_key, dump_binary, dump_items, dump_pairs
from trellis.dialects.ytsaurus.yson.parser import YsonType
from trellis.dialects.ytsaurus.yson.values import YsonError, kind_of, split_attributes, to_bytes

YsonFormat = Literal["text", "pretty", "binary"]

_PLAIN: Final = re.compile(rb"[ !#-\[\]-~]*")
"""Text without anything to escape."""
_HEX: Final = b"0123456789abcdefABCDEF"
_NAMED: Final = {0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t", 0x22: b'\\"', 0x5C: b"\\\\"}


def dumps(value: Any, *, yson_format: YsonFormat = "text", yson_type: YsonType = "node") -> bytes:
    """The bytes of a value, or of the list or dict of a fragment. Raises YsonError.

    >>> dumps([{"k": b"a\\xff", "hits": 2**63}, 1e5])
    b'[{"k"="a\\\\xFF";"hits"=9223372036854775808u;};100000.;]'
    """
    if yson_format not in ("text", "pretty", "binary"):
        raise YsonError(f"{yson_format!r} is not a format of YSON; expected text, pretty or binary")
    if yson_format == "binary":
        return _BINARY[yson_type](value)
    writer = _Writer(indent=4 if yson_format == "pretty" else 0)
    match yson_type:
        case "node":
            writer.write(value, 0)
        case "list_fragment":
            for item in value:
                writer.write(item, 0)
                writer.parts.append(b";\n")
        case "map_fragment":
            for key, item in value.items():
                writer.write_pair(key, item, 0)
                writer.parts.append(b";\n")
    return b"".join(writer.parts)


_BINARY: Final[Mapping[YsonType, Callable[[Any], bytes]]] = {
    "node": dump_binary,
    "list_fragment": dump_items,
    "map_fragment": dump_pairs,
}


class _Writer:
    """Text, on one line or with an indent."""

    def __init__(self, *, indent: int) -> None:
        self.parts: list[bytes] = []
        self._indent = indent

    def write(self, value: Any, depth: int) -> None:
        plain, attributes = split_attributes(value)
        if attributes:
            self._write_block(b"<", attributes, b">", depth)
            if self._indent:
                self.parts.append(b" ")
        match kind_of(plain):
            case "map":
                self._write_block(b"{", plain, b"}", depth)
            case "list":
                self._write_block(b"[", plain, b"]", depth)
            case "string":
                self.parts.append(self._string(to_bytes(plain)))
            case kind:
                self.parts.append(_text_scalar(plain, kind))

    def write_pair(self, key: str | bytes, value: Any, depth: int) -> None:
        self.parts += (self._string(to_bytes(check_key(key))), b" = " if self._indent else b"=")
        self.write(value, depth)

    def _write_block(self, start: bytes, items: Any, end: bytes, depth: int) -> None:
        self.parts.append(start)
        is_map = isinstance(items, Mapping)
        for item in items:
            self._write_line(depth + 1)
            if is_map:
                self.write_pair(item, items[item], depth + 1)
            else:
                self.write(item, depth + 1)
            self.parts.append(b";")
        if items:
            self._write_line(depth)
        self.parts.append(end)

    def _write_line(self, depth: int) -> None:
        if self._indent:
            self.parts.append(b"\n" + b" " * (self._indent * depth))

    def _string(self, text: bytes) -> bytes:
        return b'"' + (text if _PLAIN.fullmatch(text) else b"".join(_escaped(text))) + b'"'


def _text_scalar(value: Any, kind: str) -> bytes:
    match kind:
        case "null":
            return b"#"
        case "boolean":
            return b"%true" if value else b"%false"
        case "double":
            return format_double(value).encode()
    return b"%du" % value if kind == "uint64" else b"%d" % value


def format_double(value: float) -> str:
    """The shortest text of a double, with a point or an exponent so that it is no integer.

    >>> [format_double(value) for value in (1.0, -0.0, 1e22, 1e-5, float("-inf"))]
    ['1.', '-0.', '1e+22', '0.00001', '%-inf']
    """
    if math.isnan(value):
        return "%nan"
    if math.isinf(value):
        return "%inf" if value > 0 else "%-inf"
    mantissa, _, power = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0") or "0"
    if digits == "0":
        return f"{sign}0."
    leading = len(whole) if whole != "0" else -(len(fraction) - len(fraction.lstrip("0")))
    exponent = leading + int(power or 0) - 1
    if not -10 <= exponent < 21:
        point = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{point}e{exponent:+d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{sign}{digits[: exponent + 1].ljust(exponent + 1, '0')}.{digits[exponent + 1 :]}"


def _escaped(text: bytes) -> Iterator[bytes]:
    """C escapes, as short as the next character allows."""
    for index, byte in enumerate(text):
        following = text[index + 1 : index + 2]
        if byte in _NAMED:
            yield _NAMED[byte]
        elif 0x20 <= byte < 0x7F:
            yield bytes([byte])
        elif byte < 8 and following not in (b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7"):
            yield b"\\%d" % byte
        elif not following or following not in _HEX:
            yield b"\\x%02X" % byte
        else:
            yield b"\\%03o" % byte
