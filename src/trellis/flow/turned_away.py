"""Records that were dropped before they came to the data plane: counted, and kept in the discards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from trellis.evolution.observe import Observations
from trellis.flow.lost import DISCARDS, discard_batch
from trellis.flow.parallel import Parallel, in_threads
from trellis.flow.plan import BlockRef, Discard, Plan
from trellis.flow.stage import Stage
from trellis.flow.task import Outcome, Progress
from trellis.flow.text import to_json


class TurnedAway:
    """`items` are triples: the position among the records, the record, why it was dropped."""

    name = ""
    weight: int | None = None
    file_count = 1
    parallel: Parallel = staticmethod(in_threads)

    def __init__(self, items: Iterable[tuple[int, object, str]], table: str) -> None:
        self.items = items
        self.table = table

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Observations:
        return Observations()

    def run(self, plan: Plan, pending: Sequence[BlockRef] | None, progress: Progress) -> Iterator[Outcome]:
        outcome = Outcome("turned-away", split=(plan.first_file, 0))
        table = plan.naming.table(self.table)
        found = [
            Discard(table, "", "", text, position, reason, text)
            for position, item, reason in self.items
            for text in [to_json(item)]
        ]
        with Stage(plan.staging, f"turned-away-{os.urandom(4).hex()}") as stage:
            stage.add(DISCARDS, discard_batch(found, plan.load_id, "records"))
        outcome.files = stage.files
        outcome.counts.read = outcome.counts.dropped = len(found)
        outcome.discards.update(each.reason.partition(":")[0] for each in found)
        yield outcome
