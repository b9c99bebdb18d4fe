"""How many records of a load may be rejected before it fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow.parquet as pq

from trellis.engine.plan import Counts
from trellis.engine.staging.dead_letters import REJECTS
from trellis.engine.staging.stage import StagedFile
from trellis.engine.storage.location import is_remote
from trellis.errors import ContractError, UsageError

EXAMPLES = 3
TEXT_LENGTH = 60


@dataclass(frozen=True)
class RejectLimit:
    """At most so many rejected records, or so many percent of those read; else fewer than all."""

    count: int | None = None
    percent: float | None = None

    @staticmethod
    def of(value: int | str | None) -> RejectLimit:
        """
        >>> RejectLimit.of("2.5%"), RejectLimit.of(10)
        (RejectLimit(count=None, percent=2.5), RejectLimit(count=10, percent=None))
        """
        if value is None:
            return RejectLimit()
        match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", str(value))
        if match is None or isinstance(value, bool) or (match[2] and float(match[2]) > 100):
            raise UsageError(f"max_rejected takes a number of records or a share such as 5%, not {value!r}")
        return RejectLimit(int(match[1])) if match[1] else RejectLimit(percent=float(match[2]))

    def allows(self, rows: Counts) -> bool:
        if self.count is not None:
            return rows.rejected <= self.count
        if self.percent is not None:
            return rows.rejected * 100 <= self.percent * rows.read
        return not rows.rejected or rows.rejected < rows.read

    def __str__(self) -> str:
        if self.count is not None:
            return f"{self.count:,}"
        return "fewer than all" if self.percent is None else f"{self.percent:g} %"


DEFAULT_REJECT_LIMIT = RejectLimit()


def refuse_rejected(
    limit: RejectLimit,
    rows: Counts,
    reasons: Mapping[str, int],
    rejects: Iterable[StagedFile],
    notes: Iterable[str] = (),
) -> None:
    """Raises ContractError where a load rejects more than its limit allows, with the first of them.

    `notes` are sentences about what records refer to.
    """
    if limit.allows(rows):
        return
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    examples = "".join(f"\n  {line}" for line in (*notes, *_examples(rejects)))
    raise ContractError(
        f"{rows.rejected:,} of {rows.read:,} records rejected ({counts}), and {limit} may be; nothing was "
        f"loaded. Correct the input, or allow more with --max-rejected (max_rejected=).{examples}"
    )


def _examples(rejects: Iterable[StagedFile]) -> Iterator[str]:
    left = EXAMPLES
    for file in rejects:
        if left and file.table == REJECTS.name and not is_remote(file.path):
            for row in pq.read_table(file.path).slice(0, left).to_pylist():
                left -= 1
                yield f"{row['file']}:{row['position']}: {row['reason']}: {row['text'][:TEXT_LENGTH]!r}"
