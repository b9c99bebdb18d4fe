"""Records that a filter or a contract of the source dropped: counted, and kept in the discards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trellis.engine.parallel import Parallel, in_threads
from trellis.engine.plan import Discard, Peek, Plan
from trellis.engine.staging.dead_letters import DISCARDS, discard_batch
from trellis.engine.staging.stage import Stage
from trellis.engine.task import Outcome, Progress, Waiting
from trellis.engine.text import to_json
from trellis.evolution.observe import Observations


class FilteredRecord(NamedTuple):
    """A record by its position, or with `key` one of its values, and why it was dropped."""

    position: int
    item: object
    reason: str
    key: str = ""


class FilteredRecords:
    """Dropped records, and dropped values of other records; only the former count as rows."""

    name = ""
    weight: int | None = None
    file_count = 1
    parallel: Parallel = staticmethod(in_threads)

    def __init__(self, items: Iterable[FilteredRecord], table: str) -> None:
        self.items = items
        self.table = table

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Peek:
        return Peek(Observations())

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        outcome = Outcome("filtered", split=(plan.first_file, 0))
        table = plan.naming.table(self.table)
        discards = [
            Discard(
                table,
                plan.naming.path(record.key) if record.key else "",
                record.key,
                text,
                record.position,
                record.reason,
                None if record.key else text,
            )
            for record in self.items
            for text in [record.item if isinstance(record.item, str) else to_json(record.item)]
        ]
        with Stage(plan.staging, f"filtered-{os.urandom(4).hex()}", plan.storage) as stage:
            stage.add(DISCARDS, discard_batch(discards, plan.load_id, lambda line: ("records", line)))
        outcome.files = stage.files
        outcome.counts.read = outcome.counts.dropped = sum(not discard.path for discard in discards)
        outcome.discards.update(discard.reason.partition(":")[0] for discard in discards)
        yield outcome
