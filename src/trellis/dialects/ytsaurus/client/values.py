"""Values as scripts for YTsaurus know them: text is str, and values with attributes carry them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.ytsaurus.yson.values import Attributed, Uint64


class _WithAttributes:
    """`attributes` beside the value, as in YSON."""

    attributes: dict[str, Any]


class YsonString(str, _WithAttributes):
    pass


class YsonInt(int, _WithAttributes):
    pass


class YsonDouble(float, _WithAttributes):
    pass


class YsonList(list[Any], _WithAttributes):
    pass


class YsonMap(dict[str, Any], _WithAttributes):
    pass


class YsonEntity(_WithAttributes):
    """A null with attributes."""

    def __eq__(self, other: object) -> bool:
        return other is None or (isinstance(other, YsonEntity) and other.attributes == self.attributes)

    __hash__ = None  # type: ignore[assignment]


YsonUint64 = Uint64
_TYPES: dict[type, type[Any]] = {
    str: YsonString,
    int: YsonInt,
    float: YsonDouble,
    list: YsonList,
    dict: YsonMap,
}


def to_python(value: Any) -> Any:
    """A value of the store for a script: bytes that are UTF-8 become str.

    >>> to_python([b"k", b"\\xff", {"n": None}])
    ['k', b'\\xff', {'n': None}]
    """
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value
        case Attributed():
            return _with_attributes(to_python(value.value), to_python(value.attributes))
        case Mapping():
            return {name: to_python(item) for name, item in value.items()}
        case list() | tuple():
            return [to_python(item) for item in value]
    return value


def from_python(value: Any) -> Any:
    """The value of a script for the store."""
    match value:
        case _WithAttributes():
            plain = None if isinstance(value, YsonEntity) else _plain(value)
            attributes = getattr(value, "attributes", None)
            return Attributed(plain, from_python(attributes)) if attributes else plain
        case Mapping():
            return {name: from_python(item) for name, item in value.items()}
        case list() | tuple():
            return [from_python(item) for item in value]
    to_yson = getattr(value, "to_yson_type", None)
    return value if to_yson is None else from_python(to_yson())


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: from_python(item) for name, item in value.items()}
        case list():
            return [from_python(item) for item in value]
        case str():
            return str(value)
        case float():
            return float(value)
    return int(value)


def _with_attributes(value: Any, attributes: Mapping[str, Any]) -> Any:
    wrapped = YsonEntity() if value is None else _TYPES.get(type(value), YsonString)(value)
    wrapped.attributes = dict(attributes)
    return wrapped
