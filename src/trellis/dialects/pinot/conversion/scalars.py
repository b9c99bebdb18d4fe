"""Conversion to columns of bytes, booleans, timestamps, text and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.conversion.numbers import require_finite
from trellis.dialects.pinot.conversion.settings import LossKind, LossReporter
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.json_text import json_of, json_with_end
from trellis.dialects.pinot.value.numbers import BLANKS, bytes_of_hex, decimal_text, plain_text
from trellis.dialects.pinot.value.source_kinds import (
    INT_MAX,
    INT_MIN,
    LONG_MAX,
    LONG_MIN,
    Int64,
    micros_of,
    millis_of,
)

_BOOLEANS: Final[Mapping[str, int]] = {"true": 1, "1": 1, "false": 0, "0": 0}


def bytes_of_text(text: str) -> bytes:
    try:
        return bytes_of_hex(text.strip(BLANKS))
    except ValueError:
        raise conversion_error(text, PinotType.BYTES) from None


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
        LossKind.ROLLED_OVER, f"STRING {abbreviated(text)} is not a valid time and would roll over to another"
    )
    return millis


def as_instant(millis_of_value: Callable[[Any, LossReporter], int]) -> Callable[[Any, LossReporter], int]:
    """Milliseconds as a long: a small int would be of kind INT, which a TIMESTAMP refuses."""

    def convert(value: Any, reporter: LossReporter) -> int:
        millis = millis_of_value(value, reporter)
        return Int64(millis) if INT_MIN <= millis <= INT_MAX else int(millis)

    return convert


def text_of_text(text: str, reporter: LossReporter) -> str:
    """The text itself; half of a surrogate pair, which UTF-8 does not have, is stored as `?`."""
    if text.isascii():
        return text
    stored = encodable_text(text)
    if "?" in stored and stored.count("?") != text.count("?"):
        reporter.report(
            LossKind.SURROGATE, f"STRING {abbreviated(text)} holds half of a character, which is stored as ?"
        )
    return stored


def encodable_text(text: str) -> str:
    """A text that UTF-8 can hold: two halves of a surrogate pair are joined, one alone is `?`.

    >>> encodable_text("a\\ud83d"), encodable_text("\\ud83d\\ude00") == "\\U0001f600"
    ('a?', True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text_of_units(text.encode("utf-16-le", "surrogatepass"))
    return text


def text_of_units(units: bytes) -> str:
    """The text of UTF-16 units; half of a pair is `?`."""
    return units.decode("utf-16-le", "surrogatepass").encode("utf-8", "replace").decode()


def text_of_whole(value: int) -> str:
    return int.__repr__(value) if LONG_MIN <= value <= LONG_MAX else plain_text(value)


def text_of_decimal(value: Decimal | int) -> str:
    return plain_text(require_finite(value, PinotType.STRING))


def text_of_timestamp(value: datetime, reporter: LossReporter) -> str:
    """`yyyy-MM-dd HH:mm:ss.f` in the session zone, with the microseconds that the source gives."""
    zone = reporter.settings.session_zone
    millis, micros = divmod(micros_of(value, zone), 1000)
    text = timestamp_text(millis, zone)
    if not micros:
        return text
    return f"{text.partition('.')[0]}.{millis % 1000:03}{micros:03}".rstrip("0")


def json_of_text(text: str, reporter: LossReporter) -> str:
    json_text, end = json_with_end(text_of_text(text, reporter))
    if end < len(text) and text[end:].strip(" \t\n\r"):
        reporter.report(
            LossKind.JSON_TAIL, f"the text after the JSON value would be cut: {abbreviated(text[end:])}"
        )
    return text_of_text(json_text, reporter)


def json_of_value(value: Any, reporter: LossReporter) -> str:
    return text_of_text(json_of(value, reporter.settings.session_zone), reporter)


def json_of_decimal(value: Decimal | int) -> str:
    return decimal_text(require_finite(value, PinotType.JSON))
