"""A script that kills loads: at every so many lines of the code that commits, and after some milliseconds.

    python killing.py URL_WITH_{} WORK_FOLDER MODE LINES DELAYS

{} stands for the folder of a warehouse of files, or for the end of the name of a database.

Each load is run in a fork of this process. It is killed, run again, and what is then in the destination is
printed, one JSON object a line: {"killed": ..., "tables": {name: rows}, "loads": number, "seen": rows}.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import orjson  # noqa: F401  what a load needs is imported before the forks
import psycopg
import pyarrow.csv
import pyarrow.parquet  # noqa: F401

from trellis.destinations import open_destination
from trellis.destinations.postgres.names import staging_schema
from trellis.pipelines.pipeline import pipeline

FIRST = [{"id": n, "v": f"first {n}", "k": [{"n": n}, {"n": n}]} for n in range(100)]
THIRD = [{"id": n, "v": f"third {n}", "k": [{"n": n}]} for n in range(150, 160)]
SECOND = [{"id": n, "v": f"second {n}", "k": [{"n": n}], "late": n} for n in range(50, 150)]
NEW_ONLY = "new-only"
"""A mode: files of a folder that are new, and another one that comes before the load is run again."""
TRACED = (
    "/trellis/destinations/",
    "/trellis/pipelines/pipeline.py",
    "/trellis/pipelines/loading/attempt.py",
    "/trellis/engine/staging/inflight.py",
)


class Folders:
    """Places for warehouses of files: a folder each."""

    def __init__(self, url: str, folder: Path) -> None:
        self.template = url
        self.folder = folder

    def url(self, place: str) -> str:
        return self.template.format(self.folder / place)

    def make(self, place: str, like: str | None = None) -> None:
        if like is None:
            (self.folder / place).mkdir()
        else:
            shutil.copytree(self.folder / like, self.folder / place)

    def drop(self, place: str) -> None:
        shutil.rmtree(self.folder / place)


class Databases:
    """Places on a server of PostgreSQL: a database each."""

    def __init__(self, url: str, _: Path) -> None:
        self.template = url

    def url(self, place: str) -> str:
        return self.template.format(place)

    def make(self, place: str, like: str | None = None) -> None:
        template = "" if like is None else f' TEMPLATE "{self._name(like)}"'
        self._run(f'CREATE DATABASE "{self._name(place)}"{template}')

    def drop(self, place: str) -> None:
        self._run(f'DROP DATABASE "{self._name(place)}" WITH (FORCE)')

    def _name(self, place: str) -> str:
        return self.url(place).rpartition("/")[2]

    def _run(self, statement: str) -> None:
        with psycopg.connect(f"{self.template.rpartition('/')[0]}/postgres", autocommit=True) as db:
            db.execute(statement.encode())


def load(url: str, file: Path, mode: str, load_id: str | None = None) -> None:
    if mode == NEW_ONLY:  # the file is one more in a folder
        incoming = file.parent / "incoming"
        if not (incoming / file.name).exists():  # a copy that is killed would leave a part of it
            shutil.copy2(file, incoming)
        pipeline("shop", to=url).load(str(incoming), table="t", new_only=True)
        return
    keys: Any = {"keys": ("id",)} if mode == "merge" else {}
    pipeline("shop", to=url).load(str(file), table="t", mode=mode, load_id=load_id, **keys)


def in_fork(work: Callable[[], None], kill_after: float | None = None) -> int:
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
    if kill_after is not None:
        limit = time.monotonic() + kill_after
        while time.monotonic() < limit:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def counting_lines(work: Callable[[], None], at: int | None, lines_file: Path) -> Callable[[], None]:
    """The work, killed at that line of the traced code; or run to its end, and the lines counted."""
    count = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
        return line

    def call(frame: FrameType, event: str, arg: Any) -> Any:
        return line if any(part in frame.f_code.co_filename for part in TRACED) else None

    def traced() -> None:
        sys.settrace(call)
        work()
        sys.settrace(None)
        lines_file.write_text(str(count))

    return traced


def attempts(folder: Path, url: str, mode: str, lines: int, delays: int) -> Iterator[dict[str, Any]]:
    first, second, third = (folder / f"{name}.jsonl" for name in ("first", "second", "third"))
    (folder / "incoming").mkdir()
    for file, rows in ((first, FIRST), (second, SECOND), (third, THIRD)):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines_file, places = folder / "lines", (Databases if url.startswith("postgres") else Folders)(url, folder)
    places.make("start")
    ended = in_fork(lambda: load(places.url("start"), first, mode))
    assert ended == 0, ("first", ended)

    def one(name: str, at: int | None = None, after: float | None = None) -> dict[str, Any]:
        shown = folder / f"{name}.json"
        places.make(name, like="start")
        (folder / "incoming" / third.name).unlink(missing_ok=True)
        to, began = places.url(name), time.monotonic()
        load_id = None if after is None else "second"  # it may have ended before the signal came

        def work() -> None:
            load(to, second, mode, load_id)

        def again() -> None:
            if mode == NEW_ONLY:
                load(to, third, mode)
            elif killed or load_id:
                work()
            shown.write_text(json.dumps(looked_at(to)))

        killed = in_fork(counting_lines(work, at, lines_file) if after is None else work, after)
        took = time.monotonic() - began
        assert killed in (0, signal.SIGKILL), (name, "killed", killed)
        ended = in_fork(again)
        assert ended == 0, (name, "again", ended)
        places.drop(name)
        return {"name": name, "killed": killed != 0, "seconds": took, **json.loads(shown.read_text())}

    whole = one("whole")
    yield whole
    total = int(lines_file.read_text())
    for number in range(lines):
        at = 1 + total * number // lines
        yield one(f"line-{at}", at=at)
    for number in range(delays):
        yield one(f"delay-{number}", after=whole["seconds"] * 1.1 * number / delays)
    places.drop("start")


def looked_at(url: str) -> dict[str, Any]:
    """What is there by the destination itself, and for Parquet by a reader that knows no manifest."""
    destination = open_destination(url)
    dataset = destination.abilities.default_dataset
    seen, left = {}, []
    root = Path(url.partition(":")[2])
    if root.is_dir():
        for table in ("t", "t__k", "_dlt_loads"):
            seen[table] = duckdb.sql(f"SELECT count(*) FROM '{root / table}/**/*.parquet'").fetchall()[0][0]
        left = [str(path) for part in ("staging/*", "intents/*") for path in (root / "_trellis").glob(part)]
    if url.startswith("postgres"):
        left = [*destination.catalog(staging_schema(dataset))]
    return {
        "tables": dict(destination.row_counts(dataset)),
        "values": [f"{row['v'].split()[0]}{row['id']}" for row in destination.query(dataset, "t")],
        "seen": seen,
        "left": left,
    }


if __name__ == "__main__":
    url, folder, mode, lines, delays = sys.argv[1:]
    for result in attempts(Path(folder), url, mode, int(lines), int(delays)):
        print(json.dumps(result), flush=True)
