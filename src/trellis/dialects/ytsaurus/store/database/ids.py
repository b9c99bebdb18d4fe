"""Ids in the form of YTsaurus, which holds the type of the object, and moments in its form."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Final

TYPE_CODES: Final[Mapping[str, int]] = {
    "transaction": 1,
    "nested_transaction": 4,
    "lock": 200,
    "map_node": 303,
    "table": 401,
    "operation": 1000,
}
_CELL: Final = 0x3FC


def new_id(type: str) -> str:
    code = (_CELL << 16) | TYPE_CODES[type]
    return f"{secrets.randbits(14):x}-{secrets.randbits(20):x}-{code:x}-{secrets.randbits(32):x}"


def type_of_id(object_id: str) -> str:
    """The type of an object; empty for an id that Trellis gives to none.

    >>> type_of_id("213c-a01da-3fc0191-54a9a802")
    'table'
    """
    parts = object_id.split("-")
    try:
        code = int(parts[2], 16) & 0xFFFF if len(parts) == 4 else 0
    except ValueError:
        return ""
    return next((name for name, number in TYPE_CODES.items() if number == code), "")


def now_text() -> str:
    return format_moment(datetime.now(timezone.utc).timestamp())


def format_moment(seconds: float) -> str:
    """
    >>> format_moment(0.5)
    '1970-01-01T00:00:00.500000Z'
    """
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
