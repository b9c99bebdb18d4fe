"""Python values as JSON values and back, exactly: what JSON has no form for is an object of one tag.

    Decimal("1.50")  <->  {"$decimal": "1.50"}

Nothing but the classes listed here is ever made from a document.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timezone
from decimal import Decimal
from enum import Enum
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any
from uuid import UUID

import orjson

from trellis.evolution.scalars.values import HexBytes, Wei

TAG = "$"
MAX_DEPTH = 200
"""How many levels of lists and objects are written: so few that no reader of them runs out of stack."""

Encode = Callable[[Any], Any]


def _refuse(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} has no form in JSON: {value!r:.80}")


def to_tagged(value: Any, other: Encode = _refuse, depth: int = 0) -> Any:
    """The value as JSON has it. `other` gives the JSON of what has no form here, by default TypeError.

    A time zone becomes the offset that it has at that time. Raises RecursionError beyond MAX_DEPTH.

    >>> to_tagged({"price": Decimal("1.50"), "sizes": (1, 2.5)})
    {'price': {'$decimal': '1.50'}, 'sizes': {'$tuple': [1, 2.5]}}
    """
    class_ = type(value)
    if class_ is str or value is None or class_ is bool:
        return value
    if class_ is int:
        return value if -(2**63) <= value < 2**63 else {"$int": hex(value)}
    if class_ is float:
        return value if isfinite(value) else {"$float": repr(value)}
    if depth == MAX_DEPTH:
        raise RecursionError(f"nested more than {MAX_DEPTH} levels deep")
    depth += 1
    if class_ is dict:
        if any(type(key) is not str or key.startswith(TAG) for key in value):
            return {"$map": [[to_tagged(part, other, depth) for part in pair] for pair in value.items()]}
        return {key: to_tagged(member, other, depth) for key, member in value.items()}
    if class_ is list:
        return [to_tagged(member, other, depth) for member in value]
    if class_ in _LISTS:
        return {_LISTS[class_]: [to_tagged(member, other, depth) for member in value]}
    tag, text_of = _TEXTS.get(class_, _NO_TEXT)
    text = text_of(value)
    return {"$other": other(value)} if text is None else {tag: text}


def from_tagged(document: Any, other: Encode | None = None) -> Any:
    """The value that `to_tagged` had. `other` makes a value of what the `other` of `to_tagged` gave.

    Raises ValueError for what `to_tagged` does not give.

    >>> from_tagged({"price": {"$decimal": "1.50"}, "sizes": {"$tuple": [1, 2.5]}})
    {'price': Decimal('1.50'), 'sizes': (1, 2.5)}
    """
    if isinstance(document, list):
        return [from_tagged(member, other) for member in document]
    if not isinstance(document, dict):
        return document
    return _from_object({key: from_tagged(member, other) for key, member in document.items()}, other)


def dumps(values: Sequence[Any], other: Encode = _refuse) -> bytes:
    """The text of `to_tagged(values)`; `other` gets what is nested too deeply, too.

    >>> dumps([{"price": Decimal("1.50")}, (1, 2)])
    b'[{"price":{"$decimal":"1.50"}},{"$tuple":[1,2]}]'
    """
    values = list(values)
    with suppress(TypeError):  # integers beyond 64 bits, lone surrogates, more levels than orjson goes down
        content = orjson.dumps(values, partial(to_tagged, other=other), _LEFT_TO_US)
        if _is_faithful(values):
            return content
    documents = [_to_tagged_or_other(value, other) for value in values]
    return json.dumps(documents, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def loads(content: bytes, other: Encode | None = None) -> list[Any]:
    """The values that `dumps` had. Only for what this process has written: nothing is checked."""
    if b'"$' not in content:
        with suppress(ValueError):  # lone surrogates
            return orjson.loads(content)  # type: ignore[no-any-return]

    def read_object(document: dict[str, Any]) -> Any:
        return document if len(document) != 1 else _from_object(document, other)

    values: list[Any] = json.loads(content, object_hook=read_object)
    return values


def _to_tagged_or_other(value: Any, other: Encode) -> Any:
    try:
        return to_tagged(value, other)
    except RecursionError:
        return {"$other": other(value)}


def _is_faithful(values: list[Any]) -> bool:
    """Whether orjson keeps all these values apart: no tuples, no keys but text, no NaN."""
    level = values
    while True:
        classes = {*map(type, level)}
        if any(issubclass(class_, _WRITTEN_ALIKE) and class_ not in _EXACT for class_ in classes):
            return False
        if float in classes and not all(map(isfinite, [value for value in level if type(value) is float])):
            return False
        objects = [value for value in level if type(value) is dict] if dict in classes else []
        keys = {*chain.from_iterable(objects)}
        if any(type(key) is not str or key.startswith(TAG) for key in keys):
            return False
        lists = [value for value in level if type(value) is list] if list in classes else []
        if not objects and not lists:
            return True
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]


_LEFT_TO_US = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_WRITTEN_ALIKE = (str, int, float, list, tuple, dict, Enum, UUID)
_EXACT = frozenset((str, int, bool, float, list, dict))


def _from_object(document: dict[str, Any], other: Encode | None) -> Any:
    """What an object of JSON stands for whose values have been read already."""
    tag = next((key for key in document if key.startswith(TAG)), None)
    if tag is None:
        return document
    if len(document) > 1:
        raise ValueError(f"expected {tag} alone in its object, found {', '.join(document)}")
    content = document[tag]
    if tag == "$other" and other is not None:
        return other(content)
    try:
        if tag in _FROM_LIST and isinstance(content, list):
            return _FROM_LIST[tag](content)
        if tag in _FROM_TEXT and isinstance(content, str):
            return _FROM_TEXT[tag](content)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise ValueError(f"no value of {tag}: {content!r:.80}")


def _iso(value: datetime | time) -> str | None:
    """ISO 8601; None where that is not the whole value."""
    fixed = value.tzinfo is None or type(value.tzinfo) is timezone
    partial = value.fold if fixed else isinstance(value, time)
    return None if partial else value.isoformat()


def _base64(value: bytes) -> str:
    return b64encode(value).decode("ascii")


def _bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


_LISTS: dict[type, str] = {tuple: "$tuple", set: "$set", frozenset: "$frozenset"}
_FROM_LIST: dict[str, Callable[[Any], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
    "$map": dict,
}

_NO_TEXT: tuple[str, Callable[[Any], str | None]] = ("", lambda _: None)
_TEXTS: dict[type, tuple[str, Callable[[Any], str | None]]] = {
    Decimal: ("$decimal", str),
    Wei: ("$wei", str),
    bytes: ("$bytes", _base64),
    HexBytes: ("$hex_bytes", _base64),
    datetime: ("$datetime", _iso),
    date: ("$date", date.isoformat),
    time: ("$time", _iso),
    UUID: ("$uuid", str),
}
_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "$int": lambda text: int(text, 16),
    "$float": float,
    "$decimal": Decimal,
    "$wei": Wei,
    "$bytes": _bytes,
    "$hex_bytes": lambda text: HexBytes(_bytes(text)),
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$uuid": UUID,
}
