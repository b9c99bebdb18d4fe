"""A script that kills loads at every step of them, and runs each again.

    python kill_points.py URL WORK_FOLDER MODE KILLS

MODE is `create` (each load into a new dataset), `append`, `replace`, `merge` or `stream`. The loads follow
each other: load 1 is left alone, load 2 shows which points a load passes, and each one after it is killed at
another point, at most KILLS of them, and run again by the next process. Every load has a column of its own.
What is in the destination after each load that was killed is printed, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from conftest import start_spark
from trellis.destinations.duckdb.destination import DuckDB
from trellis.destinations.duckdb.load import DuckDBLoad
from trellis.destinations.iceberg.store import IcebergStore
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.destination import Lake
from trellis.destinations.lake.merge import MergeContext
from trellis.destinations.postgres.destination import Postgres
from trellis.destinations.postgres.names import staging_schema
from trellis.destinations.postgres.session import Session
from trellis.destinations.postgres.staging import Staging
from trellis.engine.staging.inflight import LoadNote
from trellis.pipelines.loading.attempt import LoadAttempt
from trellis.pipelines.pipeline import Pipeline, pipeline

STEPS: dict[type, tuple[str, ...]] = {
    LoadAttempt: ("_conform",),
    LoadNote: ("finished",),
    DuckDB: ("commit", "_commit"),
    DuckDBLoad: ("_run",),
    Postgres: ("commit",),
    Session: ("run",),
    Staging: ("copy_files",),
    Lake: ("commit",),
    DeltaStore: ("create_table", "add_columns", "_add_file", "write_files"),
    IcebergStore: ("create_table", "add_columns", "_add_file", "write_files"),
    MergeContext: ("run_merge",),
}
"""The methods that are steps of a load; a load passes a point before and one after each."""
WAIT = 300


def rows_of(mode: str, number: int) -> list[dict[str, Any]]:
    """The records of a load; half of those of a merge are in the load before, too."""
    first = number * 5 if mode == "merge" else number * 10
    late = f"late_{number}"
    return [{"id": n, "v": number, "k": [{"n": n}, {"n": number}], late: n} for n in range(first, first + 10)]


class Loads:
    """The loads of one mode into one destination."""

    def __init__(self, url: str, folder: Path, mode: str) -> None:
        self.url = url
        self.folder = folder
        self.mode = mode

    def pipeline(self, number: int) -> Pipeline:
        options: dict[str, Any] = {}
        if self.mode == "create":
            options["dataset"] = f"d{number}"
        if self.mode == "stream":
            options["engine"] = "spark"
        return pipeline("shop", to=self.url, **options)

    def run(self, number: int) -> None:
        """Run a load, for the first time or again."""
        rows, shop = rows_of(self.mode, number), self.pipeline(number)
        if self.mode == "stream":
            write_file(self.folder / "raw" / f"{number}.jsonl", rows)
            assert shop.stream(str(self.folder / "raw"), table="t", trigger="available-now").wait(WAIT)
            return
        options: dict[str, Any] = {"mode": "append" if self.mode == "create" else self.mode}
        if self.mode == "merge":
            options["keys"] = ("id",)
        shop.load(rows, table="t", load_id=f"load-{number}", **options)

    def show(self, number: int) -> dict[str, Any]:
        """What readers see after a load."""
        shop = self.pipeline(number)
        stored = shop.destination.query(shop.dataset, "t")
        counts = shop.destination.row_counts(shop.dataset)
        late = f"late_{number}"
        return {
            "load": number,
            "rows": sorted([row["id"], row["v"]] for row in stored),
            "late": sorted(row[late] for row in stored if row[late] is not None),
            "counts": {name: counts[name] for name in ("t__k", "_dlt_loads", "_dlt_version")},
            "left": self._leftovers(shop),
        }

    def _leftovers(self, shop: Pipeline) -> list[str]:
        """What loads have staged and not removed."""
        staging = Path(shop.destination.staging(""))
        tables = shop.destination.catalog(staging_schema(shop.dataset))
        return [*tables, *(str(path) for path in staging.glob("load-*/*"))]


def write_file(path: Path, rows: list[dict[str, Any]]) -> None:
    """Let a file appear with all that it has, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    unfinished = path.parent.parent / path.name
    unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows))
    unfinished.rename(path)


def in_fork(work: Callable[[], None]) -> int:
    """The status with which a fork of this process ends; what it started ends with it."""
    child = os.fork()
    if child == 0:
        os.setsid()
        status = 1
        try:
            work()
            status = 0
        except BaseException as bad:
            print(f"{type(bad).__name__}: {bad}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def watch_points(points: Path, killed_at: int | None) -> None:
    """Let a file have the points that this process passes; at the one of that number it is killed."""
    passed: list[str] = []

    def reach(point: str) -> None:
        passed.append(point)
        points.write_text("\n".join(passed))
        if len(passed) == killed_at:
            os.killpg(0, signal.SIGKILL)

    def wrap(kind: type, method: str) -> None:
        inner = getattr(kind, method)

        def watched(*arguments: Any, **options: Any) -> Any:
            name = f"{kind.__name__}.{method} {subject_of(arguments)}".strip()
            reach(f"before {name}")
            result = inner(*arguments, **options)
            reach(f"after {name}")
            return result

        setattr(kind, method, watched)

    for kind, methods in STEPS.items():
        for method in methods:
            wrap(kind, method)


def subject_of(arguments: tuple[Any, ...]) -> str:
    """What a step is about: a table, or the beginning of a statement."""
    subject = arguments[1] if len(arguments) > 1 else ""
    name = getattr(subject, "table", subject)
    return " ".join(name.split()[:4]) if isinstance(name, str) else ""


def main(url: str, folder: Path, mode: str, kills: int) -> None:
    loads = Loads(url, folder, mode)
    points = folder / "points"
    needs_spark = mode == "stream" or (mode == "merge" and url.startswith(("delta:", "iceberg:")))

    def one_process(number: int, killed_at: int | None = None) -> None:
        """Run the load before this one again, if it was killed; then this one."""
        if needs_spark:
            start_spark(folder / f"spark-{number}")
        if number > 3:
            finish(number - 1)
        if number > 1:
            watch_points(points, killed_at)
        loads.run(number)

    def finish(number: int) -> None:
        killed = points.read_text().splitlines()[-1]
        loads.run(number)
        print(json.dumps({"killed": killed, **loads.show(number)}), flush=True)

    def last_process(number: int) -> None:
        if needs_spark:
            start_spark(folder / "spark-last")
        finish(number)

    for number in (1, 2):
        assert in_fork(partial(one_process, number)) == 0
    total = len(points.read_text().splitlines())
    number = 2
    for number, killed_at in enumerate(evenly(total, kills), start=3):
        ended = in_fork(partial(one_process, number, killed_at))
        assert ended == signal.SIGKILL, (number, killed_at, ended)
    assert in_fork(partial(last_process, number)) == 0


def evenly(total: int, kills: int) -> list[int]:
    """That many numbers from 1 to a total, or all of these.

    >>> evenly(10, 4), evenly(3, 4)
    ([1, 4, 7, 10], [1, 2, 3])
    """
    if kills >= total:
        return [*range(1, total + 1)]
    return [1 + round(at * (total - 1) / (kills - 1)) for at in range(kills)]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
