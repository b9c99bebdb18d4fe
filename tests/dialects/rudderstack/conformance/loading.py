"""Events loaded as a user loads them, and the tables looked at as an analyst does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import duckdb

import trellis
from trellis.destinations.lake.store import TableAlteration, TableName, TableStore
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report
from trellis.schema.model import Column, Table

Event = dict[str, Any]
Opens = Callable[..., "Shop"]

INT_STRING = "incompatible schema conversion from int to string"


def moment(second: int) -> datetime:
    """When an event was received."""
    return datetime(2024, 2, 29, 10, second // 60, second % 60, tzinfo=timezone.utc)


def event(kind: str, id: Any = "m", at: int = 0, **fields: Any) -> Event:
    received = moment(at).isoformat().replace("+00:00", ".000Z")
    return {"type": kind, "messageId": id, "receivedAt": received, **fields}


def track(id: Any, name: str = "Sale", at: int = 0, **properties: Any) -> Event:
    return event("track", id, at, event=name, properties=properties)


def identify(user: Any, at: int = 0, id: Any = None, **traits: Any) -> Event:
    return event("identify", f"{user}/{at}" if id is None else id, at, userId=user, traits=traits)


class Shop:
    """One dataset, a new pipeline for every load; the settings are those of the first load unless changed."""

    def __init__(self, path: Path, provider: str | None = "RS", **settings: Any) -> None:
        self.path = path
        self.settings = settings if provider is None else {"provider": provider, **settings}

    @property
    def to(self) -> str:
        return f"duckdb:{self.path}"

    @property
    def pipeline(self) -> Pipeline:
        return trellis.pipeline("shop", to=self.to, dialect="rudderstack", settings=self.settings)

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB with the tables."""
        with duckdb.connect(str(self.path)) as db:
            db.execute("SET TimeZone = 'UTC'")
            yield db

    def load(self, *events: Any, **options: Any) -> Report:
        """Load events, or files."""
        report = self.pipeline.load(list(events), **options)
        assert report.balanced
        return report

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last."""
        with self.connect() as db:
            for statement in statements:
                fetched = db.execute(statement).fetchall()
            return fetched

    def retype(self, table: str, **types: str) -> None:
        """Give columns other types, by hand; a text is VARCHAR."""
        self.sql(*(f"ALTER TABLE {table} ALTER {column} TYPE {type_}" for column, type_ in types.items()))

    def add_columns(self, table: str, *columns: str) -> None:
        """Add columns of text, by hand."""
        self.sql(*(f'ALTER TABLE {table} ADD COLUMN "{column}" VARCHAR' for column in columns))

    def create_tables(self, *tables: str) -> None:
        """Create tables with the one column `id`, by hand."""
        self.sql(*(f"CREATE TABLE {table} (id VARCHAR)" for table in tables))

    def drop_columns(self, table: str, *columns: str) -> None:
        self.sql(*(f"ALTER TABLE {table} DROP COLUMN {column}" for column in columns))

    def drop_tables(self, *tables: str) -> None:
        self.sql(*(f"DROP TABLE {table}" for table in tables))

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Sorted; a single column as it is."""
        listed = ", ".join(f'"{name}"' for name in columns)
        return self.sql(f'SELECT {listed} FROM "{table}" ORDER BY ALL')

    def values(self, table: str, column: str) -> list[Any]:
        return [value for (value,) in self.rows(table, column)]

    def row(self, table: str, id: Any, of: str = "id") -> dict[str, Any]:
        """The one row of this id, without what is NULL."""
        with self.connect() as db:
            query = f'SELECT * FROM "{table}" WHERE CAST("{of}" AS VARCHAR) = $id'
            (actual,) = db.sql(query, params={"id": str(id)}).to_arrow_table().to_pylist()
        return {name: value for name, value in actual.items() if value is not None}

    def content(self, left_out: str = "uuid_ts") -> dict[str, tuple[Any, ...]]:
        """Every table, with its columns and its rows, but not the times of loads."""
        with self.connect() as db:
            contents = {}
            for (table,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                if not table.startswith("_trellis"):
                    rows = db.execute(f'SELECT * EXCLUDE {left_out} FROM "{table}" ORDER BY ALL')
                    contents[table] = (
                        [(value[0], str(value[1])) for value in rows.description],
                        rows.fetchall(),
                    )
            return contents

    def types(self, table: str) -> dict[str, str]:
        """The columns as the warehouse has them, in order."""
        return dict(self.pipeline.destination.catalog(self.pipeline.dataset)[table].columns)

    @property
    def tables(self) -> set[str]:
        """The tables that are not of Trellis's own."""
        actual = self.pipeline.destination.catalog(self.pipeline.dataset)
        return {name for name in actual if not name.startswith("_trellis")}

    @property
    def discards(self) -> list[tuple[Any, ...]]:
        """`rudder_discards` without its times."""
        table = next(name for name in self.tables if name.lower() == "rudder_discards")
        return self.sql(
            f'SELECT row_id, table_name, column_name, column_value, reason FROM "{table}" ORDER BY ALL'
        )

    @property
    def lost(self) -> list[tuple[Any, ...]]:
        """What else has no place: table, column, path, value, the first words of the reason."""
        actual = self.sql(
            "SELECT table_name, column_name, path, value, reason FROM _trellis_discards ORDER BY ALL"
        )
        return [(*row, reason.partition(":")[0]) for *row, reason in actual]

    @property
    def rejects(self) -> list[tuple[Any, ...]]:
        return self.sql("SELECT position, reason FROM _trellis_rejects ORDER BY ALL")


class LakeShop(Shop):
    """A dataset in a lake; its tables are looked at as they are, and only changed as the store does it."""

    def __init__(self, kind: str, path: Path) -> None:
        super().__init__(path)
        self.kind = kind

    @property
    def to(self) -> str:
        return f"{self.kind}:{self.path}"

    def types(self, table: str) -> dict[str, str]:
        return {name: type_.replace("STRING", "VARCHAR") for name, type_ in super().types(table).items()}

    def retype(self, table: str, **types: str) -> None:
        names = {column: type_.replace("VARCHAR", "STRING") for column, type_ in types.items()}
        self._store.alter_table(self._name(table), TableAlteration(types=names))

    def add_columns(self, table: str, *columns: str) -> None:
        self._store.add_columns(self._name(table), dict.fromkeys(columns, "STRING"))

    def create_tables(self, *tables: str) -> None:
        for name in tables:
            table = Table(name, {"id": Column("id", "text")})
            self._store.create_table(self._name(name), table, {"id": "STRING"})

    def drop_columns(self, table: str, *columns: str) -> None:
        self._store.alter_table(self._name(table), TableAlteration(dropped=columns))

    def drop_tables(self, *tables: str) -> None:
        for table in tables:
            self._store.drop_table(self._name(table))

    @property
    def _store(self) -> TableStore:
        store: TableStore = self.pipeline.destination.store  # type: ignore[attr-defined]
        return store

    def _name(self, table: str) -> TableName:
        return TableName(self.pipeline.dataset, table)

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        pipeline = self.pipeline
        with duckdb.connect(":memory:") as db:
            db.execute("SET TimeZone = 'UTC'")
            for table in pipeline.destination.catalog(pipeline.dataset):
                db.register(table, pipeline.read(table).arrow())
            yield db
