"""A row on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """A value that a step did not take: of which column, what it was, why."""

    column: str
    value: Any
    reason: str


class RowFault(Exception):
    """Why a record as a whole cannot go on: the batch stops, or the row is counted incomplete."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"column {column}: {reason}" if column else reason)
        self.column = column
        self.reason = reason
        self.kind = f"column {column}: cannot be stored" if column else "the filter cannot be computed"


@dataclass
class Row:
    """Values by column, and what happened to them.

    `nulls` are the columns that had no value. `faults` holds what became null because it could not be
    converted; the row is `incomplete` then. `sanitized`: a value was cut or replaced. `untimely`: its main
    time is one for which Pinot refuses a segment.
    """

    values: dict[str, Any]
    nulls: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    incomplete: bool = False
    sanitized: bool = False
    untimely: bool = False

    def fault(self, column: str, value: Any, reason: str) -> None:
        """Note a value that was not taken; the row is incomplete."""
        self.faults.append(Fault(column, value, reason))
        self.incomplete = True
