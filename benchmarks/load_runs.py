"""A shredded run loaded into PostgreSQL, and the same files by COPY into tables of the same definition."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from processes import cpu_seconds

if TYPE_CHECKING:
    from psycopg import Connection

    from trellis.dialects.snowplow.runs.manifest import RunManifest

DATASET, COPIED = "atomic", "bench_copy"


def shredded(run: str, schemas: str, out: Path) -> Path:
    """The run folder with files for PostgreSQL."""
    from trellis.dialects.snowplow.client.references import RegistryReferences
    from trellis.dialects.snowplow.runs.shredder import Shredder
    from trellis.engine.spark.job import SparkRunner

    resolve = RegistryReferences.open(schemas)
    [_] = Shredder(out, resolve, SparkRunner(), profile="postgres", deduplication="none").shred(run)
    return out / Path(run).name


def load(database: str, schemas: str, run: Path) -> None:
    from trellis.dialects.snowplow.client.locator import open_registry
    from trellis.dialects.snowplow.runs.loading.loader import RunLoader
    from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse

    warehouse = open_warehouse(database)
    [_] = RunLoader(warehouse, open_registry(schemas), DATASET).load(str(run))
    warehouse.close()


def copy_alone(db: Connection[Any], run: Path, manifest: RunManifest) -> None:
    """Copy the files in one transaction; they have no backslashes but those of NULL."""
    from trellis.destinations.sql.names import quoted
    from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
    from trellis.dialects.snowplow.runs.layouts import events_path

    jobs = [(table.table, table.columns, table.path, r"\N") for table in manifest.tables]
    events = tuple(field.name for field in ATOMIC_FIELDS)
    jobs.append(("events", events, events_path(manifest.layout, manifest.format), ""))
    with db.transaction(), db.cursor() as cursor:
        for table, columns, path, null in jobs:
            target = f"{COPIED}.{table} ({', '.join(map(quoted, columns))})"
            with cursor.copy(f"COPY {target} FROM STDIN (NULL '{null}')".encode()) as copy:
                for file in sorted((run / path).glob("part-*")):
                    copy.write(file.read_bytes())


def measure(work: Callable[[], object]) -> dict[str, float]:
    """Seconds, and those of this process's processor."""
    began, cpu_began = perf_counter(), cpu_seconds(os.getpid())
    work()
    return {"seconds": perf_counter() - began, "cpu": cpu_seconds(os.getpid()) - cpu_began}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("schemas")
    parser.add_argument("out")
    parser.add_argument("database")
    options = parser.parse_args()

    import psycopg

    from trellis.dialects.snowplow.runs.manifest import RunManifest

    run = shredded(options.run, options.schemas, Path(options.out))
    manifest = RunManifest.read(run)
    figures: dict[str, Any] = {}
    figures["load"] = measure(lambda: load(options.database, options.schemas, run))
    with psycopg.connect(options.database, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {COPIED}")
        for table in {"events", *(table.table for table in manifest.tables)}:
            db.execute(f"CREATE TABLE {COPIED}.{table} (LIKE {DATASET}.{table})")
        figures["copy"] = measure(lambda: copy_alone(db, run, manifest))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
