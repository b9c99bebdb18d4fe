"""YSON values in Python.

Integers are int (int64) and `Uint64`, strings bytes or str (their UTF-8), maps dict with str keys, entity
None. A value with attributes is `Attributed`. Keys that are not UTF-8 carry their bytes as surrogates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import YtError

Kind = Literal["null", "int64", "uint64", "double", "boolean", "string", "list", "map"]

_KINDS: Final[Mapping[type, Kind]] = {
    type(None): "null",
    bool: "boolean",
    float: "double",
    **dict.fromkeys((bytes, str), "string"),
    **dict.fromkeys((list, tuple), "list"),
    dict: "map",
}
"""By class, where the class alone decides."""
MIN_INT64: Final = -(2**63)
MAX_INT64: Final = 2**63 - 1
MAX_UINT64: Final = 2**64 - 1


class Uint64(int):
    """An unsigned integer, which YSON keeps apart from a signed one of equal value: `5u`."""

    def __repr__(self) -> str:
        return f"{int(self)}u"


@dataclass(frozen=True)
class Attributed:
    """A value with attributes: `<append=%true>"//home/t"`."""

    value: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)


class YsonError(YtError):
    """Bytes that are not YSON, or a value that YSON cannot hold."""


def split_attributes(value: Any) -> tuple[Any, Mapping[str, Any]]:
    return (value.value, value.attributes) if isinstance(value, Attributed) else (value, {})


def kind_of(value: Any) -> Kind:
    """The kind of a value as it is on the wire. Raises YsonError for what YSON does not have.

    >>> [kind_of(value) for value in (None, 1, Uint64(1), 2**63, 1.0, True, b"", [], {})]
    ['null', 'int64', 'uint64', 'uint64', 'double', 'boolean', 'string', 'list', 'map']
    """
    kind = _KINDS.get(value.__class__)
    if kind is not None:
        return kind
    match value:
        case Uint64() if 0 <= value <= MAX_UINT64:
            return "uint64"
        case int() if MIN_INT64 <= value <= MAX_UINT64 and not isinstance(value, Uint64):
            return "int64" if value <= MAX_INT64 else "uint64"
        case float():
            return "double"
        case bytes() | str():
            return "string"
        case list() | tuple():
            return "list"
        case Mapping():
            return "map"
        case Attributed():
            return kind_of(value.value)
    if isinstance(value, int):
        raise YsonError(f"{int(value)} is beyond 64 bits; YSON integers are from -2^63 to 2^64-1")
    raise YsonError(
        f"a {type(value).__name__} is not a YSON value; expected None, bool, int, float, bytes, "
        "str, list or dict"
    )


def to_bytes(text: str | bytes) -> bytes:
    """Raises YsonError for half of a surrogate pair, which JSON can have and UTF-8 has not."""
    if not isinstance(text, str):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise YsonError(
            f"{text!r} is not UTF-8: half of a surrogate pair at character {error.start + 1}"
        ) from None


def to_key(text: str | bytes) -> str:
    """The str that stands for a key, whatever its bytes are."""
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
