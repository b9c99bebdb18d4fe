"""A table config with its schema, as the rules look at it, and the forms of values in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.defaults import literal_text
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, columns
from trellis.dialects.pinot.table.known_keys import values_at


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERIOD: Final = re.compile(r"(?:(-?\d+)d)?(?:(-?\d+)h)?(?:(-?\d+)m)?(?:(-?\d+)s)?", re.IGNORECASE)
_DATA_SIZE: Final = re.compile(r"\d+(\.\d+)?[KMGTP]?B?", re.IGNORECASE)
_SECONDS: Final = (86_400, 3_600, 60, 1)
_CRON_FIELDS: Final = (
    ("second", 0, 59),
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 1, 7),
    ("year", 1970, 2099),
)
"""The fields of a schedule, with the least and the greatest number of each."""
_CRON_NAMES: Final = {
    "month": words("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"),
    "day of the week": words("SUN MON TUE WED THU FRI SAT"),
}
_CRON_PART: Final = re.compile(r"\?|\*|\d+|/\d+|#[1-5]|[A-Z]{3}|L-\d+|[-,LW]")


def period_millis(text: str) -> int | None:
    """The length of a period such as `30d` or `4h30m`; None for any other text.

    >>> period_millis("4h30m"), period_millis("soon")
    (16200000, None)
    """
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    return 1000 * sum(int(count or 0) * size for count, size in zip(match.groups(), _SECONDS, strict=True))


def cron_problem(text: str) -> str:
    """Why a text is no schedule of Quartz: seconds come first, the year may be left out; empty where it is.

    >>> cron_problem("0 0 2 * * ?"), cron_problem("0 2 * * *"), cron_problem("0 61 2 * * ?")
    ('', '6 or 7 fields are expected, not 5', "the minute cannot be '61'")
    """
    fields = text.upper().split()
    if len(fields) not in (6, 7):
        return f"6 or 7 fields are expected, not {len(fields)}"
    for field, (name, least, most) in zip(fields, _CRON_FIELDS, strict=False):
        parts = _CRON_PART.findall(field)
        numbers = [int(part) for part in parts if part.isdecimal()]
        steps = [int(part[1:]) for part in parts if part[0] == "/"]
        names = [part for part in parts if part.isalpha() and len(part) == 3]
        if (
            "".join(parts) != field
            or any(not least <= number <= most for number in numbers)
            or any(step > most for step in steps)
            or not _CRON_NAMES.get(name, frozenset()).issuperset(names)
            or ("?" in parts and not name.startswith("day"))
        ):
            return f"the {name} cannot be '{field}'"
    if (fields[3] == "?") == (fields[5] == "?"):
        return "one of day of the month and day of the week is '?'"
    return ""


def is_data_size(text: str) -> bool:
    """Whether a text is a size such as `200M` or `1.5GB`."""
    return _DATA_SIZE.fullmatch(text) is not None


UPSERT: Final = "/upsertConfig"
DEDUP: Final = "/dedupConfig"
FIELDS: Final = "/fieldConfigList/*"


@dataclass(frozen=True)
class CheckedTable:
    """The places of a config are JSON pointers; in a pattern `*` stands for every key or index.

    >>> table = CheckedTable(PinotSchema("s"), {}, {"tierConfigs": [{"name": "a"}, {"name": "b"}]})
    >>> [*table.values("/tierConfigs/*/name")]
    [('/tierConfigs/0/name', 'a'), ('/tierConfigs/1/name', 'b')]
    """

    schema: PinotSchema
    columns: Mapping[str, FieldSpec]
    document: Mapping[str, Any]

    @staticmethod
    def of(schema: PinotSchema, document: Mapping[str, Any]) -> CheckedTable:
        return CheckedTable(schema, columns(schema), document)

    @property
    def realtime(self) -> bool:
        return self.text("/tableType").upper() == "REALTIME"

    @property
    def upsert(self) -> bool:
        return isinstance(self.value(UPSERT), Mapping) and self.text(f"{UPSERT}/mode", "FULL") != "NONE"

    @property
    def dedup(self) -> bool:
        return isinstance(self.value(DEDUP), Mapping) and self.flag(f"{DEDUP}/dedupEnabled", default=True)

    @property
    def time_column(self) -> str:
        return self.text("/segmentsConfig/timeColumnName")

    @property
    def replication(self) -> int | None:
        """The number of replicas; None where Pinot cannot read it."""
        per_partition = self.text("/segmentsConfig/replicasPerPartition") if self.realtime else ""
        text = per_partition or self.text("/segmentsConfig/replication")
        return int(text) if text.isdecimal() else None

    def values(self, pattern: str) -> Iterator[tuple[str, Any]]:
        """The values at a pattern, each with its pointer; absent ones and nulls are left out."""
        return values_at(self.document, pattern)

    def objects(self, pattern: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((place, value) for place, value in self.values(pattern) if isinstance(value, Mapping))

    def names(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The texts at a pattern; empty ones, which Pinot skips, are left out."""
        return ((place, literal_text(value)) for place, value in self.values(pattern) if value != "")

    def keys(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The keys of the objects at a pattern."""
        for place, value in self.objects(pattern):
            for key in value:
                yield place + pointer(key), key

    def value(self, place: str) -> Any:
        """The value at a place; None where it is absent."""
        return next((value for _, value in self.values(place)), None)

    def text(self, place: str, default: str = "") -> str:
        value = self.value(place)
        return default if value is None else str(value)

    def flag(self, place: str, default: bool = False) -> bool:
        return self.text(place, str(default)).strip().lower() in ("true", "1")

    def number(self, place: str) -> float:
        """A number; 0 where it is absent or cannot be read."""
        try:
            return float(self.text(place, "0"))
        except ValueError:
            return 0


def is_integer(value: Any) -> bool:
    """Whether Pinot reads a value as a whole number: a number, whose fraction is cut, or digits.

    >>> is_integer(4), is_integer("-4"), is_integer("4.5"), is_integer(True)
    (True, True, False, False)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number or (isinstance(value, str) and re.fullmatch(r"[+-]?\d+", value) is not None)


def is_flag(value: Any) -> bool:
    """Whether Pinot reads a value as true or false.

    >>> is_flag("True"), is_flag(1), is_flag("yes")
    (True, True, False)
    """
    return isinstance(value, int) or value in ("true", "false", "True", "False", "TRUE", "FALSE")


Rule = Callable[[CheckedTable], Iterator[Fault]]
