"""Cursor values moved back, to read again what may have come late."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from trellis.errors import UsageError


def lagged(lag: float, value: Any, initial: Any, function: Callable[..., Any]) -> Any:
    """The value `lag` before (for `min`: after) the last one, but not beyond the initial one.

    `lag` counts days for dates, seconds for times, and is a number of the same kind otherwise. Texts that
    are dates or times keep their form.
    """
    amount = -lag if function is max else lag
    moved = _moved(amount, value, _is_day(initial), function)
    return initial if initial is not None and function((initial, moved)) == initial else moved


def _is_day(value: Any) -> bool:
    if isinstance(value, str):
        return _day_form(value) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def _day_form(text: str) -> str | None:
    for form in ("%Y-%m-%d", "%Y%m%d"):
        try:
            datetime.strptime(text, form)
        except ValueError:
            continue
        return form
    return None


def _moved(amount: float, value: Any, by_day: bool, function: Callable[..., Any]) -> Any:
    if isinstance(value, datetime):
        return _by_days(amount, value, function) if by_day else _by_seconds(amount, value)
    if isinstance(value, date):
        return value + timedelta(days=amount)
    if isinstance(value, (int, float)):
        return type(value)(value + amount)
    if isinstance(value, str):
        return _text(amount, value, by_day, function)
    try:
        return value + amount
    except TypeError:
        raise UsageError(
            f"lag= does not go with a cursor whose values are a {type(value).__name__}; it goes with numbers,"
            " dates and times"
        ) from None


def _by_seconds(amount: float, value: datetime) -> datetime:
    by = timedelta(seconds=amount)
    return (
        value + by if value.tzinfo is None else (value.astimezone(timezone.utc) + by).astimezone(value.tzinfo)
    )


def _by_days(amount: float, value: datetime, function: Callable[..., Any]) -> datetime:
    """From the beginning of the day that is meant, or to its end."""
    local = value if value.tzinfo is None else value.astimezone(timezone.utc)
    edge = time.min if function is max else time.max
    moved = datetime.combine(local.date() + timedelta(days=amount), edge, local.tzinfo)
    return moved if value.tzinfo is None else moved.astimezone(value.tzinfo)


def _text(amount: float, value: str, by_day: bool, function: Callable[..., Any]) -> str:
    if (form := _day_form(value)) is not None:
        return (datetime.strptime(value, form) + timedelta(days=amount)).strftime(form)
    try:
        parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(f"lag= needs a cursor of numbers, dates or times, not {value!r}") from None
    moved = _by_days(amount, parsed, function) if by_day else _by_seconds(amount, parsed)
    separator = "T" if "T" in value else " "
    digits = len(value.partition(".")[2].partition("+")[0].partition("-")[0].rstrip("Z"))
    unit = "seconds" if not digits else "milliseconds" if digits <= 3 else "microseconds"
    text = moved.isoformat(separator, unit)
    return text.replace("+00:00", "Z") if value.endswith("Z") else text
