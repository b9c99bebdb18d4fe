"""Functions on time zones (spec pinot.md, section 5)."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.expression.calendar_fields import zone_of
from trellis.dialects.pinot.expression.epoch_functions import divided, with_several
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_long, as_text, give_int
from trellis.dialects.pinot.moment.zones import clock_of

ZONE: Final = Theme()


@with_several("timezoneHour", as_text, gives=give_int, theme=ZONE)
def _zone_hour(zone: str) -> int:
    """The whole hours by which a zone was before UTC when 1970 began."""
    return divided(clock_of(zone_of(zone)).offset(0), 3_600_000)


@with_several("timezoneHour", as_text, as_long, at=1, gives=give_int, theme=ZONE)
def _zone_hour_at(zone: str, millis: int) -> int:
    """The whole hours by which a zone is before UTC at an instant."""
    return divided(clock_of(zone_of(zone)).offset(millis), 3_600_000)


@with_several("timezoneMinute", as_text, gives=give_int, theme=ZONE)
def _zone_minute(zone: str) -> int:
    """The minutes by which a zone was before UTC when 1970 began, without the whole hours."""
    return _minutes(zone, 0)


@with_several("timezoneMinute", as_text, as_long, at=1, gives=give_int, theme=ZONE)
def _zone_minute_at(zone: str, millis: int) -> int:
    """The minutes by which a zone is before UTC at an instant, without the whole hours."""
    return _minutes(zone, millis)


def _minutes(zone: str, millis: int) -> int:
    """The minutes of the offset of a zone that are no whole hours, with the sign of the offset."""
    minutes = divided(clock_of(zone_of(zone)).offset(millis), 60_000)
    return minutes - 60 * divided(minutes, 60)
