"""Spark's own start and a trivial job: what a load of few rows cannot be compared with more kindly."""

from __future__ import annotations

from time import perf_counter

STARTED = perf_counter()

from protocol import Loads  # noqa: E402


def main() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    loads = Loads(STARTED)
    with loads:
        rows = session.range(1000).count()
    loads.finish(rows)


if __name__ == "__main__":
    main()
