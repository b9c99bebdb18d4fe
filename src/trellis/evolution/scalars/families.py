"""The family of a Python class: the data type that its values have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from uuid import UUID

from trellis.evolution.scalars.values import HexBytes, JsonScalar, Wei
from trellis.schema.model import DataType

_FAMILIES: dict[type, DataType] = {
    str: "text",
    int: "bigint",
    float: "double",
    bool: "bool",
    bytes: "binary",
    HexBytes: "binary",
    dict: "json",
    list: "json",
    tuple: "json",
    JsonScalar: "json",
    Decimal: "decimal",
    Wei: "wei",
    datetime: "timestamp",
    date: "date",
    time: "time",
    UUID: "text",
}

# the narrower class first: a Wei is a Decimal, a datetime is a date, a str is a Sequence
_BASES: tuple[tuple[type, DataType], ...] = (
    (str, "text"),
    (int, "bigint"),
    (float, "double"),
    (bytes, "binary"),
    (Wei, "wei"),
    (Decimal, "decimal"),
    (datetime, "timestamp"),
    (date, "date"),
    (time, "time"),
    (UUID, "text"),
    (Mapping, "json"),
    (Sequence, "json"),
)


def family(kind: type) -> DataType | None:
    """The data type of a Python class, None if it has none. Looks at no value.

    >>> family(bool), family(tuple), family(set)
    ('bool', 'json', None)
    """
    data_type = _FAMILIES.get(kind)
    if data_type is not None:
        return data_type
    if issubclass(kind, Enum):
        return "bigint" if issubclass(kind, int) else "text"
    for base, data_type in _BASES:
        if issubclass(kind, base):
            return data_type
    return "json" if dataclasses.is_dataclass(kind) else None
