"""A script that kills publishers of schemas at every statement of theirs, and around each commit.

    python killing_publishers.py STORE_URL

Each publisher runs in a fork of this process. It publishes a version that supersedes two others, and is
killed; what the store then has of its family is printed, one JSON object a line, and the version is published
again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg  # noqa: F401  what a publisher needs is imported before the forks

from dialects.snowplow.families import object_schema, text
from dialects.snowplow.forks import in_fork
from trellis.dialects.snowplow.document.schema_document import META_SCHEMA
from trellis.dialects.snowplow.kind.verdict import KindPolicy
from trellis.dialects.snowplow.registry.publishing import Publisher
from trellis.dialects.snowplow.registry.store.database import Database, Execute, Row, open_database
from trellis.dialects.snowplow.registry.store.permissions import super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore
from trellis.dialects.snowplow.versions.succession import SuccessionRules

LAST = 2
"""The addition of the version whose publisher is killed."""


class FatalDatabase:
    """A database that kills its process at one of the points that transactions pass."""

    def __init__(self, database: Database, killed_at: int | None) -> None:
        self.database, self.kind = database, database.kind
        self.killed_at, self.points = killed_at, count()

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Execute]:
        with self.database.transaction(write=write) as execute:

            def execute_or_die(statement: str, *values: object) -> list[Row]:
                self.reach_point()
                return execute(statement, *values)

            yield execute_or_die
            self.reach_point()
        self.reach_point()

    def reach_point(self) -> None:
        if next(self.points) == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)


def document(number: int, addition: int) -> Any:
    """A version of one of the families. The last one, 1-0-2, supersedes those before it."""
    name = f"berth{number}x"
    parts = {"vendor": "org.harbor", "name": name, "format": "jsonschema", "version": f"1-0-{addition}"}
    superseded = {"$supersedes": ["1-0-0", "1-0-1"]} if addition == LAST else {}
    return {"$schema": META_SCHEMA, "self": parts, **superseded, **object_schema({"berth": text(12)})}


def publish(url: str, documents: Sequence[Any], killed_at: int | None = None) -> None:
    store = SchemaStore(FatalDatabase(open_database(url), killed_at))
    publisher = Publisher(store, KindPolicy(), SuccessionRules())
    for schema in documents:
        publisher.publish(schema, super_permission(), is_public=True)


def show_and_complete(url: str, number: int, killed: bool) -> None:
    stored = SchemaStore.open(url).all_schemas()
    versions = {
        str(schema.key.version): str(schema.document.superseded_by)
        for schema in stored
        if schema.key.name == f"berth{number}x"
    }
    positions = [schema.position for schema in stored]
    print(json.dumps({"killed": killed, "versions": versions, "positions": positions}), flush=True)
    if len(versions) == LAST:
        publish(url, [document(number, LAST)])


def main(url: str) -> None:
    for number in count():
        before = [document(number, addition) for addition in range(LAST)]
        assert in_fork(lambda before=before: publish(url, before)) == 0
        last = [document(number, LAST)]
        killed = in_fork(lambda last=last, number=number: publish(url, last, number)) != 0
        done = in_fork(lambda number=number, killed=killed: show_and_complete(url, number, killed))
        if done != 0:
            raise SystemExit(f"1-0-{LAST} could not be published after a kill at point {number}")
        if not killed:
            return


if __name__ == "__main__":
    main(sys.argv[1])
