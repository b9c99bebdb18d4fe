"""The rows of all entities of a shredded run into DuckDB and PostgreSQL, by the format of its files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from enriched_events import RUN, VENDOR
from event_streams import temporary_database

from trellis.dialects.snowplow.columns.declarations import METADATA

DATA = {
    "name": "VARCHAR",
    "amount": "DOUBLE PRECISION",
    "at": "TIMESTAMP",
    "count": "INTEGER",
    "is_new": "BOOLEAN",
    "note": "VARCHAR",
    "place": "VARCHAR",
    "coupon": "VARCHAR",
}
"""In the order of the files: what is required, the others by name, what came later."""
COLUMNS = {
    column.name: "TIMESTAMP" if column.type.name == "TIMESTAMP" else "VARCHAR" for column in METADATA
} | DATA
_JSON = """SELECT schema.vendor, schema.name, schema.format, schema.version, hierarchy.rootId,
  hierarchy.rootTstamp, hierarchy.refRoot, hierarchy.refTree::VARCHAR, hierarchy.refParent,
  data.name, data.amount, data.at, data.count, data.isNew, data.note, data.place, data.coupon
FROM read_json({files}, format = 'newline_delimited', hive_partitioning = false, columns = {{
  schema: 'STRUCT(vendor VARCHAR, name VARCHAR, format VARCHAR, version VARCHAR)',
  data: 'STRUCT(name VARCHAR, amount DOUBLE, "at" TIMESTAMP, "count" INTEGER, isNew BOOLEAN, note VARCHAR,
    place VARCHAR, coupon VARCHAR)',
  hierarchy: 'STRUCT(rootId VARCHAR, rootTstamp TIMESTAMP, refRoot VARCHAR, refTree VARCHAR[],
    refParent VARCHAR)'
}})"""


_LINES = """SELECT line #>> '{{schema,vendor}}', line #>> '{{schema,name}}', line #>> '{{schema,format}}',
  line #>> '{{schema,version}}', line #>> '{{hierarchy,rootId}}',
  (line #>> '{{hierarchy,rootTstamp}}')::timestamp, line #>> '{{hierarchy,refRoot}}',
  line #>> '{{hierarchy,refTree}}', line #>> '{{hierarchy,refParent}}', {data}
FROM (SELECT line::jsonb FROM lines OFFSET 0) AS lines(line)"""
_KEYS = {"is_new": "isNew"}


def load_duckdb(run: Path, format: str) -> int:
    """Load the entities of all families into one table each of a new database; the rows."""
    import duckdb

    db, rows = duckdb.connect(), 0
    for table, folder in _folders(run, format):
        db.execute(f"CREATE TABLE {table} ({_declarations()})")
        db.execute(f"INSERT INTO {table} BY NAME {_select(folder, format)}")
        rows += db.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    db.close()
    return rows


def load_postgres(url: str, run: Path, format: str) -> int:
    """The same by COPY: lines of JSON go through a table of their own, as their values have no order."""
    import psycopg

    rows = 0
    with psycopg.connect(url) as db:
        for table, folder in _folders(run, format):
            db.execute(f"CREATE TABLE {table} ({_declarations()})".encode())
            for file in sorted(folder.rglob("part-*")):
                target, options = f"{table} ({', '.join(_names(file))})", ""
                if format == "json":
                    db.execute("CREATE TEMPORARY TABLE lines (line text) ON COMMIT DROP")
                    target, options = "lines", r"WITH (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01')"
                with db.cursor().copy(f"COPY {target} FROM STDIN {options}".encode()) as copy:
                    copy.write(file.read_bytes())
                if format == "json":
                    values = (f"(line #>> '{{data,{_KEYS.get(name, name)}}}')::{DATA[name]}" for name in DATA)
                    lines = _LINES.format(data=", ".join(values))
                    db.execute(f"INSERT INTO {table} {lines}".encode())
                    db.execute("DROP TABLE lines")
            rows += (db.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() or (0,))[0]
        db.rollback()
    return rows


def _folders(run: Path, format: str) -> Iterator[tuple[str, Path]]:
    """The families by their tables."""
    base = run / "output=good" if format == "json" else run
    for folder in sorted((base / f"vendor={VENDOR}").glob("name=*")):
        yield folder.name.partition("=")[2], folder


def _declarations() -> str:
    return ", ".join(f'"{name}" {type_}' for name, type_ in COLUMNS.items())


def _names(file: Path) -> list[str]:
    """The columns of a file of lines of values."""
    with file.open(encoding="utf-8") as lines:
        return [*COLUMNS][: len(lines.readline().split("\t"))]


def _select(folder: Path, format: str) -> str:
    files = [str(file) for file in sorted(folder.rglob("part-*"))]
    if format == "parquet":
        return f"SELECT * FROM read_parquet({files}, union_by_name = true, hive_partitioning = false)"
    if format == "csv":
        columns = {name: COLUMNS[name] for name in _names(folder / "model=1/part-00000.txt")}
        return (
            f"SELECT * FROM read_csv({files}, delim = '\t', header = false, quote = '', escape = '', "
            f"nullstr = '\\N', columns = {columns}, hive_partitioning = false)"
        )
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    return f"SELECT * FROM ({_JSON.format(files=files)}) AS rows({names})"


def measure(work: Callable[[], int]) -> dict[str, float]:
    began = perf_counter()
    rows = work()
    return {"seconds": perf_counter() - began, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="+", metavar="FORMAT=DIR", help="shredded runs, by the format of files")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()

    runs = {format: Path(out) / RUN for format, _, out in (text.partition("=") for text in options.out)}
    figures: dict[str, Any] = {}
    with temporary_database() as url:
        for _ in range(options.passes):
            for format, run in runs.items():
                works = {"DuckDB": partial(load_duckdb, run, format)}
                if format != "parquet":
                    works["PostgreSQL"] = partial(load_postgres, url, run, format)
                for warehouse, work in works.items():
                    name, done = f"{format} into {warehouse}", measure(work)
                    figures[name] = min(done, figures.get(name, done), key=lambda item: item["seconds"])
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
