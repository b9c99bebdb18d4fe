"""Trellis: the same lines through a pipeline; the first load meets an empty destination."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter
from typing import Any

STARTED = perf_counter()

from protocol import Loads, parser, sources  # noqa: E402


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--to", choices=("parquet", "duckdb", "postgresql"), default="parquet")
    options_of.add_argument("--schema", metavar="FILE", help="an authored schema")
    options_of.add_argument("--table-config", metavar="FILE", help="a table config of Pinot")
    options_of.add_argument("--master", default=f"local[{os.cpu_count() or 2}]")
    options = options_of.parse_args()

    import trellis
    from trellis.engine.spark.session import get_session

    get_session(options.master).range(1).count()
    settings = {"table_config": options.table_config} if options.table_config else {}
    pipeline = trellis.pipeline("bench", to=place(options), dialect=options.dialect, settings=settings)
    table = "events" if options.dialect == "dlt" else None
    given = {"schema": Path(options.schema)} if options.schema else {}
    loads = Loads(STARTED)
    reports = []
    for source in sources(options):
        with loads:
            reports.append(pipeline.load(source, table, **merge(options.merge), **given))
    if not all(report.balanced for report in reports):
        raise SystemExit("the rows do not balance")
    first, last = reports[0], reports[-1]
    columns = sum(len(last.schema.tables[each.name].columns) for each in last.tables)
    loads.finish(
        first.rows.loaded,
        steps=[dict(report.seconds) for report in reports],
        tables=len(first.tables),
        discards=first.discards.count,
        note=f"{len(last.tables)} tables, {columns:,} columns, {last.discards.count:,} discards",
    )


def merge(strategy: str | None) -> dict[str, Any]:
    """The options of a load that merges by id."""
    if strategy is None:
        return {}
    key = "merge_keys" if strategy == "scd2" else "keys"
    return {"mode": "merge", "strategy": strategy, key: ("id",)}


def place(options: argparse.Namespace) -> str:
    """The URL of an empty destination."""
    if options.to != "postgresql":
        return f"{options.to}:{options.folder}/{'lake' if options.to == 'parquet' else 'shop.duckdb'}"
    import psycopg
    from psycopg.sql import SQL, Identifier

    with psycopg.connect(options.database, autocommit=True) as db:
        schemas = db.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'")
        for (name,) in schemas.fetchall():
            db.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))
        db.execute("CREATE SCHEMA public")
    return str(options.database)


if __name__ == "__main__":
    main()
