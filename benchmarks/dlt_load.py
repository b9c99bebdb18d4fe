"""dlt with Parquet files to DuckDB: lines parsed by orjson and handed over as lists of dicts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

STARTED = perf_counter()

from protocol import Loads, parser, sources  # noqa: E402

CHUNK = 10_000


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--workers", type=int, default=1)
    options = options_of.parse_args()

    folder = Path(options.folder).resolve()
    os.environ |= {
        "RUNTIME__DLTHUB_TELEMETRY": "false",
        "RUNTIME__LOG_LEVEL": "CRITICAL",
        "DLT_DATA_DIR": str(folder / "dlt"),
        "NORMALIZE__WORKERS": str(options.workers),
        "NORMALIZE__START_METHOD": "spawn",
        "SOURCES__DATA_WRITER__FILE_MAX_ITEMS": "50000",  # several files, so that workers share the work
    }
    import dlt
    import orjson

    def events(source: str) -> Iterator[list[dict[str, Any]]]:
        with open(source, "rb") as lines:
            while chunk := [orjson.loads(line) for line in islice(lines, CHUNK)]:
                yield chunk

    pipeline = dlt.pipeline(
        "bench",
        destination=dlt.destinations.duckdb(str(folder / "shop.duckdb")),
        dataset_name="events_of_shop",
    )
    loads, rows = Loads(STARTED), 0
    for source in sources(options):
        with loads:
            rows_of = dlt.resource(events, name="events", **merge(options.merge))
            pipeline.run(rows_of(source), loader_file_format="parquet")
        rows = rows or pipeline.last_trace.last_normalize_info.row_counts["events"]
    loads.finish(rows, note=f"normalize workers: {options.workers}")


def merge(strategy: str | None) -> dict[str, Any]:
    """The hints of a resource that merges by id."""
    if strategy is None:
        return {}
    key = "merge_key" if strategy == "scd2" else "primary_key"
    return {"write_disposition": {"disposition": "merge", "strategy": strategy}, key: "id"}


if __name__ == "__main__":
    main()
