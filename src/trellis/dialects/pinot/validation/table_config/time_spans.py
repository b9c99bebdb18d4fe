"""Spans of time, schedules and sizes of data as table configs write them."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.validation.table_config.checked_table import words

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
