"""A row on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class ValueFault(NamedTuple):
    """A value that a step refused: its column, the value, the reason."""

    column: str
    value: Any
    reason: str


@dataclass
class Row:
    """Values by column, and what happened to them.

    `nulls` are the columns that had no value. `faults` holds the values that became null because they could
    not be converted; the row is `incomplete` then. `time_out_of_range`: Pinot refuses a segment with its main
    time.
    """

    values: dict[str, Any]
    nulls: set[str] = field(default_factory=set)
    faults: list[ValueFault] = field(default_factory=list)
    incomplete: bool = False
    time_out_of_range: bool = False

    def fault(self, column: str, value: Any, reason: str) -> None:
        """Record a value that was refused; the row is incomplete."""
        self.faults.append(ValueFault(column, value, reason))
        self.incomplete = True
