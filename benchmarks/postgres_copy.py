"""PostgreSQL alone: psql copies the rows of each load from files into tables of the same definition.

The rows and the definitions are those of the tables that Trellis made just before, in the same database. The
files of the first load go into empty tables, those of the next on top of them; one transaction each.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

STARTED = perf_counter()

from protocol import Loads, parser  # noqa: E402

if TYPE_CHECKING:
    from psycopg import Connection

TIMES = ("uuid_ts", "_dlt_load_id")
"""The columns that tell the loads apart, in this dialect or that."""
Tables = dict[tuple[str, str], "str | None"]


def main() -> None:
    options = parser(__doc__).parse_args()

    import psycopg

    with psycopg.connect(options.database, autocommit=True) as db:
        db.execute("SET datestyle TO ISO")
        db.execute("DROP SCHEMA IF EXISTS bench_copy CASCADE")
        db.execute("CREATE SCHEMA bench_copy")
        tables = loaded(db)
        scripts = export(db, tables, Path(options.folder).resolve(), options.loads)
        loads = Loads(STARTED)
        for script in scripts:
            with loads:
                psql(options.database, script)
        rows = same_rows(db, tables)
        db.execute("DROP SCHEMA bench_copy CASCADE")
    note = f"{rows:,} rows of both loads in {len(tables)} tables, over one connection"
    loads.finish(None, note=note)


def loaded(db: Connection) -> Tables:
    """The tables that the loads made, each with the column that tells its loads apart."""
    names = db.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
        "AND table_schema NOT IN ('pg_catalog', 'information_schema') AND table_name !~ '^_(trellis|dlt)_'"
    ).fetchall()
    tables: Tables = {}
    for schema, name in names:
        columns = db.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s",
            (schema, name),
        ).fetchall()
        tables[schema, name] = next((each for each in TIMES if (each,) in columns), None)
    return tables


def export(db: Connection, tables: Tables, folder: Path, loads: int) -> list[Path]:
    """Write the rows of each table and load to a file, make empty tables; for each load psql's script."""
    from psycopg.sql import SQL, Identifier, Literal

    seen: set[object] = set()
    for (schema, name), column in tables.items():
        if column is not None:
            query = SQL("SELECT DISTINCT {} FROM {}").format(Identifier(column), Identifier(schema, name))
            seen.update(value for (value,) in db.execute(query))
    if len(seen) != loads:
        raise SystemExit(f"the tables hold the rows of {len(seen)} loads, not of {loads}")
    scripts = []
    for load, value in enumerate(sorted(seen, key=str)):
        lines = ["BEGIN;"]
        for number, ((schema, name), column) in enumerate(tables.items()):
            source, fresh = Identifier(schema, name), Identifier("bench_copy", f"t{number}")
            if load == 0:
                db.execute(SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(fresh, source))
            elif column is None:
                continue
            rows = SQL("TABLE {}").format(source)
            if column is not None:
                where = SQL(" WHERE {} = {}").format(Identifier(column), Literal(value))
                rows = SQL("SELECT * FROM {}").format(source) + where
            path = folder / f"{load}-{number}.copy"
            with path.open("wb") as file, db.cursor().copy(SQL("COPY ({}) TO STDOUT").format(rows)) as out:
                for block in out:
                    file.write(block)
            lines.append(f"\\copy bench_copy.t{number} FROM '{path}'")
        script = folder / f"{load}.sql"
        script.write_text("\n".join([*lines, "COMMIT;"]))
        scripts.append(script)
    return scripts


def psql(url: str, script: Path) -> None:
    program = shutil.which("psql")
    if program is None:
        raise SystemExit("there is no psql on the path")
    command = [program, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={script}", url]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def same_rows(db: Connection, tables: Tables) -> int:
    """How many rows were copied: as many as there were, in each table."""
    from psycopg.sql import SQL, Identifier

    rows = 0
    for number, (schema, name) in enumerate(tables):
        both = (
            db.execute(SQL("SELECT count(*) FROM {}").format(each)).fetchall()[0][0]
            for each in (Identifier(schema, name), Identifier("bench_copy", f"t{number}"))
        )
        there, copied = both
        if there != copied:
            raise SystemExit(f"{copied:,} of {there:,} rows of {name} were copied")
        rows += there
    return rows


if __name__ == "__main__":
    main()
