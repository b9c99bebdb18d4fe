"""Time zones by the names Java and Joda know, and their offsets at any instant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from trellis.dialects.pinot.date_time.iso_calendar import CYCLE_DAYS, DAY, HOUR, MINUTE

UTC: Final = "UTC"
_UNKNOWN_TO_JAVA: Final = frozenset({"Factory", "localtime", "posixrules", "ROC"})
_CUSTOM: Final = re.compile(r"GMT([+-])(?:([0-9]{0,2}):([0-9]{2})|([0-9]+))")
_FIXED: Final = re.compile(r"([+-])([0-9]{2}):([0-9]{2})")
_CYCLE: Final = CYCLE_DAYS * DAY
_FIRST: Final = -62_135_596_800_000 + 2 * DAY
_LAST: Final = 253_402_300_800_000 - 2 * DAY
_EPOCH: Final = datetime(1970, 1, 1)
_MILLISECOND: Final = timedelta(milliseconds=1)


class Zone(NamedTuple):
    """A zone that was resolved: an IANA id, `UTC` or a fixed offset as `+05:30`.

    `known` is False where Java does not know the name and silently uses UTC.
    """

    id: str
    known: bool


@lru_cache(maxsize=1)
def zone_ids() -> frozenset[str]:
    """The ids of the time zone database that Java knows."""
    return frozenset(available_timezones() - _UNKNOWN_TO_JAVA)


@lru_cache(maxsize=1024)
def resolve(name: str) -> Zone:
    """The zone that Java resolves a name to.

    >>> resolve("IST"), resolve("GMT-8:00"), resolve("Mars/Base")
    (Zone(id='Asia/Kolkata', known=True), Zone(id='-08:00', known=True), Zone(id='UTC', known=False))
    """
    if name in {"UTC", "GMT"}:
        return Zone(UTC, True)
    if name in SHORT:
        return Zone(SHORT[name], True)
    custom = _CUSTOM.fullmatch(name)
    if custom is not None:
        return _custom(custom)
    return Zone(name, True) if name in zone_ids() else Zone(UTC, False)


def _custom(custom: re.Match[str]) -> Zone:
    sign, hour, minute, digits = custom.groups()
    if digits is None:
        hours, minutes = int(hour or 0), int(minute)
    else:
        hours, minutes = (int(digits), 0) if len(digits) <= 2 else divmod(int(digits), 100)
    if hours > 23 or minutes > 59:
        return Zone(UTC, False)
    return Zone(f"{sign}{hours:02}:{minutes:02}" if hours or minutes else UTC, True)


class Clock:
    """The offsets of one zone, in milliseconds east of UTC.

    >>> clock_of("Asia/Kolkata").offset(0)
    19800000
    """

    def __init__(self, zone: str) -> None:
        self.zone = zone
        fixed = _FIXED.fullmatch(zone)
        self.fixed = None if zone != UTC and fixed is None else 0
        """The offset of a zone that has one only."""
        if fixed is not None:
            sign, hours, minutes = fixed.groups()
            self.fixed = (int(hours) * HOUR + int(minutes) * MINUTE) * (-1 if sign == "-" else 1)
        self._rules = ZoneInfo(zone) if self.fixed is None else None

    def offset(self, millis: int) -> int:
        """The offset at an instant."""
        if self._rules is None:
            return self.fixed or 0
        at = _EPOCH + _MILLISECOND * _within(millis)
        return (self._rules.fromutc(at.replace(tzinfo=self._rules)).replace(tzinfo=None) - at) // _MILLISECOND

    def instant(self, local: int) -> int | None:
        """The instant at which a clock shows a local time: the earlier of two; None if it never does."""
        millis = self.instant_after_gap(local)
        return millis if millis + self.offset(millis) == local else None

    def instant_after_gap(self, local: int) -> int:
        """As `instant`; a local time that is skipped moves on by the length of the gap."""
        return self._at_wall(local, 0)

    def later_instant(self, local: int) -> int:
        """As `instant_after_gap`, but the later of two."""
        late = self._at_wall(local, 1)
        return late if late + self.offset(late) == local else self._at_wall(local, 0)

    def name(self, millis: int) -> str | None:
        """The letters of the zone at an instant, as `PST`; None where it has none."""
        if self._rules is None:
            return UTC if self.zone == UTC else None
        at = _EPOCH + _MILLISECOND * _within(millis)
        name = self._rules.fromutc(at.replace(tzinfo=self._rules)).tzname()
        return name if name is not None and name.isalpha() else None

    def _at_wall(self, local: int, fold: int) -> int:
        if self.fixed is not None:
            return local - self.fixed
        wall = (_EPOCH + _MILLISECOND * _within(local)).replace(tzinfo=self._rules, fold=fold)
        offset = wall.utcoffset()
        return local if offset is None else local - offset // _MILLISECOND


def _within(millis: int) -> int:
    """An instant of the years 1 to 9999 with the same offset: later ones repeat every 400 years."""
    if millis < _FIRST:
        return _FIRST
    return millis if millis < _LAST else _LAST - _CYCLE + (millis - _LAST) % _CYCLE


@lru_cache(maxsize=1024)
def clock_of(zone: str) -> Clock:
    """The clock of a resolved zone, or of any IANA id. Raises ZoneInfoNotFoundError."""
    return Clock(zone)


_SHORT: Final = """
    ACT=Australia/Darwin AET=Australia/Sydney AGT=America/Argentina/Buenos_Aires ART=Africa/Cairo
    AST=America/Anchorage BET=America/Sao_Paulo BST=Asia/Dhaka CAT=Africa/Harare CNT=America/St_Johns
    CST=America/Chicago CTT=Asia/Shanghai EAT=Africa/Addis_Ababa ECT=CET EST=America/New_York
    HST=Pacific/Honolulu IET=America/Indiana/Indianapolis IST=Asia/Kolkata JST=Asia/Tokyo
    MIT=Pacific/Apia MST=America/Denver NET=Asia/Yerevan NST=Pacific/Auckland PLT=Asia/Karachi
    PNT=America/Phoenix PRT=America/Puerto_Rico PST=America/Los_Angeles SST=Pacific/Guadalcanal
    VST=Asia/Ho_Chi_Minh
"""
SHORT: Final[Mapping[str, str]] = dict(pair.split("=") for pair in _SHORT.split())
"""The ids of three letters. EST, MST, HST and ECT are not as in Java: they keep daylight saving time."""
