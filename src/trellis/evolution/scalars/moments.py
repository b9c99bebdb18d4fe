"""Moments, days and times of day: what makes a timestamp, a date or a time of another value.

A moment without a zone is one of UTC; the zone of the machine plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, Final

from trellis.evolution.scalars.iso import UTC, from_epoch, parse_date, parse_time, to_timestamp
from trellis.evolution.scalars.literals import INERT_STARTS
from trellis.evolution.scalars.values import MISFIT, Convert, same
from trellis.schema.model import DataType


def _aware(moment: datetime | None) -> Any:
    """The moment with the zone UTC."""
    if moment is None:
        return MISFIT
    zone = moment.tzinfo
    if zone is UTC:
        return moment
    if zone is None or moment.utcoffset() is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return MISFIT


def _naive(moment: datetime | None) -> Any:
    """The clock of UTC, without a zone."""
    if moment is None:
        return MISFIT
    if moment.tzinfo is None:
        return moment
    moved = _aware(moment)
    return MISFIT if moved is MISFIT else moved.replace(tzinfo=None)


def _timestamps(clock: Convert) -> Mapping[DataType, Convert]:
    return {
        "text": lambda text: MISFIT if text[:1] in INERT_STARTS else clock(to_timestamp(text)),
        "bigint": lambda seconds: clock(from_epoch(seconds)),
        "double": lambda seconds: clock(from_epoch(seconds)),
        "timestamp": clock,
        "date": lambda day: clock(datetime(day.year, day.month, day.day)),
    }


def _date(moment: datetime | None) -> Any:
    moved = _naive(moment)
    return MISFIT if moved is MISFIT else moved.date()


def _date_of_text(text: str) -> Any:
    day = parse_date(text)
    return _date(to_timestamp(text)) if day is None else day


def _time_of_text(text: str) -> Any:
    clock = parse_time(text)
    return MISFIT if clock is None else clock


def _time(clock: time) -> time:
    if clock.tzinfo is None:
        return clock
    offset = datetime.combine(date(1970, 1, 1), clock).utcoffset()
    bare = clock.replace(tzinfo=None)
    # moved within a day far from the first and the last, which cannot be left
    return (datetime.combine(date(1970, 1, 2), bare) - offset).time() if offset else bare


TIMESTAMP: Final = _timestamps(_aware)

NAIVE_TIMESTAMP: Final = _timestamps(_naive)

DATE: Final[Mapping[DataType, Convert]] = {
    "text": _date_of_text,
    "bigint": lambda seconds: _date(from_epoch(seconds)),
    "double": lambda seconds: _date(from_epoch(seconds)),
    "timestamp": _date,
    "date": same,
}

TIME: Final[Mapping[DataType, Convert]] = {"text": _time_of_text, "time": _time}
