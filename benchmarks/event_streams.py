"""The contests of event streams: RudderStack's events, which spread over a table for each event name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from contest import COPY, FLOOR, INTO_DUCKDB, INTO_POSTGRES, PARQUET, Data, Result, contend, generated, middle
from rich.console import Console
from tables import megabytes, seconds, table, times

TESTS = Path(__file__).parent.parent / "tests"
NO_PEER = (
    "Peers: RudderStack's own server cannot be run here. dlt, which nests records and does not spread them, "
    "is in the contests of flat and shop events. The memory of PostgreSQL's server is not counted."
)


class Streams:
    """Two days of events, one load each: the second finds its tables known, and rows in them."""

    def __init__(
        self,
        options: argparse.Namespace,
        skipped: set[str],
        console: Console,
        tell: Callable[[str], object],
    ) -> None:
        self.options = options
        self.skipped = skipped
        self.console = console
        self.tell = tell
        self.folder = Path(options.data)
        self.results: list[Result] = []

    def run(self) -> list[Result]:
        for rows in self.options.events:
            self._destinations(rows)
        self._names(min(self.options.events))
        return self.results

    def _destinations(self, rows: int) -> None:
        data = two_days(self.folder, "events", rows)
        wanted = [name for name in (FLOOR, PARQUET, INTO_DUCKDB) if name not in self.skipped]
        found = contend(data, wanted, self.options.repeat, self.tell, *self._options)
        if INTO_POSTGRES not in self.skipped:
            try:
                with temporary_database() as url:
                    options = (*self._options, "--database", url)
                    found |= contend(data, (INTO_POSTGRES, COPY), self.options.repeat, self.tell, *options)
            except LookupError as bad:
                self.tell(str(bad))
        self.results += found.values()
        self._show(data, found)

    def _names(self, rows: int) -> None:
        """As many events under nine names and under 500."""
        if PARQUET in self.skipped:
            return
        runs: dict[str, list[Result]] = {"events": [], "events-500": []}
        for _ in range(self.options.repeat):
            for profile, results in runs.items():
                data = two_days(self.folder, profile, rows)
                results.append(contend(data, [PARQUET], 1, self.tell, *self._options)[PARQUET])
        medians = {profile: middle(results) for profile, results in runs.items()}
        self.results += medians.values()
        shown = table(
            f"Names of events: {rows:,} rows, {PARQUET} {self.options.dialect}",
            "", "MB", "first s", "second s", "CPU s", "first x", "second x", "driver MB", "peak MB", "",
        )  # fmt: skip
        few = medians["events"]
        for name, r in zip(("nine names", "500 names"), medians.values(), strict=True):
            if r.error:
                shown.add_row(name, *[""] * 8, f"[red]{r.error[:60]}[/]")
                continue
            shown.add_row(
                name, f"{r.data.megabytes:,.0f}", seconds(r.first), seconds(r.second), seconds(r.cpu_second),
                times(r.first, few.first), times(r.second, few.second),
                megabytes(r.peak.get("driver")), megabytes(r.peak.get("all")), r.note,
            )  # fmt: skip
        self.console.print(shown)

    @property
    def _options(self) -> tuple[str, ...]:
        return ("--dialect", self.options.dialect)

    def _show(self, data: Data, found: Mapping[str, Result]) -> None:
        """`x floor` is in times of Spark alone, `x COPY` in times of PostgreSQL alone."""
        shown = table(
            f"Event streams, dialect {self.options.dialect}: {data.rows:,} events a day, "
            f"{data.megabytes:,.0f} MB",
            "", "first s", "x floor", "x COPY", "second s", "x floor", "x COPY", "CPU s", "events/s",
            "driver MB", "peak MB", "",
            caption=NO_PEER,
        )  # fmt: skip
        for name, r in found.items():
            if r.error:
                shown.add_row(name, *[""] * 10, f"[red]{r.error[:60]}[/]")
                continue
            floor = _beside(r, found.get(FLOOR))
            copy = _beside(r, found.get(COPY)) if name in (INTO_POSTGRES, COPY) else ("", "")
            shown.add_row(
                name, seconds(r.first), floor[0], copy[0], seconds(r.second), floor[1], copy[1],
                seconds(r.cpu_second), f"{r.rate:,.0f}",
                megabytes(r.peak.get("driver")), megabytes(r.peak.get("all")), r.note,
            )  # fmt: skip
        self.console.print(shown)


def two_days(folder: Path, profile: str, rows: int) -> Data:
    """The file of one day, and as `next` that of another: new messages of much the same people."""
    first, second = (generated(folder, profile, rows, seed=seed) for seed in (0, 1))
    return replace(first, next=second.path)


def _beside(r: Result, other: Result | None) -> tuple[str, str]:
    """In times of another: the first load, and the second."""
    if other is None or other.error:
        return "", ""
    return times(r.first, other.first), times(r.second, other.second)


@contextmanager
def temporary_database() -> Iterator[str]:
    """The URL of an empty database, on a server as the tests have it. Raises LookupError if there is none."""
    sys.path.append(str(TESTS))
    from destinations.postgres_server import running

    with running() as server:
        name = server.new_database()
        try:
            yield server.url(name)
        finally:
            server.drop_database(name)
