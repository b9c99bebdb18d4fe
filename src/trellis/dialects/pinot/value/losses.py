"""What Pinot changes in values without an error: counted by column and kind, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from trellis.dialects.pinot.value.settings import Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert


class Damage(Enum):
    """A sort of silent damage; its value is the name that reports use."""

    OVERFLOW = "overflow"
    FRACTION_CUT = "fraction cut"
    PRECISION = "precision lost"
    NAN_TO_ZERO = "NaN to 0"
    TEXT_TO_FALSE = "text to false"
    ROLLED_OVER = "timestamp rolled over"
    TOO_LONG = "too long"
    NUL = "null character"
    SURROGATE = "half a character"
    JSON_TAIL = "text after JSON"


class Damaged(CannotConvert):
    """A value that Pinot would take and damage. Raised in strict mode only."""

    def __init__(self, message: str, damage: Damage) -> None:
        super().__init__(message)
        self.damage = damage


class Damages:
    """How many values were damaged: a count by column and sort. One per task; `merge` adds them up.

    >>> damages = Damages()
    >>> damages.add("n", Damage.OVERFLOW)
    >>> dict(damages.counts)
    {('n', <Damage.OVERFLOW: 'overflow'>): 1}
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Damage]] = Counter()
        self.total = 0
        """All of them since the beginning."""

    def add(self, column: str, damage: Damage, times: int = 1) -> None:
        self._counts[column, damage] += times
        self.total += times

    def merge(self, other: Damages) -> None:
        """Take over what another counted."""
        self._counts.update(other._counts)

    def take(self) -> Mapping[tuple[str, Damage], int]:
        """The counts since this was called last."""
        taken, self._counts = self._counts, Counter()
        return taken

    @property
    def counts(self) -> Mapping[tuple[str, Damage], int]:
        return MappingProxyType(self._counts)


class Guard:
    """Stands beside the steps of one column: counts their damage, or refuses it in strict mode."""

    __slots__ = ("_column", "_damages", "settings")

    def __init__(self, column: str, settings: Settings, damages: Damages | None) -> None:
        self.settings = settings
        self._column = column
        self._damages = damages

    def hurt(self, damage: Damage, sentence: str) -> None:
        """Raises Damaged with the sentence in strict mode."""
        if self.settings.strict:
            raise Damaged(sentence, damage)
        if self._damages is not None:
            self._damages.add(self._column, damage)
