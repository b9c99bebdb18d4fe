"""Statistics of the values at each path of all rows, from a survey of a source."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from trellis.dialects.pinot.date_time.iso_calendar import DAY, month_length
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.texts import (
    TIME_SHAPES,
    Bounds,
    TextStatistics,
    TimeShape,
    bounds_of,
    union_of_bounds,
)
from trellis.dialects.pinot.value.source_kinds import days_of, micros_of

MAX_DISTINCT: Final = 1_000
"""How many different whole numbers of a path are kept."""
MAX_EXACT: Final = 2**53
"""A double holds every whole number up to this one."""


class ScalarStatistics:
    """Statistics of the scalars at one path, and counts of lists and objects.

    `kinds` counts the values by kind (those of `trellis inspect`), lists and objects too. `bounds` are those
    of typed times. `fine`: how many of these are finer than milliseconds. `dates`: all whole numbers are
    dates as 20231114. `shapes` are the time formats to detect in texts.
    """

    def __init__(self, shapes: Sequence[TimeShape] = TIME_SHAPES) -> None:
        self._shapes = shapes
        self.kinds: Counter[str] = Counter()
        self.least: int | None = None
        self.most: int | None = None
        self.distinct: set[int] | None = set()
        self.exact = self.dates = True
        self.not_finite = 0
        self.texts: TextStatistics | None = None
        self.bounds: Bounds | None = None
        self.fine = 0
        self.empty_lists = 0

    def add(self, kind: str, values: Sequence[Any]) -> None:
        """Add values of one kind."""
        self.kinds[kind] += len(values)
        one = _ADDERS.get(kind)
        if one is not None:
            one(self, values)

    def merge(self, other: ScalarStatistics) -> None:
        """Add the statistics of another."""
        self.kinds.update(other.kinds)
        for value in (other.least, other.most):
            if value is not None:
                self._range(value, value)
        both = self.distinct is not None and other.distinct is not None
        self.distinct = {*(self.distinct or ()), *(other.distinct or ())} if both else None
        self.exact &= other.exact
        self.dates &= other.dates
        self.not_finite += other.not_finite
        if other.texts is not None:
            self.texts = self.texts or TextStatistics(self._shapes)
            self.texts.merge(other.texts)
        if other.bounds is not None:
            self.bounds = union_of_bounds(self.bounds, other.bounds)
        self.fine += other.fine
        self.empty_lists += other.empty_lists

    def _whole(self, values: Sequence[int]) -> None:
        least, most = min(values), max(values)
        self._range(least, most)
        self.exact = self.exact and least >= -MAX_EXACT and most <= MAX_EXACT
        self.dates = self.dates and all(map(is_date, values))
        if self.distinct is not None:
            self.distinct.update(values)
            if len(self.distinct) > MAX_DISTINCT:
                self.distinct = None

    def _beyond(self, values: Sequence[int]) -> None:
        self.exact = self.dates = False

    def _range(self, least: int, most: int) -> None:
        self.least = least if self.least is None else min(self.least, least)
        self.most = most if self.most is None else max(self.most, most)

    def _floats(self, values: Sequence[float]) -> None:
        self.not_finite += sum(not math.isfinite(value) for value in values)

    def _texts(self, values: Sequence[Any]) -> None:
        if not isinstance(values[0], str):
            self.kinds["string"] -= len(values)
            self.kinds["string" if isinstance(values[0], UUID) else "unknown"] += len(values)
        self.texts = self.texts or TextStatistics(self._shapes)
        self.texts.add([*map(str, values)])

    def _timestamps(self, values: Sequence[datetime]) -> None:
        micros = [*map(micros_of, values)]
        self.bounds = union_of_bounds(self.bounds, bounds_of(micro // 1000 for micro in micros))
        self.fine += sum(micro % 1000 != 0 for micro in micros)

    def _dates(self, values: Sequence[date]) -> None:
        self.bounds = union_of_bounds(self.bounds, bounds_of(days_of(day) * DAY for day in values))

    def _lists(self, values: Sequence[Sequence[Any]]) -> None:
        self.empty_lists += sum(all(element is None for element in value) for value in values)


_ADDERS: Final[Mapping[str, Callable[[ScalarStatistics, Any], None]]] = {
    "int": ScalarStatistics._whole,
    "integer beyond 64 bits": ScalarStatistics._beyond,
    "float": ScalarStatistics._floats,
    "string": ScalarStatistics._texts,
    "timestamp": ScalarStatistics._timestamps,
    "date": ScalarStatistics._dates,
    "array": ScalarStatistics._lists,
}


@dataclass
class PathEvidence:
    """One path: its values, the evidence of its keys, and that of the elements of its lists.

    `declared` is the type in a typed source: LONG or FLOAT of numbers, MAP of objects. `times` counts the
    texts that are ISO times, `places` is the first position of each kind.
    """

    values: ScalarStatistics = field(default_factory=ScalarStatistics)
    keys: dict[str, PathEvidence] = field(default_factory=dict)
    items: PathEvidence | None = None
    objects: int = 0
    declared: PinotType | None = None
    times: int = 0
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the values, except null."""
        return frozenset(kind for kind, count in self.values.kinds.items() if count and kind != "null")

    @property
    def filled(self) -> int:
        """The number of values, except nulls."""
        return sum(self.values.kinds.values()) - self.values.kinds["null"]


def is_date(number: int) -> bool:
    """Whether digits are a date between 1971 and 2070.

    >>> is_date(20231114), is_date(20231314), is_date(5)
    (True, False, False)
    """
    year, month, day = number // 10_000, number // 100 % 100, number % 100
    return 1971 <= year <= 2070 and 1 <= month <= 12 and 1 <= day <= month_length(year, month)
