"""Conversion to columns of bytes, booleans and timestamps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from trellis.dialects.pinot.date_time.timestamp_text import stamp_millis
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.conversion.numbers import finite, long_of_decimal, long_of_float
from trellis.dialects.pinot.value.epochs import days_of, millis_of
from trellis.dialects.pinot.value.losses import Damage, Guard
from trellis.dialects.pinot.value.messages import cannot, shown
from trellis.dialects.pinot.value.numbers.parsing import BLANKS
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, Int64

_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UUID: Final = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


# --- BYTES, UUID


def bytes_of_text(text: str, guard: Guard) -> bytes:
    trimmed = text.strip(BLANKS)
    if not _HEX.fullmatch(trimmed):
        raise cannot(text, PinotType.BYTES)
    return bytes.fromhex(trimmed)


def bytes_of_bytes(value: bytes, guard: Guard) -> bytes:
    return bytes(value)


def bytes_of_uuid(value: UUID, guard: Guard) -> bytes:
    return value.bytes


def uuid_of_text(text: str, guard: Guard) -> bytes:
    if not _UUID.fullmatch(text):
        raise cannot(text, PinotType.UUID)
    return bytes.fromhex(text.replace("-", ""))


def uuid_of_bytes(value: bytes, guard: Guard) -> bytes:
    if len(value) != 16:
        raise cannot(value, PinotType.UUID)
    return bytes(value)


# --- BOOLEAN, TIMESTAMP


def boolean_of_number(value: float, guard: Guard) -> int:
    return int(value != 0)


def boolean_of_decimal(value: Decimal | int, guard: Guard) -> int:
    """False only for zero of scale 0: to Pinot `0.0` is another decimal, and so true."""
    if isinstance(value, int):
        return 1
    return int(bool(finite(value, PinotType.BOOLEAN)) or value.as_tuple().exponent != 0)


def boolean_of_text(text: str, guard: Guard) -> int:
    """True for `true` in any case and for `1`; everything else is false."""
    known = _BOOLEANS.get(text.strip(BLANKS).lower() if len(text) < 1000 else text.strip(BLANKS))
    if known is None:
        guard.hurt(Damage.TEXT_TO_FALSE, f"STRING {shown(text)} would become false: true, false, 1 or 0 fits")
        return 0
    return known


_BOOLEANS: Final[Mapping[str, int]] = {"true": 1, "1": 1, "false": 0, "0": 0}


def instant(millis: int) -> int:
    """Milliseconds that stay a long: a small int would be of kind INT, which no timestamp takes."""
    return int(millis) if not INT_MIN <= millis <= INT_MAX else Int64(millis)


def instant_of_long(value: int, guard: Guard) -> int:
    return instant(value)


def instant_of_double(value: float, guard: Guard) -> int:
    return instant(long_of_float(value, guard))


def instant_of_decimal(value: Decimal | int, guard: Guard) -> int:
    return instant(long_of_decimal(value, guard))


def instant_of_timestamp(value: datetime, guard: Guard) -> int:
    return instant(millis_of(value, guard.settings.session_zone))


def instant_of_date(value: date, guard: Guard) -> int:
    """Midnight UTC."""
    return instant(days_of(value) * 86_400_000)


def instant_of_text(text: str, guard: Guard) -> int:
    zone = guard.settings.session_zone
    trimmed = text.strip(BLANKS)
    try:
        return instant(stamp_millis(trimmed, zone, strict=True))
    except ValueError:
        pass
    try:
        found = stamp_millis(trimmed, zone)
    except ValueError:
        raise cannot(text, PinotType.TIMESTAMP) from None
    guard.hurt(
        Damage.ROLLED_OVER, f"STRING {shown(text)} is no time of the calendar and would be moved to one"
    )
    return instant(found)


def millis_of_timestamp(value: datetime, guard: Guard) -> int:
    return millis_of(value, guard.settings.session_zone)


def days_of_date(value: date, guard: Guard) -> int:
    return days_of(value)


def day_number(value: date, guard: Guard) -> float:
    return float(days_of(value))


def day_decimal(value: date, guard: Guard) -> Decimal:
    return Decimal(days_of(value))


def double_of_timestamp(value: datetime, guard: Guard) -> float:
    return float(millis_of(value, guard.settings.session_zone))


def decimal_of_timestamp(value: datetime, guard: Guard) -> Decimal:
    return Decimal(millis_of(value, guard.settings.session_zone))
