"""Trellis: the same lines through a pipeline; the first load meets an empty destination."""

from __future__ import annotations

import os
from time import perf_counter

STARTED = perf_counter()

from protocol import Loads, parser  # noqa: E402


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--to", choices=("parquet", "duckdb"), default="parquet")
    options_of.add_argument("--master", default=f"local[{os.cpu_count() or 2}]")
    options = options_of.parse_args()

    import trellis
    from trellis.spark.session import get_session

    get_session(options.master).range(1).count()
    place = f"{options.folder}/lake" if options.to == "parquet" else f"{options.folder}/shop.duckdb"
    pipeline = trellis.pipeline("bench", to=f"{options.to}:{place}", master=options.master)
    loads = Loads(STARTED)
    reports = []
    for _ in range(options.loads):
        with loads:
            reports.append(pipeline.load(options.source, "events"))
    if not all(report.balanced for report in reports):
        raise SystemExit("the rows do not balance")
    loads.finish(
        reports[0].rows.loaded,
        steps=[dict(report.seconds) for report in reports],
        tables=len(reports[0].tables),
        discards=reports[0].discards.count,
    )


if __name__ == "__main__":
    main()
