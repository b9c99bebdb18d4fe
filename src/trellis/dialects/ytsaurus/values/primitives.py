"""Values of primitive types: the kind that they have on the wire, and their range or form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.model import SIGNED, UNSIGNED, ZONED_TIMES
from trellis.dialects.ytsaurus.yson.values import Kind, Uint64, kind_of, to_bytes
from trellis.dialects.ytsaurus.yson.writer import dumps

_DAYS: Final = 49_673
_SECONDS: Final = 4_291_747_200
_MICROS: Final = _SECONDS * 10**6
_DATE32: Final = (-53_375_809, 53_375_807)
_DATETIME64: Final = (_DATE32[0] * 86_400, (_DATE32[1] + 1) * 86_400 - 1)
_TIMESTAMP64: Final = (_DATETIME64[0] * 10**6, (_DATE32[1] + 1) * 86_400 * 10**6 - 1)
_INTERVAL64: Final = 9_223_339_708_800_000_000
RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **{name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in SIGNED.items()},
    **{name: (0, 2**bits - 1) for name, bits in UNSIGNED.items()},
    "date": (0, _DAYS - 1),
    "datetime": (0, _SECONDS - 1),
    "timestamp": (0, _MICROS - 1),
    "interval": (1 - _MICROS, _MICROS - 1),
    "date32": _DATE32,
    "datetime64": _DATETIME64,
    "timestamp64": _TIMESTAMP64,
    "interval64": (-_INTERVAL64, _INTERVAL64),
}
"""Of integers and times, both ends included."""
_UNSIGNED_NAMES: Final = frozenset((*UNSIGNED, "date", "datetime", "timestamp"))
MAX_FLOAT: Final = (2 - 2**-23) * 2.0**127
_ZONES: Final = 2
"""Bytes of the id of a time zone."""


def wire_kind(name: str) -> Kind:
    """The kind of a primitive type other than yson."""
    if name in RANGES:
        return "uint64" if name in _UNSIGNED_NAMES else "int64"
    kinds: dict[str, Kind] = {
        "float": "double",
        "double": "double",
        "bool": "boolean",
        "null": "null",
        "void": "null",
    }
    return kinds.get(name, "string")


def check_primitive(name: str, value: Any) -> Any:
    """The value as it is stored. Raises YtError with the code 307 for another kind, or beyond the range."""
    expected, actual = wire_kind(name), kind_of(value)
    if actual != expected:
        raise mismatch(name, value)
    match expected:
        case "int64" | "uint64":
            low, high = RANGES[name]
            if not low <= value <= high:
                violation(f"{int(value)} is out of range of {name}, {low} to {high}")
            return Uint64(value) if expected == "uint64" else int(value)
        case "double":
            if name == "float" and abs(value) > MAX_FLOAT and not math.isinf(value):
                violation(f"{value!r} is out of range of float")
            return value
        case "string":
            text = to_bytes(value)
            _check_text(name, text)
            return text
    return value


def mismatch(expected: object, value: Any) -> YtError:
    actual = kind_of(value)
    return YtError(
        f"expected {expected}, not {actual} {shown(value)}",
        ErrorCode.SCHEMA_VIOLATION,
        attributes={"expected": str(expected), "actual": actual},
    )


def violation(message: str) -> NoReturn:
    raise YtError(message, ErrorCode.SCHEMA_VIOLATION)


def shown(value: Any) -> str:
    """A value in an error, short."""
    text = dumps(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_text(name: str, text: bytes) -> None:
    match name:
        case "utf8":
            _decode(name, text)
        case "json":
            try:
                json.loads(_decode(name, text), parse_constant=_no_constant)
            except (ValueError, RecursionError):
                violation(f"{shown(text)} is not JSON")
        case "uuid":
            if len(text) != 16:
                violation(f"a uuid has 16 bytes, not {len(text)}")
        case _ if name in ZONED_TIMES:
            _check_zoned(name, text)


def _decode(name: str, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        violation(f"{shown(text)} is not {name}: byte {error.start} is not UTF-8")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _check_zoned(name: str, text: bytes) -> None:
    size = ZONED_TIMES[name]
    if len(text) != size + _ZONES:
        violation(f"a {name} has {size + _ZONES} bytes, not {len(text)}")
    plain = name.removeprefix("tz_")
    low, high = RANGES[plain]
    time = int.from_bytes(text[:size], "big") - (2 ** (8 * size - 1) if low < 0 else 0)
    if not low <= time <= high:
        violation(f"the time {time} is out of range of {name}, {low} to {high}")
