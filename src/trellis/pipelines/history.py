"""What became of every load, also of those that failed: the upload history of a dataset.

A failed load leaves its destination as it was, and may not even have reached it. So the history is kept in
files of its own, one for each try: in the folder that the environment variable TRELLIS_HISTORY names, else in
that of the user's state.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from trellis.engine.staging.stage import folder_name
from trellis.errors import UsageError
from trellis.pipelines.operations.hooks import LoadStarted
from trellis.pipelines.operations.observe import observe_load
from trellis.pipelines.report import Report

HISTORY = "TRELLIS_HISTORY"
KEPT = 1_000
"""Tries that are kept of a dataset; older ones are forgotten."""

State = Literal["loaded", "partly failed", "failed"]


@dataclass(frozen=True)
class TableOutcome:
    """What became of one table in a load."""

    name: str
    rows: int
    state: Literal["loaded", "failed"] = "loaded"
    error: str = ""


@dataclass
class LoadOutcome:
    """One try of a load. `rows` counts records as a report does; `commits` are tries to commit."""

    pipeline: str
    dialect: str
    started: str
    load_id: str = ""
    state: State = "loaded"
    error: str = ""
    commits: int = 0
    retries: int = 0
    """Commits and whole loads of this id that came before and did not succeed."""
    rows: Mapping[str, int] = field(default_factory=dict)
    tables: tuple[TableOutcome, ...] = ()
    alerts: Mapping[str, str] = field(default_factory=dict)
    """What a table comes close to, by its name."""
    seconds: Mapping[str, float] = field(default_factory=dict)

    def finish(self, report: Report) -> None:
        self.load_id = report.load_id
        document = report.to_dict()
        self.rows, self.seconds = document["rows"], document["seconds"]
        loaded = (TableOutcome(table.name, table.rows) for table in report.tables)
        failed = (TableOutcome(f.name, f.rows, "failed", f.error) for f in report.failures)
        self.tables, self.alerts = (*loaded, *failed), dict(report.alerts)
        self.state = "partly failed" if report.failures else "loaded"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> LoadOutcome:
        tables = tuple(TableOutcome(**table) for table in document["tables"])
        return LoadOutcome(**{**document, "tables": tables})


class LoadHistory:
    """The loads of one dataset of a destination."""

    def __init__(self, url: str, dataset: str) -> None:
        scheme, colon, path = url.partition(":")
        place = url if path.startswith("//") else f"{scheme}{colon}{os.path.abspath(path)}"
        self.url = url
        self.dataset = dataset
        self.folder = _root() / folder_name(f"{place} {dataset}")

    def record(
        self, outcome: LoadOutcome, load: Callable[[LoadOutcome], Report], sources: Sequence[str] = ()
    ) -> Report:
        """Carry out a load, keep what became of it, and tell hooks and logs. Raises what the load raises."""
        started = LoadStarted(
            outcome.pipeline,
            self.url,
            self.dataset,
            outcome.dialect,
            datetime.fromisoformat(outcome.started),
            tuple(sources),
        )
        begin = time.monotonic()
        try:
            report = observe_load(started, lambda: load(outcome), lambda: outcome.load_id)
        except UsageError:
            raise
        except (Exception, KeyboardInterrupt) as error:
            outcome.state, outcome.error = "failed", str(error) or type(error).__name__
            outcome.seconds = {"all": round(time.monotonic() - begin, 3)}
            self._write(outcome)
            raise
        if not report.already_loaded:
            outcome.finish(report)
            self._write(outcome)
        return report

    def outcomes(self) -> list[LoadOutcome]:
        """All that are kept, the oldest first."""
        outcomes = [LoadOutcome.from_dict(json.loads(path.read_bytes())) for path in self._paths()]
        failed = Counter[str]()
        for outcome in outcomes:
            outcome.retries = max(outcome.commits - 1, 0) + failed[outcome.load_id]
            if outcome.load_id and outcome.state == "failed":
                failed[outcome.load_id] += 1
        return outcomes

    def _write(self, outcome: LoadOutcome) -> None:
        name = f"{outcome.started.replace(':', '')} {os.getpid()}-{time.monotonic_ns()}"
        path = self.folder / f"{name}.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            written = path.with_suffix(".new")
            written.write_text(json.dumps(outcome.to_dict()))
            written.replace(path)
        except OSError as bad:
            warnings.warn(
                f"{self.folder}: the load is not in the history, which cannot be written "
                f"({bad.strerror or bad}); set {HISTORY} to a folder that can",
                stacklevel=2,
            )
            return
        for old in self._paths()[:-KEPT]:
            with suppress(FileNotFoundError):  # another load may have removed it
                old.unlink()

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"))


def begin_outcome(pipeline: str, dialect: str) -> LoadOutcome:
    return LoadOutcome(pipeline, dialect, datetime.now(timezone.utc).isoformat(timespec="microseconds"))


def alerts_of(outcomes: Sequence[LoadOutcome]) -> list[str]:
    """What an operator has to look at, from the oldest load to the newest.

    A load that failed counts until a later one succeeds, a table until its rows are loaded again.
    """
    failed: dict[str, str] = {}
    close: dict[str, str] = {}
    for outcome in outcomes:
        name = f"load {outcome.load_id}" if outcome.load_id else "a load"
        if outcome.state == "failed":
            failed[""] = f"{name} failed: {outcome.error}"
            continue
        failed.pop("", None)
        for table in outcome.tables:
            close.pop(table.name, None)
            failed.pop(table.name, None)
            if table.state == "failed":
                failed[table.name] = f"table {table.name} failed in {name}: {table.error}"
        close.update(outcome.alerts)
    return [*failed.values(), *close.values()]


def state_folder(name: str) -> Path:
    """A folder of the user's state, which a restart of the machine leaves as it is."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state, "trellis", name)


def _root() -> Path:
    return Path(os.environ.get(HISTORY) or state_folder("loads"))
