"""Schedules of tasks: cron expressions as Quartz reads them, with seconds first and an optional year."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.validation.table_config.checked_table import words

_MONTHS: Final = words("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
_DAYS: Final = words("SUN MON TUE WED THU FRI SAT")
_FIELDS: Final[tuple[tuple[str, int, int, frozenset[str]], ...]] = (
    ("second", 0, 59, words("")),
    ("minute", 0, 59, words("")),
    ("hour", 0, 23, words("")),
    ("day of the month", 1, 31, words("")),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 1, 7, _DAYS),
    ("year", 0, 2099, words("")),
)
_PART: Final = re.compile(r"(\*|\w+(?:-\w+)?)(?:/(\d+))?")
_LAST: Final[tuple[re.Pattern[str] | None, ...]] = (
    None,
    None,
    None,
    re.compile(r"L(-\d+)?W?|\d+W|LW"),
    None,
    re.compile(r"L|\w+L|\w+#[1-5]"),
    None,
)
"""What stands for a day that depends on the month."""


def cron_problem(text: str) -> str:
    """Why a text is no cron expression; empty where it is one.

    >>> cron_problem("0 0 2 * * ?"), cron_problem("0 2 * * *")
    ('', '6 or 7 fields are expected, not 5')
    """
    fields = text.upper().split()
    if len(fields) not in (6, 7):
        return f"6 or 7 fields are expected, not {len(fields)}"
    for index, field in enumerate(fields):
        name, least, most, words = _FIELDS[index]
        special = _LAST[index]
        if field == "?" and index in (3, 5):
            continue
        for part in field.split(","):
            if not (special and special.fullmatch(part)) and not _is_part(part, least, most, words):
                return f"the {name} cannot be '{part}'"
    if (fields[3] == "?") == (fields[5] == "?"):
        return "one of day of the month and day of the week is '?'"
    return ""


def _is_part(part: str, least: int, most: int, words: frozenset[str]) -> bool:
    match = _PART.fullmatch(part)
    if match is None:
        return False
    if match[2] is not None and int(match[2]) > most:
        return False
    return match[1] == "*" or all(
        word in words or (word.isdecimal() and least <= int(word) <= most) for word in match[1].split("-")
    )
