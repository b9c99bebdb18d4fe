"""Events that failed, loaded once their schemas are there or mended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_args
from uuid import uuid4

from trellis.dialects.snowplow.enriched.bad_event import BadKind, failed_place
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.loading.records import (
    FAILED_EVENTS,
    bad_events,
    naive,
    rejected_rows,
)
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.warehouses.base import RunCommit
from trellis.errors import UsageError, nearest

ShredderFor = Callable[[Path, str], Shredder]
"""A shredder that writes into a folder, for a profile."""
_KEYS: Final = ("base", "number")
_DONE: Final = "replayed_at"
_RESULTS: Final = "results.json"


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
    """Shreds the lines of failed events anew, and loads those that are good.

    The commit that takes their rows notes which events they are. Where tables commit one by one, the files
    and what is to be noted outlive a replay that is killed; the next one ends it first.
    """

    loader: RunLoader
    shredder_for: ShredderFor

    def replay(self, reason: str = "", schema: str = "") -> ReplayReport:
        """Replay all that failed, or those of one reason or one schema. Raises UsageError and what a load
        raises."""
        _check_choice(reason, schema)
        with self.loader.warehouse.replay_folder(self.loader.dataset) as folder:
            for results in folder.glob(f"*/{_RESULTS}"):
                self._load(results)
            self._take_over_rejects()
            events = self._failed(reason, schema)
            if not events:
                return ReplayReport(0, 0, None, Counter())
            now = datetime.now(timezone.utc)
            run = self._shred(events, folder, f"run={now:%Y-%m-%d-%H-%M-%S}-{uuid4()}")
            failures = [*bad_events(run)]
            report = self._load(_write_results(run, events, failures, now))
        reasons = Counter(kind for kind, _, _ in failures)
        return ReplayReport(len(events), len(events) - len(failures), report, reasons)

    def _take_over_rejects(self) -> None:
        """Let the lines that `trellis load` rejected be failed events, once."""
        warehouse, dataset = self.loader.warehouse, self.loader.dataset
        now = datetime.now(timezone.utc)
        for load_id, rows in rejected_rows(warehouse, dataset, now).items():
            with warehouse.commit(dataset, load_id) as commit:
                if not warehouse.select(dataset, FAILED_EVENTS, ("number",), {"base": load_id}):
                    commit.append_rows(FAILED_EVENTS, rows)

    def _shred(self, events: Sequence[FailedEvent], folder: Path, name: str) -> Path:
        """The run folder of the events."""
        with TemporaryDirectory(prefix="trellis-replay-") as enriched:
            source = Path(enriched, name)
            source.mkdir()
            lines = "".join(f"{event.line}\n" for event in events)
            (source / "part-00000").write_bytes(lines.encode("utf-8", "surrogatepass"))
            [_] = self.shredder_for(folder, self.loader.warehouse.profile.name).shred(str(source))
        return folder / name

    def _failed(self, reason: str, schema: str) -> list[FailedEvent]:
        chosen = {"reason": reason, "schema": schema}
        equal = {"replayed_at": None, **{name: value for name, value in chosen.items() if value}}
        rows = self.loader.warehouse.select(self.loader.dataset, FAILED_EVENTS, (*_KEYS, "line"), equal)
        return sorted((FailedEvent(*row) for row in rows), key=lambda event: (event.base, event.number))

    def _load(self, results: Path) -> RunReport:
        """Load the run that results are of, and note them."""
        rows = [
            {name: _time(value) if name == _DONE else value for name, value in row.items()}
            for row in json.loads(results.read_text(encoding="utf-8"))
        ]

        def note(commit: RunCommit) -> None:
            if commit.update_rows(FAILED_EVENTS, _KEYS, rows, _DONE) != len(rows):
                raise UsageError(
                    "another replay loaded some of these events meanwhile; replay again for the others"
                )

        return self.loader.load_run(results.parent, note, keeps_failed=False)


def _check_choice(reason: str, schema: str) -> None:
    """Raises UsageError for a reason or an address that no event can have."""
    kinds = get_args(BadKind)
    if reason and reason not in kinds:
        raise UsageError(f"--reason: there is no {reason!r}{nearest(reason, kinds)}")
    if schema:
        try:
            SchemaKey.parse(schema)
        except IgluError as error:
            raise UsageError(f"--of-schema: {error}") from None


def _write_results(
    run: Path, events: Sequence[FailedEvent], failures: Sequence[tuple[str, str, str]], now: datetime
) -> Path:
    """Write what is to be noted of the events of a run: that they are loaded, or why they failed again."""
    remaining = Counter(line for _, _, line in failures)
    details = {line: (kind, message, *failed_place(message)) for kind, message, line in failures}
    rows = []
    for event in events:
        has_failed = remaining[event.line] > 0
        remaining[event.line] -= has_failed
        reason, message, schema, pointer = details[event.line] if has_failed else (None,) * 4
        rows.append(
            {
                "base": event.base,
                "number": event.number,
                "reason": reason,
                "message": message,
                "schema": schema,
                "pointer": pointer,
                _DONE: None if has_failed else str(naive(now)),
            }
        )
    path = run / _RESULTS
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(rows), encoding="utf-8")
    draft.replace(path)
    return path


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
