"""Events that failed, loaded once their schemas are there or mended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

from trellis.dialects.snowplow.enriched.bad_event import failed_place
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.loading.records import FAILED_EVENTS, bad_events, naive
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.warehouses.base import RunCommit
from trellis.dialects.snowplow.runs.warehouses.sql import SqlCommit, SqlWarehouse
from trellis.errors import UsageError

ShredderFor = Callable[[Path, str], Shredder]
"""A shredder that writes into a folder, for a profile."""
_COLUMNS: Final = ("base", "number", "line")
_RESULTS: Final = "q_results"
_RESULT_COLUMNS: Final = ("base", "number", "reason", "message", "schema", "pointer", "replayed_at")


@dataclass(frozen=True)
class FailedEvent:
    """A row of the table of failed events."""

    base: str
    number: int
    line: str


@dataclass(frozen=True)
class ReplayReport:
    """How many failed events were tried, what was loaded of them, and why others failed again."""

    tried: int
    loaded: int
    run: RunReport | None
    failed: Counter[str]

    def to_dict(self) -> dict[str, Any]:
        return {
            "tried": self.tried,
            "loaded": self.loaded,
            "failed": dict(self.failed),
            "tables": self.run.to_dict()["tables"] if self.run else [],
            "statements": [*self.run.statements] if self.run else [],
        }


@dataclass(frozen=True)
class Replayer:
    """Shreds the lines of failed events anew, and loads those that are good in one transaction."""

    loader: RunLoader
    shredder_for: ShredderFor

    def replay(self, reason: str = "", schema: str = "") -> ReplayReport:
        """Replay all that failed, or those of one reason or one schema. Raises UsageError and what a load
        raises."""
        warehouse = self.loader.warehouse
        if not isinstance(warehouse, SqlWarehouse):
            raise UsageError(
                f"{warehouse.shown}: events are replayed where one transaction takes all tables, in "
                "duckdb:PATH and postgresql://...; shred and load their runs again into another dataset"
            )
        events = self._failed(reason, schema)
        if not events:
            return ReplayReport(0, 0, None, Counter())
        now = datetime.now(timezone.utc)
        name = f"run={now:%Y-%m-%d-%H-%M-%S}-{uuid4()}"
        with TemporaryDirectory(prefix="trellis-replay-") as folder:
            source = Path(folder, "enriched", name)
            source.mkdir(parents=True)
            lines = "".join(f"{event.line}\n" for event in events)
            (source / "part-00000").write_bytes(lines.encode("utf-8", "surrogatepass"))
            out = Path(folder, "shredded")
            self.shredder_for(out, warehouse.profile.name).shred(str(source))
            failures = [*bad_events(out / name)]
            report = self._load(out / name, events, failures, now)
        reasons = Counter(kind for kind, _, _ in failures)
        return ReplayReport(len(events), len(events) - len(failures), report, reasons)

    def _failed(self, reason: str, schema: str) -> list[FailedEvent]:
        chosen = {"reason": reason, "schema": schema}
        equal = {"replayed_at": None, **{name: value for name, value in chosen.items() if value}}
        rows = self.loader.warehouse.select(self.loader.dataset, FAILED_EVENTS, _COLUMNS, equal)
        return sorted((FailedEvent(*row) for row in rows), key=lambda event: (event.base, event.number))

    def _load(
        self,
        run: Path,
        events: Sequence[FailedEvent],
        failures: Sequence[tuple[str, str, str]],
        now: datetime,
    ) -> RunReport:
        remaining = Counter(line for _, _, line in failures)
        details = {line: (kind, message, *failed_place(message)) for kind, message, line in failures}
        rows: list[tuple[Any, ...]] = []
        for event in events:
            has_failed = remaining[event.line] > 0
            remaining[event.line] -= has_failed
            result = (*details[event.line], None) if has_failed else (None, None, None, None, naive(now))
            rows.append((event.base, event.number, *result))

        def mark(commit: RunCommit) -> None:
            assert isinstance(commit, SqlCommit)
            _mark_events(commit, rows)

        return self.loader.load_run(run, mark, keeps_failed=False)


def _mark_events(commit: SqlCommit, rows: Sequence[tuple[Any, ...]]) -> None:
    """Note which events are loaded, and why others failed again.

    Raises UsageError where another replay took some of them meanwhile.
    """
    commit.execute(
        f"CREATE TEMP TABLE {_RESULTS} (base VARCHAR, number BIGINT, reason VARCHAR, message VARCHAR, "
        "schema VARCHAR, pointer VARCHAR, replayed_at TIMESTAMP)"
    )
    commit.warehouse.append_rows(_RESULTS, _RESULT_COLUMNS, rows)
    failed = commit.reference(FAILED_EVENTS.name)
    same = (
        f"failed.base = {_RESULTS}.base AND failed.number = {_RESULTS}.number AND failed.replayed_at IS NULL"
    )
    [(count,)] = commit.execute(f"SELECT count(*) FROM {failed} AS failed JOIN {_RESULTS} ON {same}")
    if count != len(rows):
        raise UsageError("another replay loaded some of these events meanwhile; replay again for the others")
    assignments = ", ".join(
        f"{name} = coalesce({_RESULTS}.{name}, failed.{name})" for name in _RESULT_COLUMNS[2:]
    )
    commit.execute(f"UPDATE {failed} AS failed SET {assignments} FROM {_RESULTS} WHERE {same}")
    commit.execute(f"DROP TABLE {_RESULTS}")
