"""Row keys: `_dlt_id` of root and nested rows, equal to those of a dlt that ran before us.

A key is the first ten bytes of a SHAKE-128 digest in base64 without padding: 14 characters.
"""

from __future__ import annotations

import dataclasses
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from hashlib import shake_128
from math import isfinite
from operator import itemgetter
from typing import Any

import orjson

from trellis.dialects.dlt.system_tables import PREFIX
from trellis.evolution.scalars.coerce import coerce
from trellis.evolution.scalars.json_text import number_text
from trellis.evolution.scalars.values import HexBytes, Wei

_BYTES = 10  # of a digest
_PADDED = 12  # the next size that is whole groups of three bytes, so of four characters
_CHARS = 14
_PREFIX_IN_JSON = f'"{PREFIX}'.encode()

# one private character before the text of a value that JSON has no type for; the fourth, meant for
# UUIDs, is never written: dlt's encoder makes plain text of them first
_DECIMAL, _DATETIME, _DATE, _, _HEX, _BASE64, _WEI, _TIME = map(chr, range(0xF026, 0xF02E))


def key_hashes(subsets: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of root rows from their primary keys: column names as in the table, and their values.

    >>> key_hashes([{"region": "EU", "sku": "A-1"}])
    ['Mkd0f3N+1k6vcg']
    """
    return _hashes(map(canonical, subsets))


def content_hashes(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of whole items as they came: their own keys, with what is nested, without dlt's columns.

    >>> content_hashes([{"sku": "A-1", "qty": 3, "tags": ["x", "y"]}])
    ['bJIXJQGdlHrCrg']
    """
    return _hashes(map(_content, items))


def child_keys(parent_ids: Iterable[Any], table: str, idxs: Iterable[int]) -> list[str]:
    """Keys of nested rows: the key of the parent, the name of their own table, the place in the list.

    >>> child_keys(["kwdvCmGZv/sdzw"], "stock__lots", [0])
    ['8cxX88R057nxFA']
    """
    return _hashes(
        f"{parent_id}_{table}_{idx}".encode() for parent_id, idx in zip(parent_ids, idxs, strict=True)
    )


def random_keys(seed: bytes, n: int) -> list[str]:
    """n keys that look random and are the same for the same seed; fewer are the first of more."""
    return _keys(shake_128(seed).digest(_BYTES * n), n)


def _content(item: Mapping[str, Any]) -> bytes:
    content = canonical(item)
    if _PREFIX_IN_JSON not in content:  # so of no key: to look at each key would take as long as all the rest
        return content
    return canonical({k: v for k, v in item.items() if not str(k).startswith(PREFIX)})


def _hashes(contents: Iterable[bytes]) -> list[str]:
    digests = [shake_128(content).digest(_BYTES) for content in contents]
    return _keys(b"".join(digests), len(digests))


def _keys(digests: bytes, n: int) -> list[str]:
    padded = bytearray(_PADDED * n)
    for i in range(_BYTES):
        padded[i::_PADDED] = digests[i::_BYTES]
    text = b64encode(padded).decode("ascii")
    return [text[i : i + _CHARS] for i in range(0, len(text), 16)]


def canonical(item: Mapping[str, Any]) -> bytes:
    """Compact JSON with sorted keys, values without a JSON type marked: what dlt hashes."""
    try:
        return orjson.dumps(item, option=_PLAIN)
    except TypeError:
        return _write(item).encode()


_PLAIN = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


_quote = json.JSONEncoder(ensure_ascii=False).encode
_MARKED: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (Wei, lambda value: _WEI + str(value)),
    (Decimal, lambda value: _DECIMAL + str(value)),
    (datetime, lambda value: _DATETIME + value.isoformat()),
    (date, lambda value: _DATE + value.isoformat()),
    (time, lambda value: _TIME + value.isoformat()),
    (HexBytes, lambda value: _HEX + str(value)),
    (bytes, lambda value: _BASE64 + b64encode(value).decode("ascii")),
)


def _write(value: Any) -> str:
    """Compact JSON with sorted keys, byte for byte what dlt hashes."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return _quote(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(coerce(int(value), "text"))
    if isinstance(value, float):
        return number_text(value) if isfinite(value) else "null"
    if isinstance(value, Mapping):
        pairs = sorted(((_name(k), v) for k, v in value.items()), key=itemgetter(0))
        return "{" + ",".join([f"{_quote(k)}:{_write(v)}" for k, v in pairs]) + "}"
    for kind, mark in _MARKED:
        if isinstance(value, kind):
            return _quote(mark(value))
    if isinstance(value, Sequence) and not isinstance(value, (bytearray, memoryview)):
        return "[" + ",".join([_write(v) for v in value]) + "]"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _write({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    return _quote(str(coerce(value, "text")))


def _name(key: Any) -> str:
    """A key of a mapping; one that is not text is written as JSON would write the value."""
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return _write(key)
    return str(coerce(key, "text"))
