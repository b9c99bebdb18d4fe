"""Settings of the conversion, and what Pinot changes in values without an error: counted, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from trellis.dialects.pinot.value.source_kinds import CannotConvert


@dataclass(frozen=True)
class Settings:
    """Options of the user that concern values.

    `strict`: what Pinot changes without an error is refused with `LossyConversion`, not counted.
    `session_zone`: the zone (an IANA id) of a timestamp text that names none, and of the text of a timestamp.
    `pinot_jars`: Pinot's own classes compute the expressions that are not implemented here.
    """

    strict: bool = False
    session_zone: str = "UTC"
    pinot_jars: bool = False


PINOT_DEFAULTS: Final = Settings()
"""What Pinot does without further settings."""


class LossKind(Enum):
    """A kind of silent loss; its value is the name in reports."""

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


class LossyConversion(CannotConvert):
    """A value that Pinot would store changed. Raised in strict mode only."""


class LossCounts:
    """How many values were changed: a count by column and kind. One per task.

    >>> losses = LossCounts()
    >>> losses.add("n", LossKind.OVERFLOW)
    >>> dict(losses.take_counts())
    {('n', <LossKind.OVERFLOW: 'overflow'>): 1}
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, LossKind]] = Counter()
        self.total = 0
        """Never reset, unlike the counts."""

    def add(self, column: str, loss_kind: LossKind) -> None:
        self._counts[column, loss_kind] += 1
        self.total += 1

    def take_counts(self) -> Mapping[tuple[str, LossKind], int]:
        """The counts since the last call."""
        counts, self._counts = self._counts, Counter()
        return counts


class LossReporter:
    """Counts the losses of one column, or refuses them in strict mode."""

    __slots__ = ("_column", "_losses", "settings")

    def __init__(self, column: str, settings: Settings, losses: LossCounts | None) -> None:
        self.settings = settings
        self._column = column
        self._losses = losses

    def report(self, loss_kind: LossKind, sentence: str) -> None:
        """Raises LossyConversion with the sentence in strict mode."""
        if self.settings.strict:
            raise LossyConversion(sentence)
        if self._losses is not None:
            self._losses.add(self._column, loss_kind)
