"""How records become rows where the user wrote the schema: nothing is learned from the records.

A dialect gives a program for its one table. The program makes the rows of a record, one at a time; `columnar`
says the same of many records at once, for those that hold nothing special.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from trellis.evolution.columnar_transform import ColumnarTransform
from trellis.evolution.record_outcome import LostValue


@dataclass
class TransformResult:
    """What became of one record.

    `rows` hold values by column, a missing one is NULL. `dropped`: no row is left, as a filter says. `lost`
    are values that reached no row; `warnings` are things to count that are no fault.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    lost: list[LostValue] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dropped: bool = False


class RowTransform(Protocol):
    """Makes the rows of `table`."""

    table: str
    columnar: ColumnarTransform | None

    @property
    def kinds(self) -> Mapping[str, Callable[[Any], Any]]:
        """The classes for types that a source may have and Python has not, by name: `int64`, `float32`."""
        ...

    def __call__(self, record: Mapping[str, Any], /) -> TransformResult:
        """Texts of a record may hold half of a surrogate pair; those of rows must not.

        Raises Rejected for a record that is refused, Stopped where the load cannot go on."""
        ...

    def take_warnings(self) -> Counter[str]:
        """What is to be counted of the rows made since it was asked last, beside their warnings."""
        ...
