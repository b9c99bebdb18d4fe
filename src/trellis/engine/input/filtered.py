"""Records that were dropped before they came to the data plane: counted, and kept in the discards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trellis.engine.exact.text import to_json
from trellis.engine.parallel import Parallel, in_threads
from trellis.engine.plan import Discard, Peek, Plan
from trellis.engine.staging.dead_letters import DISCARDS, discard_batch
from trellis.engine.staging.stage import Stage
from trellis.engine.task import Outcome, Progress, Waiting
from trellis.evolution.observe import Observations


class Away(NamedTuple):
    """A record by its position, or with `key` one value of it, and why it was dropped."""

    position: int
    item: object
    reason: str
    key: str = ""


class TurnedAway:
    """Records that do not come, and values of records that do; only the former count as rows here."""

    name = ""
    weight: int | None = None
    file_count = 1
    parallel: Parallel = staticmethod(in_threads)

    def __init__(self, items: Iterable[Away], table: str) -> None:
        self.items = items
        self.table = table

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Peek:
        return Peek(Observations())

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        outcome = Outcome("turned-away", split=(plan.first_file, 0))
        table = plan.naming.table(self.table)
        found = [
            Discard(
                table,
                plan.naming.path(each.key) if each.key else "",
                each.key,
                text,
                each.position,
                each.reason,
                None if each.key else text,
            )
            for each in self.items
            for text in [each.item if isinstance(each.item, str) else to_json(each.item)]
        ]
        with Stage(plan.staging, f"turned-away-{os.urandom(4).hex()}", plan.storage) as stage:
            stage.add(DISCARDS, discard_batch(found, plan.load_id, lambda line: ("records", line)))
        outcome.files = stage.files
        outcome.counts.read = outcome.counts.dropped = sum(not each.path for each in found)
        outcome.discards.update(each.reason.partition(":")[0] for each in found)
        yield outcome
