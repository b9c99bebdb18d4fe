"""A script that kills loads into a lake before and after each change of a table, and runs them again.

    python lake_kill_points.py URL_WITH_{} WORK_FOLDER MODE

{} stands for the folder of a lake. Loads are run in forks of this process, which share no JVM and no threads
of deltalake. What is then in the lake is printed, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from conftest import start_spark
from trellis.destinations import open_destination
from trellis.destinations.iceberg.store import IcebergStore
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.merge import MergeContext
from trellis.pipelines.pipeline import pipeline

FIRST = [{"id": n, "v": f"first {n}", "k": [{"n": n}, {"n": n}]} for n in range(10)]
SECOND = [{"id": n, "v": f"second {n}", "k": [{"n": n}], "late": n} for n in range(5, 15)]
CHANGES = {
    DeltaStore: ("create_table", "add_columns", "write_files"),
    IcebergStore: ("create_table", "add_columns", "write_files"),
    MergeContext: ("run_merge",),
}
"""The methods that change a table of a lake."""


def load(url: str, rows: list[dict[str, Any]], mode: str, load_id: str) -> None:
    keys: Any = {"keys": ("id",)} if mode == "merge" else {}
    pipeline("shop", to=url).load(rows, table="t", mode=mode, load_id=load_id, **keys)


def in_fork(work: Callable[[], None]) -> int:
    """The status with which a fork of this process ends."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as bad:
            print(f"{type(bad).__name__}: {bad}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def kill_at(point: int, points: Path) -> None:
    """Let this process be killed at a point; the points that it passes are written to a file."""
    passed: list[str] = []

    def reach(name: str) -> None:
        passed.append(name)
        points.write_text("\n".join(passed))
        if len(passed) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrap(kind: type, method: str) -> None:
        inner = getattr(kind, method)

        def changed(store: Any, table: Any, *arguments: Any, **options: Any) -> Any:
            name = f"{method} {getattr(table, 'table', table)}"
            reach(f"before {name}")
            result = inner(store, table, *arguments, **options)
            reach(f"after {name}")
            return result

        setattr(kind, method, changed)

    for kind, methods in CHANGES.items():
        for method in methods:
            wrap(kind, method)


def show(url: str) -> dict[str, Any]:
    destination = open_destination(url)
    dataset = destination.abilities.default_dataset
    return {
        "tables": dict(destination.row_counts(dataset)),
        "values": sorted(row["v"] for row in destination.query(dataset, "t")),
        "late": sorted(row["late"] for row in destination.query(dataset, "t") if row["late"] is not None),
    }


def main(template: str, folder: Path, mode: str) -> None:
    """Tables of Iceberg know where they are, so every place gets its own first load."""

    def session(name: str) -> None:
        if mode == "merge":
            start_spark(folder / f"spark-{name}")

    def first_loads(places: Sequence[str]) -> None:
        session("first")
        for place in places:
            load(template.format(folder / place), FIRST, mode, "first")

    def second_load(place: str, point: int = 0) -> None:
        session(place)
        kill_at(point, folder / f"{place}.points")
        load(template.format(folder / place), SECOND, mode, "second")

    def run_again(points: Sequence[str]) -> None:
        session("again")
        for point, name in enumerate(points, start=1):
            url = template.format(folder / f"{point}")
            load(url, SECOND, mode, "second")
            print(json.dumps({"killed": name, **show(url)}), flush=True)

    assert in_fork(lambda: first_loads(["whole"])) == 0
    assert in_fork(lambda: second_load("whole")) == 0
    points = (folder / "whole.points").read_text().splitlines()
    numbers = range(1, len(points) + 1)
    assert in_fork(lambda: first_loads([str(number) for number in numbers])) == 0
    for number in numbers:
        assert in_fork(partial(second_load, str(number), number)) == signal.SIGKILL
    assert in_fork(lambda: run_again(points)) == 0


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
