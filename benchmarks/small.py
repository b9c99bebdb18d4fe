"""Spark's own start and a trivial job: what a load of few rows cannot be compared with more kindly."""

from __future__ import annotations

from time import perf_counter

STARTED = perf_counter()

from protocol import Loads  # noqa: E402


def main() -> None:
    from trellis.engine.spark.session import get_session

    session = get_session()
    loads = Loads(STARTED)
    with loads:
        rows = session.range(1000).count()
    loads.finish(rows)


if __name__ == "__main__":
    main()
