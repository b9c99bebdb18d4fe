"""Metric or dimension, and why: by the name of a column and by its values."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.infer.value_types import ValueType
from trellis.errors import UsageError

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case.

    >>> words_of("createdAt"), words_of("geo.lat"), words_of("HTTPStatus_code2")
    (('created', 'at'), ('geo', 'lat'), ('http', 'status', 'code', '2'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTITY: Final = _set("""
    id ids uid uuid guid pk sku key code codes zip zipcode postcode postal phone number no nr ref
    reference version type kind status state category class group level rank order index idx
    position port shard partition offset flag year quarter month week weekday day hour minute lat
    lon lng latitude longitude x y pin isbn ean account hash
""")
SEQUENCE: Final = _set("id ids pk sk key number no nr ref reference offset seq sequence")
AMOUNT: Final = _set("""
    amount price cost total subtotal sum count counts cnt qty quantity num fare fares tip tips fee
    fees revenue sales discount tax duration elapsed latency delay timeout ms millis seconds secs
    minutes hours days us ns bytes size length len distance dist weight height width depth area
    volume score rating temperature temp humidity pressure avg average mean median min max rate
    ratio pct percent percentage value balance speed velocity clicks views impressions visits hits
    likes stars comments forks watchers additions deletions changes commits errors retries age money
    salary income profit margin passengers items users events points wins losses probability
    confidence followers following
""")
UNITS: Final = _set("""
    s sec secs seconds ms millis milliseconds us micros ns nanos epoch utc days
""")
TIME: Final = _set("""
    time ts timestamp datetime date day at on when since until created updated modified changed
    deleted started start ended end begin began finished completed closed opened merged pushed
    published pickup dropoff received sent occurred expires expiry due birthday birthdate dob seen
    epoch ingested logged event month hour paid ordered shipped delivered signup
""")
FLAGS: Final = _set("is has was can should")
_MAIN: Final = (
    _set("ts timestamp time datetime event occurred when logged"),
    _set("created started start begin began received pickup ordered opened"),
    _set("date day hour"),
    _set("""
    at sent paid published pushed ingested seen updated modified changed closed completed
"""),
)
_NEVER_MAIN: Final = _set("""
    birth birthday birthdate dob expires expiry due until end ended deleted
""")


def names_time(name: str) -> bool:
    """Whether a name is that of an instant.

    >>> names_time("created_at"), names_time("ts_ms"), names_time("time_zone_id"), names_time("fare")
    (True, True, False, False)
    """
    name_words = words_of(name)
    if not name_words or TIME.isdisjoint(name_words):
        return False
    last = name_words[-1]
    return last in TIME or last in UNITS or (last not in IDENTITY and last not in AMOUNT)


def main_rank(name: str) -> int | None:
    """How well a name fits the main time of a row, 0 best; None: not at all.

    >>> main_rank("ts"), main_rank("created_at"), main_rank("due_date"), main_rank("note")
    (0, 1, None, None)
    """
    name_words = words_of(name)
    if not _NEVER_MAIN.isdisjoint(name_words):
        return None
    return next((rank for rank, known in enumerate(_MAIN) if not known.isdisjoint(name_words)), None)


def names_identity(name: str) -> bool:
    """
    >>> names_identity("user_id"), names_identity("is_new"), names_identity("fare")
    (True, True, False)
    """
    name_words = words_of(name)
    return bool(name_words) and (name_words[-1] in IDENTITY or name_words[0] in FLAGS)


def names_sequence(name: str) -> bool:
    """Whether a name is that of numbers that are given out one after the other.

    >>> names_sequence("user_id"), names_sequence("status_code")
    (True, False)
    """
    name_words = words_of(name)
    return bool(name_words) and name_words[-1] in SEQUENCE


def names_amount(name: str) -> bool:
    """
    >>> names_amount("stargazers_count"), names_amount("totalFare"), names_amount("city")
    (True, True, False)
    """
    name_words = words_of(name)
    return bool(name_words) and (
        name_words[-1] in AMOUNT or (len(name_words) > 1 and name_words[0] in ("num", "total", "avg", "sum"))
    )


FEW_VALUES: Final = 20
"""Whole numbers with at most so many different values are labels."""

ColumnRole = tuple[PinotType, FieldType, str]


def role_of_column(path: str, key: str, value_type: ValueType, chosen: FieldType | None = None) -> ColumnRole:
    """The type, role and reason of a column that is neither a time nor a MAP.

    `key` is the last part of the path. Raises UsageError where it cannot be the chosen metric.
    """
    assert value_type.data_type is not None
    if chosen is FieldType.METRIC:
        return _metric_type(path, value_type), FieldType.METRIC, f"{value_type.why}; a metric as chosen"
    if chosen is FieldType.DIMENSION:
        return value_type.data_type, chosen, f"{value_type.why}; a dimension as chosen"
    if not value_type.single or not value_type.data_type.numeric:
        return value_type.data_type, FieldType.DIMENSION, value_type.why
    role, why = _role(key, value_type)
    if role is FieldType.DIMENSION and value_type.data_type is PinotType.BIG_DECIMAL:
        return PinotType.STRING, role, f"{value_type.why}, as text; {why}"
    if role is FieldType.DIMENSION and value_type.data_type is PinotType.INT and names_sequence(key):
        return PinotType.LONG, role, f"{value_type.why}; an identifier, room to grow"
    return value_type.data_type, role, f"{value_type.why}; {why}"


def _role(key: str, value_type: ValueType) -> tuple[FieldType, str]:
    if value_type.data_type is PinotType.DOUBLE and names_time(key):
        return FieldType.DIMENSION, "named like a time"
    if names_identity(key):
        return FieldType.DIMENSION, "named like a label"
    if names_amount(key):
        return FieldType.METRIC, "named like an amount"
    if value_type.data_type is PinotType.BIG_DECIMAL and value_type.values.kinds["integer beyond 64 bits"]:
        return FieldType.DIMENSION, "too long for an amount"
    if value_type.data_type in (PinotType.FLOAT, PinotType.DOUBLE, PinotType.BIG_DECIMAL):
        return FieldType.METRIC, "a measure"
    different = value_type.values.distinct
    if different is None:
        return FieldType.METRIC, "very many different numbers"
    if len(different) == 1:
        return FieldType.DIMENSION, "the same in every row"
    if len(different) <= FEW_VALUES:
        return FieldType.DIMENSION, f"only {len(different)} different values"
    if len(different) == value_type.values.kinds["int"]:
        return FieldType.DIMENSION, "all different"
    return FieldType.METRIC, f"{len(different):,} different numbers"


def _metric_type(path: str, value_type: ValueType) -> PinotType:
    if not value_type.single:
        raise UsageError(
            f"--metric {path}: a metric has one value a row, and this column holds {value_type.why}"
        )
    if value_type.data_type is not None and (
        value_type.data_type.numeric or value_type.data_type is PinotType.BYTES
    ):
        return value_type.data_type
    texts = value_type.values.texts
    if (
        value_type.data_type is PinotType.STRING
        and texts is not None
        and value_type.values.kinds.keys() <= {"string", "null"}
    ):
        if texts.whole:
            return PinotType.LONG
        if texts.numbers:
            return PinotType.BIG_DECIMAL
    raise UsageError(f"--metric {path}: a metric is a number, and this column holds {value_type.why}")
