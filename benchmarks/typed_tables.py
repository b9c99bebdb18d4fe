"""Tables of YTsaurus: sorts and merges beside plain Spark writing Parquet, and what 10,000 chunks cost."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import trellis
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.attributes import get
from trellis.dialects.ytsaurus.store.operations import erase, merge, sort
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, CHUNKS, INPUTS = 10_000_000, 10_000, 8
MOST = 2**40
"""Keys are less."""
SPARK = EngineChoice("spark")
KEY = (SortColumn("k"),)
COLUMNS = [{"name": "k", "type": "int64", "sort_order": "ascending"}, {"name": "v", "type": "int64"}]


def seconds(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


def start_spark() -> SparkSession:
    """With the settings of a session that Trellis starts."""
    from pyspark.sql import SparkSession

    from trellis.engine.spark.local_mode import LOCAL_MASTER, local_settings

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {**local_settings(short=False), "spark.ui.showConsoleProgress": "false"}
    return SparkSession.builder.master(LOCAL_MASTER).config(map=settings).getOrCreate()


def generate(spark: SparkSession, rows: int, skewed: bool) -> DataFrame:
    """About 100 bytes a row."""
    from pyspark.sql.functions import col, lit, rand, sha2, when

    key = (rand(7) * MOST).cast("bigint")
    frame = spark.range(rows).withColumn("k", when(rand(8) < 0.9, lit(5)).otherwise(key) if skewed else key)
    return frame.select("k", sha2(col("id").cast("string"), 256).alias("v"), (col("id") / 7).alias("d"))


def measure_spark(spark: SparkSession, store: Store, folder: Path, rows: int) -> dict[str, float]:
    """Seconds of operations on Spark, and of what plain Spark does with the same rows."""
    from pyspark.sql.functions import lit

    from trellis.dialects.ytsaurus.spark.session import enable_yt

    enable_yt(spark, f"yt:{store.folder}")

    def write(frame: DataFrame, name: str) -> None:
        frame.write.option("compression", "lz4").mode("overwrite").parquet(str(folder / name))

    def frame_of(path: str) -> DataFrame:
        frame: DataFrame = spark.read.yt(path)  # type: ignore[attr-defined]
        return frame

    figures = {}
    for name, skewed in (("sort", False), ("skewed sort", True)):
        generate(spark, rows, skewed).write.yt("//tmp/rows", mode="overwrite")  # type: ignore[attr-defined]
        write(frame_of("//tmp/rows"), "rows")
        plain = spark.read.parquet(str(folder / "rows"))
        figures[f"{name} by Spark"] = seconds(partial(write, plain.sort("k"), "sorted"))
        figures[name] = seconds(partial(sort, store, ["//tmp/rows"], "//tmp/sorted", KEY, None, SPARK))
    inputs = [f"//tmp/input{number}" for number in range(INPUTS)]
    for number, path in enumerate(inputs):
        frame = generate(spark, rows // INPUTS, False).withColumn("n", lit(number))
        frame.write.sorted_by("k").yt(path, mode="overwrite")  # type: ignore[attr-defined]
        write(frame_of(path), f"input{number}")
    plain = spark.read.parquet(*(str(folder / f"input{number}") for number in range(INPUTS)))
    figures["union by Spark"] = seconds(partial(write, plain, "merged"))
    figures["union and sort by Spark"] = seconds(partial(write, plain.sort("k"), "merged"))
    figures["sorted merge"] = seconds(partial(merge, store, inputs, "//tmp/merged", "sorted", None, SPARK))
    return figures


def measure_loads(spark: SparkSession, store: Store, folder: Path, rows: int) -> dict[str, float]:
    """Seconds of typed writes of files, and of Spark alone with the same files under the same schema."""
    frame = generate(spark, rows, False)
    schema = "[{name=k;type=int64};{name=v;type=utf8};{name=d;type=double}]\n"
    pipeline = trellis.pipeline("typed", f"yt:{store.folder}", dialect="ytsaurus")
    figures = {}
    for form in ("json", "parquet"):
        files, plain = folder / f"{form}-files", folder / f"{form}-plain"
        frame.write.format(form).save(str(files))
        reader = spark.read.format(form).schema(frame.schema)
        write = reader.load(str(files)).write.option("compression", "lz4").parquet
        figures[f"{form} by Spark"] = seconds(partial(write, str(plain)))
        load = partial(pipeline.load, f"{files}/*.{form}", schema=schema, table=f"//tmp/{form}")
        figures[f"typed write of {form}"] = seconds(load)
    return figures


def measure_chunks(store: Store, chunks: int) -> dict[str, float]:
    """Seconds of what reads no data, on tables of so many chunks."""
    path, sorted_path = f"//tmp/chunks{chunks}", f"//tmp/sorted{chunks}"
    plain = [{"name": column["name"], "type": column["type"]} for column in COLUMNS]
    for name, columns in ((path, plain), (sorted_path, COLUMNS)):
        store.create("table", name, {"schema": columns})
        write_rows(store, name, [{"k": 1, "v": row} for row in range(10)])
        node = store.node(name).id
        (part,) = store.catalog.slices(node)
        with store.catalog.transaction():
            store.catalog.append_slices(node, [part] * (chunks - 1))
    rows = [{"k": row} for row in range(1_000)]
    return {
        "ordered merge": seconds(partial(merge, store, [sorted_path], "//tmp/ordered", "ordered")),
        "unordered merge": seconds(partial(merge, store, [path], "//tmp/unordered", "unordered")),
        "copy": seconds(partial(store.copy, path, f"{path}-copy")),
        "erase": seconds(partial(erase, store, f"{path}-copy")),
        "append of 1,000 rows": seconds(partial(write_rows, store, f"<append=%true>{path}", rows)),
        "row count": seconds(partial(get, store, f"{path}/@row_count")),
        "schema": seconds(partial(get, store, f"{path}/@schema")),
        "alter": seconds(partial(alter_table, store, path, [*plain, {"name": "w", "type": "utf8"}])),
    }


def measure_reads(store: Store, rows: int) -> dict[str, float]:
    """Seconds of about 1,000 rows by their keys, of 2 of 50 columns in both layouts, and of all of them."""

    def read(path: str) -> None:
        for _ in open_source(store, path).read_rows():
            pass

    lower, width = MOST // 2, MOST * 1000 // rows
    figures = {"1,000 rows by key": seconds(partial(read, f"//tmp/merged[{lower}:{lower + width}]"))}
    names = [f"c{number}" for number in range(50)]

    def wide() -> Iterator[dict[str, int]]:  # made as they are written: a heap full of rows slows the reads
        return (dict.fromkeys(names, row) for row in range(max(rows // 100, 1_000)))

    for layout in ("scan", "lookup"):
        schema = [{"name": name, "type": "int64"} for name in names]
        store.create("table", f"//tmp/{layout}", {"schema": schema, "optimize_for": layout})
        write_rows(store, f"//tmp/{layout}", wide())
        figures[f"2 of 50 columns, {layout}"] = seconds(partial(read, f"//tmp/{layout}{{c0,c49}}"))
    store.create("table", "//tmp/weak")
    write_rows(store, "//tmp/weak", wide())
    figures["50 columns, strong"] = seconds(partial(read, "//tmp/lookup"))
    figures["50 columns, weak"] = seconds(partial(read, "//tmp/weak"))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store.open(f"yt:{folder}/store") as store:
        few, many = (measure_chunks(store, chunks) for chunks in (10, options.chunks))
        spark = start_spark()
        figures = measure_spark(spark, store, Path(folder), options.rows)
        figures |= measure_loads(spark, store, Path(folder), options.rows)
        figures |= measure_reads(store, options.rows)
    print(json.dumps({"seconds": figures, "few chunks": few, "many chunks": many}))


if __name__ == "__main__":
    main()
