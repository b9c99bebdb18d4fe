"""The forms of values that Pinot parses: each a check, and what a sentence says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.json_object import shown
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable

Form = tuple[Callable[[Any], bool], str]

_PERIOD: Final = re.compile(r"(?:(-?\d+)d)?(?:(-?\d+)h)?(?:(-?\d+)m)?(?:(-?\d+)s)?", re.IGNORECASE)
_DATA_SIZE: Final = re.compile(r"\d+(\.\d+)?[KMGTP]?B?", re.IGNORECASE)
_SECONDS: Final = (86_400, 3_600, 60, 1)


def form_faults(table: CheckedTable, forms: Mapping[str, Form]) -> Iterator[Fault]:
    """The values at patterns that do not have the form. Pinot skips empty texts."""
    for pattern, (is_valid, form) in forms.items():
        for place, value in table.values(pattern):
            if value != "" and not is_valid(value):
                yield Fault(place, f"{place.rpartition('/')[2]} is {form}, not {shown(value)}")


def period_millis(text: str) -> int | None:
    """The length of a period such as `30d` or `4h30m`; None for any other text.

    >>> period_millis("4h30m"), period_millis("soon")
    (16200000, None)
    """
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    return 1000 * sum(int(count or 0) * size for count, size in zip(match.groups(), _SECONDS, strict=True))


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


def number_of(value: Any) -> float:
    """A number, also as text; NaN for anything else."""
    try:
        return float("nan" if isinstance(value, bool) else value)
    except (ValueError, TypeError):
        return float("nan")


def _is_resolution(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(is_integer, value))
    return isinstance(value, int) and not isinstance(value, bool)


FLAG: Final[Form] = (is_flag, "true or false")
INTEGER: Final[Form] = (is_integer, "a whole number")
COUNT: Final[Form] = (lambda value: is_integer(value) and int(value) > 0, "a whole number above 0")
POSITIVE: Final[Form] = (lambda value: number_of(value) > 0, "a number above 0")
NUMBER: Final[Form] = (lambda value: number_of(value) == number_of(value), "a number")
PROBABILITY: Final[Form] = (lambda value: 0 <= number_of(value) < 1, "a probability between 0 and 1")
MILLISECONDS: Final[Form] = (lambda value: str(value).isdecimal(), "a number of milliseconds")
SIZE: Final[Form] = (lambda value: _DATA_SIZE.fullmatch(str(value)) is not None, "a size such as 200M")
SPAN: Final[Form] = (
    lambda value: period_millis(str(value)) is not None or is_integer(value),
    "a period such as 6h, or milliseconds",
)
AUTOMATON: Final[Form] = (("LUCENE", "NATIVE").__contains__, "LUCENE or NATIVE")
RESOLUTION: Final[Form] = (_is_resolution, "a number or a list of numbers")
