"""DuckDB alone: `read_json_auto`, which looks at a sample, to a table in a file.

Where the sample is not enough it refuses the file; then it is asked again to look at everything.
"""

from __future__ import annotations

from time import perf_counter

STARTED = perf_counter()

from protocol import Loads, parser  # noqa: E402


def main() -> None:
    options = parser(__doc__).parse_args()

    import duckdb

    def read(path: str, sample: str) -> int:
        with duckdb.connect(path) as db:
            db.execute("SET enable_progress_bar = false")
            db.execute(f"CREATE TABLE events AS FROM read_json_auto(?{sample})", [options.source])
            (rows,) = db.execute("SELECT count(*) FROM events").fetchone() or (0,)
        return int(rows)

    sample, rows = "", 0
    try:
        read(f"{options.folder}/try.duckdb", sample)
    except duckdb.InvalidInputException:
        sample = ", sample_size = -1"
    loads = Loads(STARTED)
    for number in range(options.loads):
        with loads:
            rows = read(f"{options.folder}/{number}.duckdb", sample)
    loads.finish(rows, note="refused with its sample; sample_size = -1" if sample else "")


if __name__ == "__main__":
    main()
