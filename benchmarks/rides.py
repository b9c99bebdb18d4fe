"""The contest of an authored schema: rides of thirty columns, as Pinot would store them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from contest import FLOOR, PARQUET, Data, Result, contend, generated
from rich.console import Console
from tables import megabytes, seconds, table, times

EXAMPLES = Path(__file__).parent.parent / "examples" / "pinot"
SCHEMA, TABLE = EXAMPLES / "rides-schema.json", EXAMPLES / "rides-table.json"
ODD_DATES = Path(__file__).parent / "rides-odd-dates.json"
ODD = "with dates that only Joda's rules read"


class Rides:
    """Spark alone reads the types that Spark has and writes; Trellis does the whole pipeline of Pinot."""

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
        self.ratio: float | None = None

    def run(self) -> list[Result]:
        data = generated(Path(self.options.data), "rides", max(self.options.rows))
        found = contend(data, (FLOOR,), self.options.repeat, self.tell)
        found |= contend(data, (PARQUET,), self.options.repeat, self.tell, *_options(TABLE))
        odd = contend(data, (PARQUET,), 1, self.tell, *_options(ODD_DATES))[PARQUET]
        found[ODD] = replace(odd, contender=ODD)
        self._show(data, found)
        ours, floor = found[PARQUET], found[FLOOR]
        if not ours.error and not floor.error:
            self.ratio = ours.second / floor.second
        return list(found.values())

    def _show(self, data: Data, found: dict[str, Result]) -> None:
        shown = table(
            f"rides, {data.rows:,} rows of thirty columns, {data.megabytes:,.0f} MB, as Pinot stores them",
            "", "first s", "second s", "CPU s", "rows/s", "x floor", "peak MB", "",
        )  # fmt: skip
        floor = found[FLOOR]
        for name, r in found.items():
            if r.error:
                shown.add_row(name, *[""] * 6, f"[red]{r.error[:60]}[/]")
                continue
            shown.add_row(
                name, seconds(r.first), seconds(r.second), seconds(r.cpu_second), f"{r.rate:,.0f}",
                "" if floor.error else times(r.second, floor.second), megabytes(r.peak.get("all")), r.note,
            )  # fmt: skip
        self.console.print(shown)


def _options(table_config: Path) -> tuple[str, ...]:
    return ("--dialect", "pinot", "--schema", str(SCHEMA), "--table-config", str(table_config))
