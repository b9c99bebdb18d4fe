"""What became of one batch of a stream: one line of a log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trellis.pipelines.report import Report

CHANGES = 5


@dataclass(frozen=True)
class BatchReport:
    """One batch. `rows` are counted as in the report of a load, `drift` says what changed in the schema.

    `lag` counts the records of a topic that the batch left, None where the source does not count them.
    """

    batch_id: int
    load_id: str
    rows: Mapping[str, int]
    drift: tuple[str, ...] = ()
    discards: int = 0
    already_loaded: bool = False
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    lag: int | None = None
    seconds: float = 0.0
    steps: Mapping[str, float] = field(default_factory=dict)
    """The seconds of the parts of the load."""

    @staticmethod
    def of(batch_id: int, report: Report) -> BatchReport:
        document = report.to_dict()
        return BatchReport(
            batch_id,
            report.load_id,
            document["rows"],
            tuple(document["changes"]),
            report.discards.count,
            report.already_loaded,
            report.notes,
            tuple(failure.error for failure in report.failures),
            steps=document["seconds"],
        )

    def finished(self, seconds: float, lag: int | None) -> BatchReport:
        """The report with what Spark says of the batch."""
        return replace(self, seconds=seconds, lag=lag)

    def to_dict(self) -> dict[str, Any]:
        """The object that `trellis stream --json` prints on a line."""
        return {
            "batch": self.batch_id,
            "load_id": self.load_id,
            "already_loaded": self.already_loaded,
            "rows": dict(self.rows),
            "discards": self.discards,
            "drift": list(self.drift),
            "failures": list(self.failures),
            "notes": list(self.notes),
            "lag": self.lag,
            "seconds": {"batch": round(self.seconds, 3), **self.steps},
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    @staticmethod
    def from_json(text: str) -> BatchReport:
        """What `to_json` wrote."""
        fields = json.loads(text)
        seconds = fields["seconds"].pop("batch")
        return BatchReport(
            fields["batch"],
            fields["load_id"],
            fields["rows"],
            tuple(fields["drift"]),
            fields["discards"],
            fields["already_loaded"],
            tuple(fields["notes"]),
            tuple(fields["failures"]),
            fields["lag"],
            seconds,
            fields["seconds"],
        )

    def __str__(self) -> str:
        """
        >>> rows = {"in": 1200, "loaded": 1198, "rejected": 2, "dropped": 0}
        >>> print(BatchReport(7, "q-7", rows, ("orders.coupon is new",), lag=40, seconds=1.25))
        batch 7: rows in 1,200 = loaded 1,198 + rejected 2 + dropped 0; lag 40; 1.2 s; drift:
        orders.coupon is new
        """
        if self.already_loaded:
            return f"batch {self.batch_id}: already in the destination; {self.seconds:.1f} s"
        counts = [f"{name} {count:,}" for name, count in self.rows.items() if name != "in"]
        parts = [f"rows in {self.rows['in']:,} = {' + '.join(counts)}"]
        parts += [f"discarded values {self.discards:,}"] if self.discards else []
        parts += [f"lag {self.lag:,}"] if self.lag is not None else []
        parts.append(f"{self.seconds:.1f} s")
        parts += [f"drift: {_some(self.drift)}"] if self.drift else []
        parts += [f"failed: {', '.join(self.failures)}"] if self.failures else []
        return f"batch {self.batch_id}: {'; '.join(parts)}"


def _some(changes: Sequence[str]) -> str:
    """The first changes; all are in the object that `--json` prints.

    >>> _some([f"t.c{number} is new: text" for number in range(7)])[-24:]
    'is new: text, and 2 more'
    """
    more = len(changes) - CHANGES
    return ", ".join((*changes[:CHANGES], *((f"and {more:,} more",) if more > 0 else ())))
