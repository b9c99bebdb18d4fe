"""The staging tables of one load: made, filled, checked and dropped; those of dead loads are found.

They stand in a schema beside the dataset. Their names begin with a digest of the load, which is also the
number of an advisory lock that the load holds for as long as its connection lives: tables whose lock is
free belong to nobody any more.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from trellis.destinations.base import Parallel
from trellis.destinations.merge import quoted
from trellis.destinations.postgres_catalog import has_schema
from trellis.destinations.postgres_copy import Copied, Item, copy_item, packed, pieces_of
from trellis.destinations.postgres_errors import lock_held
from trellis.destinations.postgres_names import digest, free_name, lock_number, name_of, staging_schema
from trellis.destinations.postgres_session import Aim, Lost, Refused, Session
from trellis.flow.stage import StagedFile
from trellis.schema.model import Column, Table

LOAD_WAIT = "600s"
"""How long a load waits for another one, which holds up nobody else."""
_DROP_WAIT = "1s"
_MANY = 100
_WORTH_STATISTICS = 5000
_OURS = "^[0-9a-f]{16}_[0-9a-f]{8}_"

Staged = Sequence[tuple[Table, Sequence[StagedFile]]]


def wait_for(session: Session, digits: str, what: str, function: str) -> None:
    """Take an advisory lock. Raises DestinationError, with no transaction open."""
    before = session.value("SELECT current_setting('lock_timeout')")
    session.run(f"SET lock_timeout = '{LOAD_WAIT}'")
    try:
        session.run(f"SELECT {function}($1::bigint)", [lock_number(digits)])
    except Refused as refused:
        if refused.code != "55P03":
            raise
        session.run("ROLLBACK")
        raise lock_held(session, lock_number(digits), what, LOAD_WAIT) from refused
    session.run("SELECT set_config('lock_timeout', $1, false)", [before])


@dataclass
class Staging:
    """Tables with the columns of the load, each row with its place in the input. Use as a context.

    `type_of` gives the type of a column; `relations` the quoted name of the staging table of a table.
    """

    session: Session
    dataset: str
    load_id: str
    staged: Staged
    type_of: Callable[[Column], str]
    relations: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schema = staging_schema(self.dataset)
        self.owner = digest("load", self.dataset, self.load_id)
        self.prefix = f"{self.owner}_{secrets.token_hex(4)}_"
        names = [column.name for table, _ in self.staged for column in table.complete_columns]
        self.place = free_name("_place", names)

    def name(self, what: str) -> str:
        """The quoted name of a table here, for the time of this load."""
        return name_of(self.schema, self.prefix + what)

    def __enter__(self) -> Staging:
        wait_for(self.session, self.owner, f"load {self.load_id}", "pg_advisory_lock")
        self._make_schema()
        self._sweep()
        with self._aimed():
            self._make_tables()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Lost):
            self._drop(self._tables_there(self.prefix))

    def fill(self, parallel: Parallel) -> None:
        """Copy the staged files. Raises Lost and what else keeps rows from being copied."""
        lost = None
        for copied in parallel(copy_item, self.items):
            if copied.error is not None:
                raise copied.error
            lost = lost or copied.lost
        if lost is not None:
            raise Lost(lost)

    def know(self, tables: Collection[str]) -> None:
        """Let the planner know what is in the staging tables of these tables."""
        for table, files in self.staged:
            if table.name in tables and sum(file.rows for file in files) >= _WORTH_STATISTICS:
                self.session.run(f"ANALYZE {self.relations[table.name]}")

    def check(self) -> None:
        """Raises Lost if rows are missing: a crash of the server empties these tables."""
        found = self.session.run(f"SELECT count(*), coalesce(sum(rows), 0) FROM {self.name('items')}").fetchone()
        if found != (len(self.items), sum(item.rows for item in self.items)):
            raise Lost("the server lost the rows that were staged")

    def _make_schema(self) -> None:
        if has_schema(self.session, self.schema):
            return
        database = quoted(self.session.db.info.dbname)
        needs = (
            f"GRANT CREATE ON DATABASE {database} TO {{user}}, "
            f"or CREATE SCHEMA {quoted(self.schema)} AUTHORIZATION {{user}}"
        )
        with self.session.transaction():
            wait_for(self.session, digest("schema", self.schema), self.schema, "pg_advisory_xact_lock")
            if not has_schema(self.session, self.schema):
                self.session.run(f"CREATE SCHEMA {quoted(self.schema)}", aim=Aim(needs=needs))

    def _make_tables(self) -> None:
        needs = f"GRANT USAGE, CREATE ON SCHEMA {quoted(self.schema)} TO {{user}}"
        pieces: list[Iterator[...]] = []
