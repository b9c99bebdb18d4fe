"""Conversion to columns of bytes, booleans and timestamps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.conversion.losses import LossKind, LossReporter
from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.conversion.numbers import require_finite
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.epochs import millis_of
from trellis.dialects.pinot.value.numbers.parsing import BLANKS
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, Int64

_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UUID: Final = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BOOLEANS: Final[Mapping[str, int]] = {"true": 1, "1": 1, "false": 0, "0": 0}


def bytes_of_text(text: str) -> bytes:
    trimmed = text.strip(BLANKS)
    if not _HEX.fullmatch(trimmed):
        raise conversion_error(text, PinotType.BYTES)
    return bytes.fromhex(trimmed)


def uuid_of_text(text: str) -> bytes:
    if not _UUID.fullmatch(text):
        raise conversion_error(text, PinotType.UUID)
    return bytes.fromhex(text.replace("-", ""))


def uuid_of_bytes(value: bytes) -> bytes:
    if len(value) != 16:
        raise conversion_error(value, PinotType.UUID)
    return bytes(value)


def boolean_of_decimal(value: Decimal | int) -> int:
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


def millis_of_timestamp(value: datetime, reporter: LossReporter) -> int:
    return millis_of(value, reporter.settings.session_zone)


def millis_of_text(text: str, reporter: LossReporter) -> int:
    zone = reporter.settings.session_zone
    trimmed = text.strip(BLANKS)
    try:
        return timestamp_millis(trimmed, zone, strict=True)
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
    return millis


def as_instant(millis_of_value: Callable[[Any, LossReporter], int]) -> Callable[[Any, LossReporter], int]:
    """Milliseconds as a long: a small int would be of kind INT, which a TIMESTAMP refuses."""

    def convert(value: Any, reporter: LossReporter) -> int:
        millis = millis_of_value(value, reporter)
        return Int64(millis) if INT_MIN <= millis <= INT_MAX else int(millis)

    return convert
