"""Delta tables beside what a person writes for Spark: a load, a merge, micro-batches, and a cluster.

Prints seconds, those of the last of the loads that are alike.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from contest import generated
from merges import updated
from protocol import spark_schema

import trellis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TESTS = Path(__file__).parent.parent / "tests"
PROFILE = "flat"
BATCH_ROWS = 1_000
WAIT = 3600


def seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


@contextmanager
def delta_session(master: str) -> Iterator[SparkSession]:
    sys.path.insert(0, str(TESTS))
    from pyspark.sql import SparkSession

    from lake_jars import lake_settings

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for name, value in lake_settings().items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def read_json(session: SparkSession, path: Path) -> DataFrame:
    return session.read.schema(spark_schema(PROFILE, str(path))).json(str(path))


def measure_loads(session: SparkSession, data: Path, folder: Path, rows: int, loads: int) -> dict[str, float]:
    """The same file appended again and again, by Spark alone and by Trellis in turn."""
    path = generated(data, PROFILE, rows).path
    lake = trellis.pipeline("bench", to=f"delta:{folder}/lake", engine="spark")

    def append() -> None:
        read_json(session, path).write.format("delta").mode("append").save(f"{folder}/plain")

    figures = {}
    for _ in range(loads):
        figures["load by Spark"] = seconds(append)
        figures["load"] = seconds(lambda: lake.load(str(path), "events"))
    return figures


def measure_merges(session: SparkSession, data: Path, folder: Path, rows: int) -> dict[str, float]:
    """A tenth of the rows of a table brought again, changed: Trellis, and a MERGE written by hand, in turns.

    The median of the last five of seven merges each, as the first ones also compile what they need. Each turn
    begins with another one, as the first of a turn takes longer than it does after one like it.
    """
    files = updated(data, rows)
    assert files.next is not None
    read_json(session, files.path).write.format("delta").save(f"{folder}/plain")
    read_json(session, files.next).createOrReplaceTempView("updates")

    def merge_by_hand() -> None:
        session.sql(
            f"MERGE INTO delta.`{folder}/plain` AS t USING updates AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        ).collect()

    merges: dict[str, Callable[[], object]] = {"merge by hand": merge_by_hand}
    for strategy in ("upsert", "delete-insert"):
        lake = trellis.pipeline("bench", to=f"delta:{folder}/{strategy}", engine="spark")
        lake.load(str(files.path), "events")
        merge: dict[str, Any] = {"mode": "merge", "strategy": strategy, "keys": ("id",)}
        merges[f"merge, {strategy}"] = partial(lake.load, str(files.next), "events", **merge)
    names = deque(merges)
    turns = []
    for _ in range(7):
        turns.append({name: seconds(merges[name]) for name in names})
        names.rotate()
    return {name: median(turn[name] for turn in turns[2:]) for name in merges}


def measure_batches(session: SparkSession, data: Path, folder: Path, batches: int) -> dict[str, float]:
    """The median of the seconds from the end of a micro-batch to the end of the next, after the first two."""
    raw = write_batches(generated(data, PROFILE, batches * BATCH_ROWS).path, folder / "raw", batches)
    ends: dict[str, list[float]] = {"batch by Spark": [], "batch": []}

    def append(frame: DataFrame, _: int) -> None:
        frame.write.format("delta").mode("append").save(f"{folder}/plain")
        ends["batch by Spark"].append(perf_counter())

    files = session.readStream.schema(spark_schema(PROFILE, str(next(raw.iterdir()))))
    query = files.option("maxFilesPerTrigger", 1).json(str(raw)).writeStream.foreachBatch(append)
    query.option("checkpointLocation", f"{folder}/checkpoint").trigger(
        availableNow=True
    ).start().awaitTermination()
    lake = trellis.pipeline("bench", to=f"delta:{folder}/lake", engine="spark")
    stream = lake.stream(
        str(raw),
        "events",
        on_batch=lambda _: ends["batch"].append(perf_counter()),
        trigger="available-now",
        read_options={"maxFilesPerTrigger": 1},
    )
    assert stream.wait(WAIT)
    return {
        name: median(later - earlier for earlier, later in pairwise(moments[2:]))
        for name, moments in ends.items()
    }


def write_batches(source: Path, folder: Path, batches: int) -> Path:
    """A folder of files of a batch each."""
    folder.mkdir()
    with source.open() as lines:
        for number in range(batches):
            path = folder / f"{number:04}.jsonl"
            path.write_text("".join(islice(lines, BATCH_ROWS)))
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return folder


def measure_sizes(data: Path, folder: Path, rows: int) -> dict[str, float]:
    """A load, and one of ten times the rows, on a standalone cluster of two executors of one core."""
    sys.path.insert(0, str(TESTS))
    from spark.cluster import standalone

    with standalone(folder) as (master, variables):
        os.environ.update(variables)
        with delta_session(master):
            lake = trellis.pipeline("bench", to=f"delta:{folder}/lake", engine="spark")
            lake.load(str(generated(data, PROFILE, BATCH_ROWS).path), "events")
            return {
                name: seconds(partial(lake.load, str(generated(data, PROFILE, count).path), "events"))
                for name, count in (("rows on 2 executors", rows), ("rows x10 on 2 executors", 10 * rows))
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measure", choices=("loads", "merges", "batches", "sizes"))
    parser.add_argument("data", type=Path, help="the folder of generated files")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--loads", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.data) as place:
        folder = Path(place)
        if options.measure == "sizes":
            figures = measure_sizes(options.data, folder, options.rows // 10)
        else:
            with delta_session(f"local[{os.cpu_count() or 2}]") as session:
                if options.measure == "loads":
                    figures = measure_loads(session, options.data, folder, options.rows, options.loads)
                elif options.measure == "merges":
                    figures = measure_merges(session, options.data, folder, options.rows)
                else:
                    figures = measure_batches(session, options.data, folder, options.batches)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
