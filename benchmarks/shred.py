"""A run of enriched events shredded, or by Spark alone with the types of all entities given."""

from __future__ import annotations

from time import perf_counter

STARTED = perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from enriched_events import TEXTS  # noqa: E402
from processes import cpu_seconds  # noqa: E402

_ENTITY = ", ".join(f"{text}: STRING" for text in (*TEXTS, "coupon"))
_DATA = f"STRUCT<{_ENTITY}, amount: DOUBLE, count: INT, isNew: BOOLEAN, at: TIMESTAMP>"
_PARSED = f"schema STRING, data STRUCT<schema: STRING, data: {_DATA}>"
_PARSED_LIST = f"schema STRING, data ARRAY<STRUCT<schema: STRING, data: {_DATA}>>"


def shred_by_spark(run: str, out: str) -> int:
    """Events and entities as Parquet, the entities of each family in a folder of their own."""
    from pyspark.sql import functions as f

    from trellis.dialects.snowplow.enriched.fields import ENTITY_FIELDS, FIELDS
    from trellis.engine.spark.session import get_session

    session = get_session()
    types = {"t": "TIMESTAMP", "i": "INT", "d": "DOUBLE"}
    schema = ", ".join(f"{field.name} {types.get(field.kind, 'STRING')}" for field in FIELDS)
    events = session.read.schema(schema).options(sep="\t", quote="").csv(run)
    events.drop(*ENTITY_FIELDS).write.parquet(f"{out}/events")
    event = f.array(f.from_json("unstruct_event", _PARSED).data)
    contexts = f.coalesce(f.from_json("contexts", _PARSED_LIST).data, f.array())
    entities = events.select("event_id", "collector_tstamp", f.explode(f.concat(event, contexts)).alias("e"))
    rows = entities.select("event_id", "collector_tstamp", "e.schema", "e.data.*")
    family = f.element_at(f.split("schema", "/"), 2).alias("family")
    rows.select("*", family).write.partitionBy("family").parquet(f"{out}/entities")
    return int(session.read.parquet(f"{out}/events").count())


def shred_by_trellis(run: str, schemas: str, out: str, options: argparse.Namespace) -> int:
    from trellis.dialects.snowplow.client.references import RegistryReferences
    from trellis.dialects.snowplow.runs.shredder import Shredder
    from trellis.engine.spark.job import SparkRunner

    settings = {"validate": "false" if options.without_validation else "true", "layout": options.layout}
    shredder = Shredder(
        Path(out),
        RegistryReferences.open(schemas),
        SparkRunner(),
        options.format,
        deduplication="none",
        settings=settings,
    )
    [report] = shredder.shred(run)
    return report.rows.loaded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("schemas")
    parser.add_argument("out")
    parser.add_argument("--floor", action="store_true", help="by Spark alone")
    parser.add_argument("--format", default="parquet")
    parser.add_argument("--layout", default="model")
    parser.add_argument("--without-validation", action="store_true")
    parser.add_argument("--passes", type=int, default=2, help="the last one counts: the JVM is warm then")
    options = parser.parse_args()

    from trellis.engine.spark.session import get_session

    get_session().range(1).count()
    figures: dict[str, Any] = {"start": perf_counter() - STARTED, "seconds": [], "cpu": []}
    for _ in range(options.passes):
        shutil.rmtree(options.out, ignore_errors=True)
        began = perf_counter(), cpu_seconds(os.getpid())
        if options.floor:
            rows = shred_by_spark(options.run, options.out)
        else:
            rows = shred_by_trellis(options.run, options.schemas, options.out, options)
        figures["seconds"].append(perf_counter() - began[0])
        figures["cpu"].append(cpu_seconds(os.getpid()) - began[1])
    print(json.dumps({**figures, "rows": rows}), flush=True)


if __name__ == "__main__":
    main()
