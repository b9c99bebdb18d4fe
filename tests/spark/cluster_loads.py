"""The loads that `test_cluster.py` looks at, all in one session: `cluster_loads.py MASTER EXAMPLES LARGE`.

Prints what each load said as one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import trellis
from trellis.errors import TrellisError


def main(master: str, examples: str, large: str) -> None:
    results: dict[str, Any] = {}

    def load(name: str, to: str, *sources: str, **settings: str) -> None:
        shop = trellis.pipeline("shop", to=to, master=master, settings=settings)
        try:
            report = shop.load(list(sources), table="events", load_id=name)
            results[name] = {"rows": report.rows.loaded, "hash": report.schema.stored_hash}
        except TrellisError as error:
            results[name] = {"error": str(error)}

    for name in ("events-1.jsonl", "events-2.jsonl"):
        load(name, "duckdb:demo.duckdb", os.path.relpath(f"{examples}/{name}"))
    load("large", "duckdb:large.duckdb", os.path.relpath(large))
    Path("failure").write_text("slow")
    attempts = Path("failure.attempts")
    load("speculated", "duckdb:speculated.duckdb", "a.jsonl", "b.jsonl", json_normalizer="failing_normalizer")
    results["speculated"]["attempts"] = len(attempts.read_text().splitlines())
    attempts.unlink()
    Path("failure.done").unlink()
    Path("failure").write_text("once")
    load("killed", "duckdb:killed.duckdb", "a.jsonl", "b.jsonl", json_normalizer="failing_normalizer")
    results["killed"]["attempts"] = len(attempts.read_text().splitlines())
    # A folder that the driver alone has open is a path that means nothing to any other process.
    folder = os.open(".", os.O_RDONLY)
    load("unseen", f"duckdb:/proc/self/fd/{folder}/unseen.duckdb", "a.jsonl")
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
