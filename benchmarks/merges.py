"""The contests of merges: a table in DuckDB of which one row in ten is brought again, changed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from contest import DLT, INTO_DUCKDB, Data, Result, contend, generated
from rich.console import Console
from tables import megabytes, seconds, table, times

STRATEGIES = ("delete-insert", "upsert", "scd2")
SHARE = 10


class Merges:
    """The first load fills the table, the second one updates a tenth of its rows by their key."""

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
        self.results: list[Result] = []
        self.ratios: dict[str, float] = {}

    def run(self) -> list[Result]:
        data = updated(Path(self.options.data), max(self.options.rows))
        for strategy in STRATEGIES:
            wanted = [name for name in (INTO_DUCKDB, DLT) if name not in self.skipped]
            found = {name: contend(data, [name], 1, self.tell, "--merge", strategy)[name] for name in wanted}
            self.results += found.values()
            self._show(strategy, data, found)
        return self.results

    def _show(self, strategy: str, data: Data, found: Mapping[str, Result]) -> None:
        changed = data.rows // SHARE
        shown = table(
            f"merge, {strategy}: {data.rows:,} flat rows in DuckDB, {changed:,} of them brought again",
            "", "fill s", "merge s", "CPU s", "rows/s", "x dlt", "peak MB", "",
        )  # fmt: skip
        dlt = found.get(DLT)
        for name, r in found.items():
            if r.error:
                shown.add_row(name, *[""] * 6, f"[red]{r.error[:60]}[/]")
                continue
            beside = times(dlt.second, r.second) if dlt is not None and not dlt.error else ""
            shown.add_row(
                name, seconds(r.first), seconds(r.second), seconds(r.cpu_second),
                f"{changed / r.second:,.0f}", beside, megabytes(r.peak.get("all")), r.note,
            )  # fmt: skip
        self.console.print(shown)
        ours = found.get(INTO_DUCKDB)
        if ours is not None and dlt is not None and not ours.error and not dlt.error:
            self.ratios[strategy] = dlt.second / ours.second


def updated(folder: Path, rows: int) -> Data:
    """The file that fills the table, and as `next` the one that updates it."""
    later = generated(folder, "flat", rows // SHARE, seed=1)
    return replace(generated(folder, "flat", rows), next=later.path)
