"""A script that kills loads of runs at every statement.

    python killing_loads.py URL_WITH_{} REGISTRY RUN

{} stands for the end of the name of a database or file. Each load runs in a fork of this process: it is
killed, run again, and what is then in the tables is printed, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from itertools import count
from typing import Any

import duckdb  # noqa: F401  what a load needs is imported before the forks
import psycopg
import pyarrow.parquet  # noqa: F401

from dialects.snowplow.forks import in_fork
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.runs.loading.loader import RunLoader
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse

COUNTED = ("events", "org_harbor_vessel_call_1", "failed_events", "manifest")


def kill_at(warehouse: SqlWarehouse, statement: int) -> None:
    """Let this process die before a statement, counted from 0."""
    numbers, execute = count(), warehouse.execute

    def execute_or_die(text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if next(numbers) == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(text, values)

    warehouse.execute = execute_or_die  # type: ignore[method-assign]


def load(url: str, registry: str, run: str, killed_at: int | None) -> None:
    warehouse = open_warehouse(url)
    assert isinstance(warehouse, SqlWarehouse)
    if killed_at is not None:
        kill_at(warehouse, killed_at)
    [_] = RunLoader(warehouse, open_registry(registry), "atomic").load(run)
    warehouse.close()


def show_rows(url: str, killed: bool) -> None:
    warehouse = open_warehouse(url)
    assert isinstance(warehouse, SqlWarehouse)
    rows = {table: warehouse.execute(f"SELECT count(*) FROM atomic.{table}")[0][0] for table in COUNTED}
    print(json.dumps({"killed": killed, "rows": rows}), flush=True)
    warehouse.close()


def main(template: str, registry: str, run: str) -> None:
    for statement in count():
        url = template.format(statement)
        if url.startswith("postgres"):
            with psycopg.connect(f"{url.rpartition('/')[0]}/postgres", autocommit=True) as server:
                server.execute(f'CREATE DATABASE "{url.rpartition("/")[2]}"'.encode())
        killed = in_fork(lambda url=url, statement=statement: load(url, registry, run, statement)) != 0
        if in_fork(lambda url=url: load(url, registry, run, None)) != 0:
            raise SystemExit(f"the second load failed after a kill at statement {statement}")
        in_fork(lambda url=url, killed=killed: show_rows(url, killed))
        if not killed:
            return


if __name__ == "__main__":
    main(*sys.argv[1:4])
