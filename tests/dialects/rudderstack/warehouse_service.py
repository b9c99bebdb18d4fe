"""RudderStack's warehouse service in PostgreSQL, in small: the statements by which it makes and fills tables.

What a stream needs of sections 6 to 9 of its behaviour: types from the first value, the warehouse's types
before those, casts or discards, rows of one id replaced, `users` as the latest values of `identifies`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg.sql import SQL, Composed, Identifier

Row = dict[str, Any]
"""A row of a staging file: the transformer's values, times as datetimes."""
Schema = dict[str, str]

TYPES: Final = {
    "int": "bigint", "float": "numeric", "boolean": "boolean", "datetime": "timestamptz", "string": "text",
}  # fmt: skip
NATIVE: Final = {
    "bigint": "int", "numeric": "float", "boolean": "boolean", "text": "string",
    "timestamp with time zone": "datetime",
}  # fmt: skip
DISCARDS: Final[Schema] = {
    **dict.fromkeys(("table_name", "row_id", "column_name", "column_value", "reason"), "string"),
    **dict.fromkeys(("received_at", "uuid_ts"), "datetime"),
}
ADD_BATCH: Final = 100
_KINDS: Final = {bool: "boolean", int: "int", float: "float", datetime: "datetime", str: "string"}


class WarehouseService:
    """Uploads staged rows into one namespace."""

    def __init__(self, url: str, namespace: str, now: datetime) -> None:
        self.url, self.namespace, self.now = url, namespace, now

    def upload(self, staged: Sequence[tuple[str, Row]]) -> None:
        """Create what is missing, and load the rows of one batch; `users` follow from `identifies`."""
        with psycopg.connect(self.url) as db:
            db.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(self.namespace)))
            db.execute(SQL("SET search_path TO {}").format(Identifier(self.namespace)))
            schemas = self._complete_schemas(db, staged)
            for table, columns in schemas.items():
                self._migrate(db, table, columns)
            rows: dict[str, list[Row]] = {table: [] for table in schemas}
            for table, row in staged:
                rows[table].append(self._cast(table, row, schemas[table], rows["rudder_discards"]))
            for table in schemas:
                key = ("row_id", "column_name", "table_name") if table == "rudder_discards" else ("id",)
                if table != "users":
                    self._load(db, table, rows[table], key)
            if "users" in schemas:
                self._load_users(db, [*schemas["users"]])

    def _complete_schemas(
        self, db: psycopg.Connection, staged: Sequence[tuple[str, Row]]
    ) -> dict[str, Schema]:
        batch: dict[str, Schema] = {}
        for table, row in staged:
            columns = batch.setdefault(table, {})
            for name, value in row.items():
                columns.setdefault(name, _KINDS[type(value)])
            columns.setdefault("uuid_ts", "datetime")
        for table, columns in batch.items():
            columns.update((name, kind) for name, kind in self._fetch(db, table).items() if name in columns)
        if "users" in batch and "identifies" in batch:
            of_users = {name: kind for name, kind in self._fetch(db, "users").items() if name != "id"}
            identifies = batch["identifies"] = {**of_users, **batch["identifies"]}
            batch["users"] = {**batch["users"], **identifies, "id": identifies["user_id"]}
            del batch["users"]["user_id"]
        return {**batch, "rudder_discards": DISCARDS}

    def _fetch(self, db: psycopg.Connection, table: str) -> Schema:
        query = (
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s"
        )
        return {name: NATIVE[type_] for name, type_ in db.execute(query, (self.namespace, table))}

    def _migrate(self, db: psycopg.Connection, table: str, columns: Schema) -> None:
        known = self._fetch(db, table)
        missing = [
            SQL("{} " + TYPES[kind]).format(Identifier(name))
            for name, kind in sorted(columns.items())
            if name not in known
        ]
        if not known:
            create = SQL("CREATE TABLE IF NOT EXISTS {} ({})")
            db.execute(create.format(Identifier(table), SQL(", ").join(missing)))
            return
        for start in range(0, len(missing), ADD_BATCH):
            batch = missing[start : start + ADD_BATCH]
            added = [SQL("ADD COLUMN IF NOT EXISTS ") + column for column in batch]
            db.execute(SQL("ALTER TABLE {} ").format(Identifier(table)) + SQL(", ").join(added))

    def _cast(self, table: str, row: Row, columns: Schema, discards: list[Row]) -> Row:
        """The row as text for COPY; what does not fit its column is NULL and a discard."""
        cells: Row = {"uuid_ts": self.now.isoformat()}
        for name, value in row.items():
            kind, column = _KINDS[type(value)], columns[name]
            if kind == column or column == "string" or (kind, column) == ("int", "float"):
                cells[name] = _printed(value)
            else:
                discards.append({
                    "table_name": table, "row_id": _printed(row["id"]), "column_name": name,
                    "column_value": _printed(value), "received_at": row["received_at"].isoformat(),
                    "reason": f"incompatible schema conversion from {column} to {kind}",
                    "uuid_ts": self.now.isoformat(),
                })  # fmt: skip
        return cells

    def _load(self, db: psycopg.Connection, table: str, rows: Sequence[Row], key: Sequence[str]) -> None:
        names = sorted({name for row in rows for name in row})
        if not rows:
            return
        staging, columns = f"rudder_staging_{table}", _listed(names)
        create = SQL("CREATE TEMPORARY TABLE {} (LIKE {}) ON COMMIT DROP")
        db.execute(create.format(Identifier(staging), Identifier(self.namespace, table)))
        copy = SQL("COPY {} ({}) FROM STDIN").format(Identifier(staging), columns)
        with db.cursor() as cursor, cursor.copy(copy) as writer:
            for row in rows:
                writer.write_row([row.get(name) for name in names])
        self._replace(db, table, staging, names, key)

    def _replace(
        self, db: psycopg.Connection, table: str, staging: str, names: Sequence[str], key: Sequence[str]
    ) -> None:
        """Delete the rows of the same key, insert the latest staged row of each."""
        target, source = Identifier(self.namespace, table), Identifier(staging)
        equal = SQL(" AND ").join(SQL("_source.{0} = {1}.{0}").format(Identifier(k), target) for k in key)
        db.execute(SQL("DELETE FROM {} USING {} AS _source WHERE {}").format(target, source, equal))
        insert = SQL(
            "INSERT INTO {} ({}) SELECT {} FROM (SELECT *, row_number() OVER (PARTITION BY {} ORDER BY "
            "received_at DESC) AS _rudder_staging_row_number FROM {}) AS _ "
            "WHERE _rudder_staging_row_number = 1"
        )
        columns = _listed(names)
        db.execute(insert.format(target, columns, columns, _listed(key), source))

    def _load_users(self, db: psycopg.Connection, names: Sequence[str]) -> None:
        columns = [name for name in names if name not in ("id", "uuid_ts")]
        union = SQL(
            "CREATE TEMPORARY TABLE rudder_union ON COMMIT DROP AS SELECT id, {0} FROM {1} WHERE id IN "
            "(SELECT DISTINCT user_id FROM rudder_staging_identifies WHERE user_id IS NOT NULL) "
            "UNION SELECT user_id, {0} FROM rudder_staging_identifies WHERE user_id IS NOT NULL"
        )
        db.execute(union.format(_listed((*columns, "uuid_ts")), Identifier(self.namespace, "users")))
        latest = SQL(", ").join(
            SQL(
                "(SELECT {0} FROM rudder_union WHERE id = x.id AND {0} IS NOT NULL "
                "ORDER BY received_at DESC LIMIT 1) AS {0}"
            ).format(Identifier(name))
            for name in (*columns, "uuid_ts")
        )
        staging = SQL(
            "CREATE TEMPORARY TABLE rudder_staging_users ON COMMIT DROP AS "
            "SELECT DISTINCT * FROM (SELECT x.id, {} FROM rudder_union AS x) AS xyz"
        )
        db.execute(staging.format(latest))
        self._replace(db, "users", "rudder_staging_users", ("id", *columns, "uuid_ts"), ("id",))


def _listed(names: Sequence[str]) -> Composed:
    return SQL(", ").join(map(Identifier, names))


def _printed(value: Any) -> str:
    """A value in a load file."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str) else json.dumps(value)
