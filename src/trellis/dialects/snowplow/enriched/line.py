"""The line of an enriched event: 131 texts between tabs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Final

from trellis.dialects.snowplow.columns.column_types import LARGEST
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS, FIELDS, REQUIRED, AtomicField, Kind

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z?", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_INTEGER: Final = re.compile(r"[+-]?\d{1,10}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_CENT: Final = Decimal("0.01")
_AMOUNT_BOUND: Final = Decimal(10) ** 16
"""DECIMAL(18, 2) holds amounts below it."""
_MOST_ERRORS: Final = 10


def split_line(line: bytes) -> dict[str, str]:
    """The texts of a line by field, empty ones left out. Raises BadEvent."""
    try:
        texts = line.removesuffix(b"\r").decode("utf-8").split("\t")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{line[error.start]:02x} at column {error.start + 1}"
        raise BadEvent("loader_parsing_error", message) from None
    if len(texts) != len(FIELDS):
        expected = f"expected the {len(FIELDS)} of an enriched event, between tabs"
        count = f"{len(texts)} field{'' if len(texts) == 1 else 's'}"
        raise BadEvent("loader_parsing_error", f"the line has {count}; {expected}")
    return {field.name: text for field, text in zip(FIELDS, texts, strict=True) if text}


def atomic_values(texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of the columns of `events`. Raises BadEvent, which names all fields that are wrong."""
    values: dict[str, Any] = {name: text for name, text in texts.items() if name in _ATOMIC}
    try:
        for name, read in _TYPED:
            if name in values:
                values[name] = read(values[name])
    except ValueError:
        raise _unreadable(texts) from None
    if not values.keys() >= REQUIRED:
        raise _unreadable(texts)
    return values


def _unreadable(texts: Mapping[str, str]) -> BadEvent:
    errors: list[str] = []
    for field in ATOMIC_FIELDS:
        text = texts.get(field.name)
        if text is None:
            if field.is_required:
                errors.append(f"{field.name} is empty")
            continue
        try:
            _reader(field)(text)
        except ValueError:
            errors.append(f"{field.name} is {text[:60]!r}, not {_expected(field)}")
    return BadEvent("loader_parsing_error", "; ".join(errors[:_MOST_ERRORS]))


def read_time(text: str) -> datetime:
    """A time of an enriched event, which is in UTC. Raises ValueError.

    >>> read_time("2031-04-05 06:00:00.25").isoformat()
    '2031-04-05T06:00:00.250000+00:00'
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    moment, fraction = match.groups()
    microsecond = int(fraction[:6].ljust(6, "0")) if fraction else 0
    return datetime.fromisoformat(moment).replace(microsecond=microsecond, tzinfo=timezone.utc)


def _integer(text: str) -> int:
    number = int(text) if _INTEGER.fullmatch(text) else None
    if number is None or not -LARGEST["INT"] - 1 <= number <= LARGEST["INT"]:
        raise ValueError(text)
    return number


def _double(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _amount(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    try:
        amount = Decimal(text).quantize(_CENT, ROUND_HALF_UP)  # as warehouses round what COPY reads
    except InvalidOperation:
        raise ValueError(text) from None
    if abs(amount) >= _AMOUNT_BOUND:
        raise ValueError(text)
    return amount


def _boolean(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


def _uuid(text: str) -> str:
    if not _UUID.fullmatch(text):
        raise ValueError(text)
    return text.lower()


_READERS: Final[Mapping[Kind, Callable[[str], Any]]] = {
    "s": str,
    "t": read_time,
    "i": _integer,
    "d": _double,
    "b": _boolean,
    "u": _uuid,
}


def _reader(field: AtomicField) -> Callable[[str], Any]:
    return _amount if field.type.name == "DECIMAL" else _READERS[field.kind]


def _expected(field: AtomicField) -> str:
    return "an amount below 10^16" if field.type.name == "DECIMAL" else _EXPECTED[field.kind]


_ATOMIC: Final = frozenset(field.name for field in ATOMIC_FIELDS)
_TYPED: Final = tuple((field.name, _reader(field)) for field in ATOMIC_FIELDS if field.kind != "s")
_EXPECTED: Final[Mapping[Kind, str]] = {
    "t": "a time such as 2031-04-05 06:00:00.123",
    "i": "an integer of 32 bits",
    "d": "a number",
    "b": "0 or 1",
    "u": "a UUID",
}
