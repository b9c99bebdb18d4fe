"""Which numbers are metrics, and which are times: by their names."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AMOUNTS: Final = _words("""
    amount price cost total sum count cnt qty quantity num fare tip fee revenue sales discount tax duration
    elapsed latency delay bytes size length distance weight height width area volume score rating temperature
    pressure avg min max rate ratio percent percentage value balance speed clicks views impressions visits
    hits likes comments commits errors retries salary income profit points
""")
_LABELS: Final = _words("id lat lon lng latitude longitude x y version year")
_TIMES: Final = _words("""
    time ts timestamp datetime date at on since until created updated modified started ended occurred received
    event epoch
""")
_UNITS: Final = _words("s sec seconds ms millis utc")


def words_of(name: str) -> list[str]:
    """The words of a name in lower case.

    >>> words_of("createdAt"), words_of("geo.lat"), words_of("HTTPStatus_code2")
    (['created', 'at'], ['geo', 'lat'], ['http', 'status', 'code', '2'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def names_time(name: str) -> bool:
    """Whether a name is that of an instant.

    >>> names_time("created_at"), names_time("ts_ms"), names_time("time_zone_id"), names_time("fare")
    (True, True, False, False)
    """
    words = words_of(name)
    while words and words[-1] in _UNITS:
        words.pop()
    return bool(words) and words[-1] in _TIMES


def role_of_number(spec: FieldSpec) -> tuple[FieldType, str]:
    """The role of a column of numbers, and the reason.

    >>> [role_of_number(FieldSpec(name, PinotType.DOUBLE))[1] for name in ("totalFare", "lat", "depth")]
    ['named like an amount', 'named like a label', 'a measure']
    >>> role_of_number(FieldSpec("year", PinotType.INT))[1]
    'not named like an amount'
    """
    words = words_of(spec.name)
    last = words[-1].removesuffix("s") if words else ""
    if last in _AMOUNTS or (words and words[-1] in _AMOUNTS):
        return FieldType.METRIC, "named like an amount"
    if spec.data_type in (PinotType.INT, PinotType.LONG):
        return FieldType.DIMENSION, "not named like an amount"
    if last in _LABELS or names_time(spec.name):
        return FieldType.DIMENSION, "named like a label"
    return FieldType.METRIC, "a measure"
