"""The kind of a value: its data type, what the detectors call it, and every type it can be read as.

Kinds are few and shared, so a load of millions of values is described by a handful of them.
`fits` says exactly what `coerce` would do, without doing it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as datetime_time
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

from trellis.errors import ContractError
from trellis.evolution.scalars import iso
from trellis.evolution.scalars.binary import is_base64
from trellis.evolution.scalars.coerce import coercer
from trellis.evolution.scalars.detect import DEFAULT, Detecting, detect, detector
from trellis.evolution.scalars.exact import storable
from trellis.evolution.scalars.families import family
from trellis.evolution.scalars.iso import common_date, common_timestamp
from trellis.evolution.scalars.json_text import is_json, plain
from trellis.evolution.scalars.literals import INERT_STARTS, may_be_number
from trellis.evolution.scalars.values import BIGINT_MAX, BIGINT_MIN, MISFIT, WEI_LIMIT, HexBytes, Wei
from trellis.schema.model import DATA_TYPES, DataType

__all__ = ["HexBytes", "Kind", "TypedKind", "Wei", "classifier", "classify", "type_of", "typed_kind"]


@dataclass(frozen=True)
class Kind:
    """What one value is. Of equal kinds `classify` makes one object per process.

    `fits` holds the value's own type, but for a Wei too large for any wei column: that goes to a
    variant column `..__v_str`.
    """

    type: DataType
    detected: DataType | None
    fits: frozenset[DataType]


@dataclass(frozen=True)
class TypedKind(Kind):
    """What a whole column of a source with types is: its type speaks, whatever its values are.

    It gives a new column its type and says nothing of one that is there, whose values are looked at.
    """

    precision: int | None = None
    scale: int | None = None
    nested: str | None = None
    """The nested type of its values, as the hint `x-nested-type` has it."""


def typed_kind(
    data_type: DataType, precision: int | None = None, scale: int | None = None, nested: str | None = None
) -> TypedKind:
    """The kind of a column of this type."""
    return TypedKind(data_type, None, frozenset(DATA_TYPES), precision, scale, nested)


def type_of(value: Any) -> DataType | None:
    """The data type of a Python value, None if it has none.

    A number too large for the type of its class has the next one that holds all of it: an integer
    beyond 64 bits is wei, a number beyond 38 digits is text.

    >>> type_of(1), type_of(True), type_of(2**70), type_of({1, 2})
    ('bigint', 'bool', 'wei', None)
    """
    data_type = family(type(value))
    if data_type == "bigint":
        return _type_of_int(plain(value))
    if data_type == "decimal" and storable(value) is None:
        return "text"
    return data_type


def classify(value: Any, detections: tuple[str, ...] = (), using: Detecting = DEFAULT) -> Kind:
    """The kind of a value under the detectors of a schema. `classifier` is faster for many values.

    >>> kind = classify("2024-05-06T07:08Z", ("iso_timestamp",))
    >>> kind.type, kind.detected, sorted(kind.fits)
    ('text', 'timestamp', ['date', 'text', 'timestamp'])
    """
    if using is DEFAULT:
        return _default_classifier(detections)(value)
    return classifier(detections, using)(value)


@lru_cache(maxsize=64)
def classifier(detections: tuple[str, ...] = (), using: Detecting = DEFAULT) -> Callable[[Any], Kind]:
    """`classify` for one schema: a function of the value alone."""
    for name in detections:
        detector(name)
    stamps, dates = "iso_timestamp" in detections, "iso_date" in detections
    epochs = "timestamp" in detections
    window, fixed = using.window, using.now
    text_kinds: dict[int, Kind] = {}
    plain_text, base64_text = _kind("text", None, _TEXT), _kind("text", None, _TEXT | _BINARY)
    timestamp_text = _kind("text", "timestamp" if stamps else None, _TEXT | _WHEN)
    date_text = _kind("text", "date" if dates else None, _TEXT | _WHEN)
    integer_text = _kind("text", None, _TEXT | _BIGINT | _DOUBLE | _EXACT | _WHEN | _JSON)
    decimal_text = _kind("text", None, _TEXT | _DOUBLE | _EXACT | _WHEN | _JSON)

    def of_text(text: str) -> Kind:
        first = text[:1]
        if first in INERT_STARTS:
            return plain_text if len(text) & 3 or not is_base64(text) else base64_text
        if first > "\x7f" and first.isalpha():
            return plain_text
        size = len(text)
        if size >= 16:
            match = common_timestamp(text)
            if match is not None and match[3] < "29":
                return timestamp_text
        elif size == 10 and common_date(text):
            return date_text
        elif _common_number(text):
            if "." in text:
                return decimal_text
            if size not in _SIZES_WITH_MEANING:
                return integer_text
        mask = _fits_of_text(text)
        kind = text_kinds.get(mask)
        if kind is None:
            detected: DataType | None = None
            if mask & _IS_STAMP and stamps:
                detected = "timestamp"
            elif mask & _IS_DATE and dates:
                detected = "date"
            kind = text_kinds[mask] = _kind("text", detected, mask & _FITS)
        return kind

    def near_now(value: int | float) -> bool:
        now = time.time() if fixed is None else fixed
        return now - window <= value <= now + window

    count, count_near = _kind("bigint", None, _COUNT), _kind("bigint", "timestamp", _COUNT)
    below_zero, below_near = (
        _kind("bigint", detected, _COUNT & ~_BINARY) for detected in (None, "timestamp")
    )
    fraction, fraction_near = (_kind("double", detected, _FRACTION) for detected in (None, "timestamp"))

    large = _kind("bigint", None, _COUNT & ~_WHEN)

    def of_int(value: int) -> Kind:
        if 0 <= value <= iso.LAST_SECOND:
            return count_near if epochs and near_now(value) else count
        if iso.FIRST_SECOND <= value < 0:
            return below_near if epochs and near_now(value) else below_zero
        if iso.LAST_SECOND < value <= BIGINT_MAX:
            return large
        return _kind(_type_of_int(value), detect(value, detections, using), _fits_of_int(value))

    def of_float(value: float) -> Kind:
        near = epochs and near_now(value)
        if (1e-9 <= value < 1e9 or -1e9 < value <= -1e-9) and value % 1.0:
            return fraction_near if near else fraction
        return _kind("double", "timestamp" if near else None, _fits_of_float(value))

    def of_decimal(value: Decimal) -> Kind:
        exact = storable(value) is not None
        return _kind("decimal" if exact else "text", None, _fits_of_decimal(value, exact))

    def of_other(value: Any) -> Kind:
        type_ = type_of(value)
        if type_ is None:
            raise ContractError(
                f"a {type(value).__name__} has no data type: {value!r:.80};"
                " make it text, a number or a list before loading"
            )
        return _kind(type_, detect(value, detections, using), _fits_by_trying(value))

    def of_plain(value: Any) -> Kind:
        return of(plain(value))

    def of_clock(value: datetime) -> Kind:
        return _MOMENT if value.tzinfo is None or value.tzinfo is iso.UTC else of_other(value)

    steps: dict[type, Callable[[Any], Kind]] = {
        str: of_text,
        int: of_int,
        float: of_float,
        Decimal: of_decimal,
        datetime: of_clock,
        bool: lambda value: _TRUTH,
        bytes: lambda value: _BYTES,
        date: lambda value: _DAY,
        datetime_time: lambda value: _CLOCK,
        dict: lambda value: _NESTED,
        list: lambda value: _NESTED,
        tuple: lambda value: _NESTED,
    }

    def of(value: Any) -> Kind:
        kind = type(value)
        step = steps.get(kind)
        if step is None:
            step = steps[kind] = of_plain if issubclass(kind, (Enum, UUID)) else of_other
        return step(value)

    return of


@lru_cache(maxsize=64)
def _default_classifier(detections: tuple[str, ...]) -> Callable[[Any], Kind]:
    return classifier(detections)


# ---- sets of types as bits

_BIT: dict[DataType, int] = {data_type: 1 << i for i, data_type in enumerate(DATA_TYPES)}
_FITS = (1 << len(DATA_TYPES)) - 1
_IS_STAMP, _IS_DATE = _FITS + 1, (_FITS + 1) * 2  # the text is one to a detector, too
_TEXT, _BIGINT, _DOUBLE, _BOOL = _BIT["text"], _BIT["bigint"], _BIT["double"], _BIT["bool"]
_BINARY, _JSON, _TIME = _BIT["binary"], _BIT["json"], _BIT["time"]
_WHEN = _BIT["timestamp"] | _BIT["date"]
_EXACT = _BIT["decimal"] | _BIT["wei"]
_COUNT = _TEXT | _BIGINT | _DOUBLE | _BOOL | _EXACT | _WHEN | _BINARY
_FRACTION = _TEXT | _DOUBLE | _BOOL | _EXACT | _WHEN
_EPOCH_FIRST, _EPOCH_LAST = float(iso.FIRST_SECOND), float(iso.LAST_SECOND + 1)


@cache
def _kind(type_: DataType, detected: DataType | None, mask: int) -> Kind:
    return Kind(type_, detected, frozenset(t for t, bit in _BIT.items() if mask & bit))


_TRUTH = _kind("bool", None, _TEXT | _BOOL)
_BYTES = _kind("binary", None, _TEXT | _BINARY)
_NESTED = _kind("json", None, _TEXT | _JSON)
_MOMENT = _kind("timestamp", None, _TEXT | _WHEN)
_DAY = _kind("date", None, _TEXT | _WHEN)
_CLOCK = _kind("time", None, _TEXT | _TIME)


def _fits_by_trying(value: Any) -> int:
    return sum(bit for t, bit in _BIT.items() if coercer(t)(value) is not MISFIT)


# ---- numbers


def _type_of_int(value: int) -> DataType:
    if BIGINT_MIN <= value <= BIGINT_MAX:
        return "bigint"
    return "wei" if -WEI_LIMIT < value < WEI_LIMIT else "text"


def _fits_of_int(value: int) -> int:
    """Of an integer outside the seconds of the calendar."""
    mask = _TEXT | _BOOL | (_BINARY if value >= 0 else 0)
    if BIGINT_MIN <= value <= BIGINT_MAX:
        return mask | _BIGINT | _DOUBLE | _EXACT
    if -WEI_LIMIT < value < WEI_LIMIT:
        return mask | _DOUBLE | _EXACT
    return mask if _to_double(value) is MISFIT else mask | _DOUBLE


def _fits_of_float(value: float) -> int:
    mask = _TEXT | _BOOL | _DOUBLE
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        mask |= _BIGINT
    if _EPOCH_FIRST <= value < _EPOCH_LAST:
        mask |= _WHEN
    size = abs(value)
    # the shortest text of a double has at most 17 digits: from here to there it needs no more than 38
    if 1e-21 <= size < 1e38 or size == 0.0 or (size < 1.0 and storable(Decimal(str(value))) is not None):
        mask |= _EXACT
    return mask


def _fits_of_decimal(value: Decimal, exact: bool) -> int:
    mask = _TEXT | _BOOL | (_EXACT if exact else 0)
    if _to_bigint(value) is not MISFIT:
        mask |= _BIGINT
    return mask if _to_double(value) is MISFIT else mask | _DOUBLE


# ---- text: most of it is a name, a sentence, an id; its first character says that it is nothing else

_WORD_STARTS = frozenset("tTfFyYnNiI")
_JSON_STARTS = frozenset('{["')
# A number that is within the seconds of the calendar and is written as JSON writes it.
_common_number = re.compile(r"-?(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,20})?").fullmatch
_SIZES_WITH_MEANING = frozenset((1, 4, 7, 8))  # a bool; a year, a day of it, a date; base64
_TRUTHS = frozenset(("yes", "true", "t", "y", "no", "false", "f", "n"))
_NOT_FINITE = frozenset(("nan", "inf", "infinity"))
_JSON_WORDS = frozenset(("true", "false", "null"))
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[ \t\n\r]*").fullmatch


def _fits_of_text(text: str) -> int:
    """Of text that begins like something else than plain text."""
    first = text[:1]
    mask = _TEXT | (_BINARY if is_base64(text) and not text.startswith("0x") else 0)
    if first in _WORD_STARTS:
        if first == "T" and iso.parse_time(text) is not None:
            mask |= _TIME
        return mask | _fits_of_word(text)
    if first in _JSON_STARTS:
        return mask | _JSON if is_json(text) else mask
    if "0" <= first <= "9" or first in "+-.":
        return mask | _fits_of_figures(text)
    if first.isspace() or first.isdecimal():
        return mask | _fits_of_figures(text) | (_JSON if is_json(text) else 0)
    return mask


def _fits_of_word(text: str) -> int:
    word = text.strip()
    if len(word) > 8:
        return 0
    mask = _BOOL if text.lower() in _TRUTHS else 0
    if word.lower() in _NOT_FINITE:
        mask |= _DOUBLE
    return mask | _JSON if word in _JSON_WORDS and is_json(text) else mask


def _fits_of_figures(text: str) -> int:
    """Of text that begins with a digit, a sign, a point or a space."""
    if iso.is_timestamp(text):
        return _WHEN | _IS_STAMP
    mask = _WHEN | _IS_DATE if iso.parse_date(text) is not None else 0
    if iso.parse_time(text) is not None:
        return mask | _TIME
    if text.startswith("0x") and _to_binary(text) is not MISFIT:
        mask |= _BINARY
    if not may_be_number(text):
        return mask
    if text in ("0", "1"):
        mask |= _BOOL
    number = _to_double(text)
    if number is not MISFIT:
        mask |= _DOUBLE
        if "x" not in text and iso.from_epoch(number) is not None:
            mask |= _WHEN
        if _to_bigint(text) is not MISFIT:
            mask |= _BIGINT
    if _to_decimal(text) is not MISFIT:
        mask |= _EXACT
    return mask | _JSON if _JSON_NUMBER(text) else mask


_to_bigint, _to_double, _to_decimal, _to_binary = map(coercer, ("bigint", "double", "decimal", "binary"))
