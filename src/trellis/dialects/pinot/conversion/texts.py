"""Conversion to columns of text and JSON."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.conversion.losses import LossKind, LossReporter
from trellis.dialects.pinot.conversion.messages import abbreviated
from trellis.dialects.pinot.conversion.numbers import require_finite
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_text
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.epochs import micros_of
from trellis.dialects.pinot.value.json_text.reader import json_with_end
from trellis.dialects.pinot.value.json_text.writer import json_of
from trellis.dialects.pinot.value.numbers.java_format import decimal_text, plain_text
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF: Final = re.compile("[\ud800-\udfff]")


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
        text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        return _HALF.sub("?", text)
    return text


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
