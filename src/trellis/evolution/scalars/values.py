"""Values that Python has no type for, and the sign that a value cannot be converted."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

MAX_DIGITS = 38  # of a decimal, in Spark and in every warehouse that has one

BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1

WEI_LIMIT = 10**MAX_DIGITS  # no wei is as large as this, but in a column that says that it is wider

WEI_SIZE = (MAX_DIGITS, 0)  # precision and scale of a wei that says neither

Convert = Callable[[Any], Any]


class _Misfit:
    """The value cannot be converted. There is one, `MISFIT`, also after pickling."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISFIT"

    def __reduce__(self) -> str:
        return "MISFIT"


MISFIT: Final = _Misfit()


def same(value: Any) -> Any:
    """The conversion of a value that has its type already."""
    return value


class JsonObject(dict[str, Any]):
    """An object that stays one value: it is JSON in its column, whatever the nesting of the table."""

    __slots__ = ()


class JsonArray(list[Any]):
    """A list that stays one value."""

    __slots__ = ()


class JsonScalar:
    """A number, a text or a truth value that is JSON in its column, beside objects and lists.

    >>> str(JsonScalar(True))
    'true'
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __str__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)


class Wei(Decimal):
    """A number of the data type `wei`: money of a blockchain, an integer of up to 256 bits."""

    __slots__ = ()


class HexBytes(bytes):
    """Bytes that are written as text in hexadecimal, `0x` first.

    >>> str(HexBytes(b"hi"))
    '0x6869'
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "0x" + self.hex()
