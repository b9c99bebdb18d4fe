"""The outcome of a block, and the loop over its lines that every conformer shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from trellis.engine.input.lines import BadLine, record
from trellis.engine.plan import Counts, Discard, Reject
from trellis.engine.staging.batches import TableBatch
from trellis.evolution.contract import ContractViolation
from trellis.evolution.observe import Observations

Line = tuple[int, bytes]
"""A line without its newline, and its number in the split."""


@dataclass
class Conformed:
    """The outcome of one block. `observed` is set where the schema lacks something of it.

    Then the lines numbered in `waiting` are not in the other fields; if `waiting` is None, no line is.
    `by_tables` counts loaded records that name their tables, by these. `violations` fail the load.
    """

    counts: Counts = field(default_factory=Counts)
    batches: list[TableBatch] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    observed: Observations | None = None
    waiting: tuple[int, ...] | None = None
    by_tables: Counter[tuple[str, ...]] = field(default_factory=Counter)
    violations: list[ContractViolation] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)

    def reject(self, line: int, text: bytes, reason: str, kind: str = "") -> None:
        """Count a line that is no record, and keep it."""
        self.counts.read += 1
        self.counts.rejected += 1
        self.rejects.append(Reject(line, text, reason, kind))


def parse_records(
    lines: Iterable[Line], check_big_ints: bool, outcome: Conformed, verbatim: bool = False
) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """The records of some lines, each with its line; a line that is no record is rejected in the outcome.

    `check_big_ints`: some line may have an integer of more than 64 bits. `verbatim`: texts may hold half
    of a surrogate pair, and numbers beyond the range of a double are Decimals.
    """
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            item = record(line, check_big_ints, verbatim)
        except BadLine as bad:
            outcome.reject(number, line, str(bad))
        else:
            yield number, line, item
