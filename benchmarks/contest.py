"""Files of generated events, the contenders, and the best of their repeated runs."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from measure import Run, run, run_command

FLOOR, PARQUET, INTO_DUCKDB, DUCKDB, DLT = (
    "Spark alone",
    "trellis parquet:",
    "trellis duckdb:",
    "DuckDB alone",
    "dlt",
)
INTO_POSTGRES, COPY = "trellis postgresql:", "COPY alone"
COMMAND = "trellis load"

SCRIPTS: Mapping[str, Sequence[str]] = {
    FLOOR: ("floor.py",),
    PARQUET: ("ours.py", "--to", "parquet"),
    INTO_DUCKDB: ("ours.py", "--to", "duckdb"),
    DUCKDB: ("duckdb_read.py",),
    DLT: ("dlt_load.py",),
    INTO_POSTGRES: ("ours.py", "--to", "postgresql"),
    COPY: ("postgres_copy.py",),
}


@dataclass(frozen=True)
class Data:
    """One generated file; loads after the first read `next` where it is given."""

    path: Path
    profile: str
    rows: int
    columns: int
    next: Path | None = None

    @property
    def megabytes(self) -> float:
        return self.path.stat().st_size / 1e6


@dataclass(frozen=True)
class Result:
    """One contender on one file: seconds and bytes, each the median of the runs; `note` is its own."""

    contender: str
    data: Data
    wall: float
    start: float = 0.0
    first: float = 0.0
    second: float = 0.0
    cpu_first: float = 0.0
    cpu_second: float = 0.0
    peak: Mapping[str, int] = field(default_factory=dict)
    steps: Sequence[Mapping[str, float]] = ()
    note: str = ""
    error: str | None = None

    @property
    def rate(self) -> float:
        """Rows a second of the second load."""
        return self.data.rows / self.second if self.second else 0.0

    def to_dict(self) -> dict[str, Any]:
        data = {"profile": self.data.profile, "rows": self.data.rows, "columns": self.data.columns}
        rest = {name: value for name, value in vars(self).items() if name != "data"}
        return {**data, "megabytes": self.data.megabytes, **rest}


def generated(folder: Path, profile: str, rows: int, columns: int = 300, seed: int = 0) -> Data:
    """The file of so many rows, made where it is not there yet."""
    from trellis.generate import write

    width = f"-{columns}" if profile == "wide" else ""
    path = folder / f"{profile}{width}-{rows}{f'-{seed}' if seed else ''}.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        write(unfinished, rows, seed, profile, columns)
        unfinished.rename(path)
    return Data(path, profile, rows, columns)


def contend(
    data: Data, names: Sequence[str], repeat: int, tell: Callable[[str], object], *options: str
) -> dict[str, Result]:
    """Each contender `repeat` times, in turn, so that a slow minute of the machine hits all of them."""
    runs: dict[str, list[Result]] = {name: [] for name in names}
    for _ in range(repeat):
        for name in names:
            tell(f"{name}, {data.profile}, {data.rows:,} rows")
            runs[name].append(command(data) if name == COMMAND else _script(name, data, options))
    return {name: middle(results) for name, results in runs.items()}


def command(data: Data) -> Result:
    """The command line as a person calls it, from its start to its end."""
    with tempfile.TemporaryDirectory(dir=data.path.parent) as place:
        to = f"duckdb:{os.path.join(place, 'shop.duckdb')}"
        made = run_command(
            [sys.executable, "-m", "trellis.cli", "load", str(data.path), "--to", to, "--json"]
        )
    return _result(COMMAND, data, made)


def _script(name: str, data: Data, options: Sequence[str]) -> Result:
    script, *more = SCRIPTS[name]
    if data.next is not None:
        more += ["--next", str(data.next)]
    with tempfile.TemporaryDirectory(dir=data.path.parent) as place:
        made = run(script, str(data.path), place, "--profile", data.profile, *more, *options)
    return _result(name, data, made)


def _result(name: str, data: Data, made: Run) -> Result:
    told = made.figures
    if made.error is None and "start" in told and told["rows"] not in (None, data.rows):
        return Result(name, data, made.wall, error=f"{told['rows']:,} rows instead of {data.rows:,}")
    if made.error is not None or "start" not in told:
        return Result(name, data, made.wall, peak=made.peak, error=made.error)
    seconds, cpu = told["seconds"], told["cpu"]
    return Result(
        name, data, made.wall, told["start"], seconds[0], seconds[-1], cpu[0], cpu[-1], made.peak,
        tuple(told.get("steps", ())), told.get("note", ""),
    )  # fmt: skip


def middle(results: Sequence[Result]) -> Result:
    """The median of some runs, figure by figure; a run that failed, if one did."""
    failed = next((result for result in results if result.error), None)
    if failed is not None:
        return failed
    figures = ("wall", "start", "first", "second", "cpu_first", "cpu_second")
    medians = {name: median(getattr(result, name) for result in results) for name in figures}
    peak = {role: int(median(result.peak.get(role, 0) for result in results)) for role in results[0].peak}
    nearest = min(results, key=lambda result: abs(result.second - medians["second"]))
    return replace(nearest, **medians, peak=peak)


def multiplied(folder: Path, real: Path, rows: int) -> Data:
    """A file of so many rows, made of the real records of a JSON array again and again."""
    path = folder / f"real-{real.stem}-{rows}.jsonl"
    if not path.exists():
        lines = [json.dumps(record, separators=(",", ":")) for record in json.loads(real.read_text())]
        unfinished = path.with_suffix(".part")
        with unfinished.open("w") as stream:
            for line in islice(cycle(lines), rows):
                stream.write(line + "\n")
        unfinished.rename(path)
    return Data(path, "real", rows, 0)
