"""Conversion to columns of bytes, booleans and timestamps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from trellis.dialects.pinot.conversion.losses import LossKind, LossReporter
from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.conversion.numbers import long_of_decimal, long_of_float, require_finite
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.epochs import days_of, millis_of
from trellis.dialects.pinot.value.numbers.parsing import BLANKS
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, Int64

_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UUID: Final = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


# --- BYTES, UUID


def bytes_of_text(text: str, reporter: LossReporter) -> bytes:
    trimmed = text.strip(BLANKS)
    if not _HEX.fullmatch(trimmed):
        raise conversion_error(text, PinotType.BYTES)
    return bytes.fromhex(trimmed)


def bytes_of_bytes(value: bytes, reporter: LossReporter) -> bytes:
    return bytes(value)


def bytes_of_uuid(value: UUID, reporter: LossReporter) -> bytes:
    return value.bytes


def uuid_of_text(text: str, reporter: LossReporter) -> bytes:
    if not _UUID.fullmatch(text):
        raise conversion_error(text, PinotType.UUID)
    return bytes.fromhex(text.replace("-", ""))


def uuid_of_bytes(value: bytes, reporter: LossReporter) -> bytes:
    if len(value) != 16:
        raise conversion_error(value, PinotType.UUID)
    return bytes(value)


# --- BOOLEAN, TIMESTAMP


def boolean_of_number(value: float, reporter: LossReporter) -> int:
    return int(value != 0)


def boolean_of_decimal(value: Decimal | int, reporter: LossReporter) -> int:
    """False only for zero of scale 0: to Pinot `0.0` is another decimal, and so true."""
    if isinstance(value, int):
        return 1
    return int(bool(require_finite(value, PinotType.BOOLEAN)) or value.as_tuple().exponent != 0)


def boolean_of_text(text: str, reporter: LossReporter) -> int:
    """True for `true` in any case and for `1`; everything else is false."""
    known = _BOOLEANS.get(text.strip(BLANKS).lower() if len(text) < 1000 else text.strip(BLANKS))
    if known is None:
        reporter.report(
            LossKind.TEXT_TO_FALSE,
            f"STRING {abbreviated(text)} would become false: expected true, false, 1 or 0",
        )
        return 0
    return known


_BOOLEANS: Final[Mapping[str, int]] = {"true": 1, "1": 1, "false": 0, "0": 0}


def long_instant(millis: int) -> int:
    """Milliseconds as a long: a small int would be of kind INT, which a TIMESTAMP refuses."""
    return int(millis) if not INT_MIN <= millis <= INT_MAX else Int64(millis)


def instant_of_long(value: int, reporter: LossReporter) -> int:
    return long_instant(value)


def instant_of_double(value: float, reporter: LossReporter) -> int:
    return long_instant(long_of_float(value, reporter))


def instant_of_decimal(value: Decimal | int, reporter: LossReporter) -> int:
    return long_instant(long_of_decimal(value, reporter))


def instant_of_timestamp(value: datetime, reporter: LossReporter) -> int:
    return long_instant(millis_of(value, reporter.settings.session_zone))


def instant_of_date(value: date, reporter: LossReporter) -> int:
    """Midnight UTC."""
    return long_instant(days_of(value) * 86_400_000)


def instant_of_text(text: str, reporter: LossReporter) -> int:
    zone = reporter.settings.session_zone
    trimmed = text.strip(BLANKS)
    try:
        return long_instant(timestamp_millis(trimmed, zone, strict=True))
    except ValueError:
        pass
    try:
        millis = timestamp_millis(trimmed, zone)
    except ValueError:
        raise conversion_error(text, PinotType.TIMESTAMP) from None
    reporter.report(
        LossKind.ROLLED_OVER,
        f"STRING {abbreviated(text)} is not a valid time and would roll over to another",
    )
    return long_instant(millis)


def millis_of_timestamp(value: datetime, reporter: LossReporter) -> int:
    return millis_of(value, reporter.settings.session_zone)


def days_of_date(value: date, reporter: LossReporter) -> int:
    return days_of(value)


def day_number(value: date, reporter: LossReporter) -> float:
    return float(days_of(value))


def day_decimal(value: date, reporter: LossReporter) -> Decimal:
    return Decimal(days_of(value))


def double_of_timestamp(value: datetime, reporter: LossReporter) -> float:
    return float(millis_of(value, reporter.settings.session_zone))


def decimal_of_timestamp(value: datetime, reporter: LossReporter) -> Decimal:
    return Decimal(millis_of(value, reporter.settings.session_zone))
