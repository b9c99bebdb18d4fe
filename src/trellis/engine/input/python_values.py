"""Records that code of users makes, as the plain values that a JSON document holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson

from trellis.errors import ContractError
from trellis.evolution.scalars.values import HexBytes, Wei

SCALARS: Final = frozenset(
    (str, int, bool, type(None), bytes, Decimal, datetime, date, time, UUID, Wei, HexBytes)
)
TEXT_KEYS: Final = frozenset((str, int, float))
"""Classes of keys that read the same in JSON as in Python."""
MISSING_VALUES: Final = ("NaTType", "NAType")
"""The classes of what stands for no value in pandas; looked up by name, as pandas is not imported here."""


def mapping_of(value: Any) -> dict[Any, Any] | None:
    """What is an object of JSON: any mapping, model, dataclass, named tuple or row of Spark; else None."""
    if isinstance(value, dict):
        return value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):
        return dict(value.model_dump(by_alias=True))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for method in ("asDict", "_asdict"):
        if hasattr(value, method):
            return dict(getattr(value, method)())
    return None


def plain_record(record: Any) -> Any:
    """`plain_value` of a record; one that is nested deeper than Python calls go stays as it is."""
    try:
        return plain_value(record)
    except RecursionError:
        return record


def plain_value(value: Any) -> Any:
    """The value itself where it is plain already; else the plain value that JSON would have for it.

    What stands for no value (NaN, NaT, NA) is None, and a key that is no text is what JSON has for it.
    Raises ContractError for a key that JSON has nothing for.

    >>> plain_value({"a": float("nan"), None: (1, 2)})
    {'a': None, 'null': (1, 2)}
    """
    class_ = value.__class__
    if class_ in SCALARS:
        return value
    if isinstance(value, float):
        return value if value == value else None
    if class_ is list or class_ is tuple:
        return _plain_list(value)
    if (mapping := mapping_of(value)) is not None:
        return _plain_mapping(mapping)
    if isinstance(value, list):
        return _plain_list([*value])
    return None if class_.__name__ in MISSING_VALUES else value


def _plain_list(values: Any) -> Any:
    members = [plain_value(member) for member in values]
    unchanged = all(new is old for new, old in zip(members, values, strict=True))
    return values if unchanged else members


def _plain_mapping(mapping: dict[Any, Any]) -> dict[Any, Any]:
    changed = mapping.__class__ is not dict
    members = {}
    for key, member in mapping.items():
        text = key if key.__class__ in TEXT_KEYS else _key_text(key)
        new = member if member.__class__ in SCALARS else plain_value(member)
        changed = changed or text is not key or new is not member
        members[text] = new
    return members if changed else mapping


def _key_text(key: Any) -> str:
    try:
        ((text, _),) = orjson.loads(orjson.dumps({key: None}, option=orjson.OPT_NON_STR_KEYS)).items()
    except TypeError:
        raise ContractError(
            f"the key {key!r:.80} is a {type(key).__name__}; the keys of a record are texts, numbers, dates"
            " or None: make it a text"
        ) from None
    return str(text)
