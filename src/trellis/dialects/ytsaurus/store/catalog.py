"""The catalogue: nodes, tables, chunks. A change is one transaction of SQLite."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import read_columns, schema_document
from trellis.dialects.ytsaurus.schema.model import SchemaMode, TableSchema
from trellis.dialects.ytsaurus.store.chunks import Chunk, Slice
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps

NodeType = Literal["map_node", "table"]

ROOT: Final = "1-1-3fc012f-1"
_TYPE_CODES: Final[Mapping[NodeType, int]] = {"map_node": 303, "table": 401}
_CELL: Final = 0x3FC
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS options (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS nodes (
    id TEXT PRIMARY KEY, parent TEXT, name TEXT NOT NULL, type TEXT NOT NULL, attributes BLOB NOT NULL,
    creation_time TEXT NOT NULL, modification_time TEXT NOT NULL, revision INTEGER NOT NULL,
    UNIQUE (parent, name));
CREATE TABLE IF NOT EXISTS schemas (id INTEGER PRIMARY KEY, document BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS tables (
    node TEXT PRIMARY KEY, schema INTEGER NOT NULL, mode TEXT NOT NULL, optimize_for TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
    id TEXT PRIMARY KEY, schema INTEGER NOT NULL, rows INTEGER NOT NULL, compressed_size INTEGER NOT NULL,
    uncompressed_size INTEGER NOT NULL, weight INTEGER NOT NULL, optimize_for TEXT NOT NULL,
    unreferenced_since REAL);
CREATE TABLE IF NOT EXISTS slices (
    node TEXT NOT NULL, position INTEGER NOT NULL, chunk TEXT NOT NULL, start INTEGER NOT NULL,
    "end" INTEGER NOT NULL, first_key BLOB, last_key BLOB, PRIMARY KEY (node, position)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS slices_of_chunks ON slices (chunk);
"""


@dataclass(frozen=True)
class Node:
    id: str
    parent: str | None
    name: str
    type: NodeType
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Those that users set."""
    creation_time: str = ""
    modification_time: str = ""
    revision: int = 1


@dataclass(frozen=True)
class TableInfo:
    """A table without its chunks."""

    node: Node
    path: str
    schema: TableSchema
    mode: SchemaMode
    optimize_for: str


@dataclass(frozen=True)
class Totals:
    """Sums over the chunks of a table."""

    rows: int = 0
    chunks: int = 0
    compressed_size: int = 0
    uncompressed_size: int = 0
    weight: int = 0


class Catalog:
    """All statements on the catalogue. Changes are made inside of `transaction`."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._schemas: dict[int, TableSchema] = {}
        with self.transaction():
            for statement in filter(str.strip, _TABLES.split(";")):
                self._db.execute(statement)
            if self.find_node(ROOT) is None:
                self.insert_node(Node(ROOT, None, "", "map_node"))
                for name in ("home", "tmp"):
                    self.insert_node(new_node("map_node", ROOT, name))

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside are there at once, or none is. Inside of another it is a part of that."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads inside see one state."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # --- Options --------------------------------------------------------------------------------------

    def options(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM options"))

    def set_options(self, options: Mapping[str, str]) -> None:
        self._db.execute("DELETE FROM options")
        self._db.executemany("INSERT INTO options VALUES (?, ?)", options.items())

    # --- Nodes ----------------------------------------------------------------------------------------

    def find_node(self, node_id: str) -> Node | None:
        return self._node(self._db.execute(f"{_SELECT_NODE} WHERE id = ?", (node_id,)).fetchone())

    def find_child(self, parent: str, name: str) -> Node | None:
        return self._node(
            self._db.execute(f"{_SELECT_NODE} WHERE parent = ? AND name = ?", (parent, name)).fetchone()
        )

    def children(self, node_id: str) -> list[Node]:
        rows = self._db.execute(f"{_SELECT_NODE} WHERE parent = ? ORDER BY name", (node_id,)).fetchall()
        return [node for node in map(self._node, rows) if node is not None]

    def insert_node(self, node: Node) -> None:
        now = _now()
        attributes = dumps(dict(node.attributes), yson_format="binary")
        self._db.execute(
            "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (node.id, node.parent, node.name, node.type, attributes, node.creation_time or now, now, 1),
        )

    def set_attributes(self, node_id: str, attributes: Mapping[str, Any]) -> None:
        document = dumps(dict(attributes), yson_format="binary")
        self._db.execute("UPDATE nodes SET attributes = ? WHERE id = ?", (document, node_id))
        self.touch(node_id)

    def move_node(self, node_id: str, parent: str, name: str) -> None:
        self._db.execute("UPDATE nodes SET parent = ?, name = ? WHERE id = ?", (parent, name, node_id))
        self.touch(node_id)

    def delete_node(self, node_id: str) -> None:
        """The node and everything below it."""
        for child in self.children(node_id):
            self.delete_node(child.id)
        self._db.execute("DELETE FROM slices WHERE node = ?", (node_id,))
        self._db.execute("DELETE FROM tables WHERE node = ?", (node_id,))
        self._db.execute("DELETE FROM nodes WHERE id = ?", (node_id,))

    def touch(self, node_id: str) -> None:
        self._db.execute(
            "UPDATE nodes SET revision = revision + 1, modification_time = ? WHERE id = ?", (_now(), node_id)
        )

    # --- Tables ---------------------------------------------------------------------------------------

    def table(self, node: Node, path: str) -> TableInfo:
        schema, mode, optimize_for = self._db.execute(
            "SELECT schema, mode, optimize_for FROM tables WHERE node = ?", (node.id,)
        ).fetchone()
        return TableInfo(node, path, self._schema(schema), mode, optimize_for)

    def put_table(self, node_id: str, schema: TableSchema, mode: SchemaMode, optimize_for: str) -> None:
        self._db.execute(
            "INSERT INTO tables VALUES (?, ?, ?, ?) ON CONFLICT (node) DO UPDATE "
            "SET schema = excluded.schema, mode = excluded.mode, optimize_for = excluded.optimize_for",
            (node_id, self._schema_id(schema), mode, optimize_for),
        )
        self.touch(node_id)

    def copy_table(self, source: str, target: str) -> None:
        """The schema and the chunks of another table; no data is read."""
        self._db.execute(
            "INSERT INTO tables SELECT ?, schema, mode, optimize_for FROM tables WHERE node = ?",
            (target, source),
        )
        self._db.execute(
            'INSERT INTO slices SELECT ?, position, chunk, start, "end", first_key, last_key FROM slices '
            "WHERE node = ?",
            (target, source),
        )

    def totals(self, node_id: str) -> Totals:
        """Sizes of parts of chunks are in proportion to their rows."""
        row = self._db.execute(
            'SELECT sum(s."end" - s.start), count(*), '
            'sum(c.compressed_size * (s."end" - s.start) / c.rows), '
            'sum(c.uncompressed_size * (s."end" - s.start) / c.rows), sum(c.weight * (s."end" - '
            "s.start) / c.rows) "
            "FROM slices AS s JOIN chunks AS c ON c.id = s.chunk WHERE s.node = ?",
            (node_id,),
        ).fetchone()
        return Totals(*(value or 0 for value in row))

    def last_slice(self, node_id: str) -> Slice | None:
        row = self._db.execute(f"{_SELECT_SLICE} ORDER BY s.position DESC LIMIT 1", (node_id,)).fetchone()
        return None if row is None else self._slice(row)

    def slices(self, node_id: str) -> list[Slice]:
        rows = self._db.execute(f"{_SELECT_SLICE} ORDER BY s.position", (node_id,))
        return [self._slice(row) for row in rows.fetchall()]

    def append_slices(self, node_id: str, slices: Iterable[Slice]) -> None:
        (position,) = self._db.execute(
            "SELECT coalesce(max(position) + 1, 0) FROM slices WHERE node = ?", (node_id,)
        ).fetchone()
        schema_ids: dict[int, int] = {}  # by identity: chunks share few schemas, which are large
        chunk_rows, slice_rows = [], []
        for index, part in enumerate(slices, position):
            chunk = part.chunk
            if id(chunk.schema) not in schema_ids:
                schema_ids[id(chunk.schema)] = self._schema_id(chunk.schema)
            sizes = (chunk.rows, chunk.compressed_size, chunk.uncompressed_size, chunk.weight)
            chunk_rows.append((chunk.id, schema_ids[id(chunk.schema)], *sizes, chunk.optimize_for))
            keys = (part.first_key_yson, part.last_key_yson)
            slice_rows.append((node_id, index, chunk.id, part.start, part.end, *keys))
        self._db.executemany("INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", chunk_rows)
        self._db.executemany("INSERT INTO slices VALUES (?, ?, ?, ?, ?, ?, ?)", slice_rows)
        self.touch(node_id)

    def clear_slices(self, node_id: str) -> None:
        self._db.execute("DELETE FROM slices WHERE node = ?", (node_id,))
        self.touch(node_id)

    def forget_unreferenced(self, now: float, age: float) -> frozenset[str]:
        """The ids of chunks to keep: those that tables have, or had less than `age` seconds ago.

        A reader, or an operation that takes chunks over, may still use what a table just lost.
        """
        unreferenced = "id NOT IN (SELECT chunk FROM slices)"
        self._db.execute(f"UPDATE chunks SET unreferenced_since = NULL WHERE NOT {unreferenced}")
        self._db.execute(
            f"UPDATE chunks SET unreferenced_since = coalesce(unreferenced_since, ?) WHERE {unreferenced}",
            (now,),
        )
        self._db.execute("DELETE FROM chunks WHERE unreferenced_since <= ?", (now - age,))
        return frozenset(chunk for (chunk,) in self._db.execute("SELECT id FROM chunks"))

    # --- Documents ------------------------------------------------------------------------------------

    def _node(self, row: tuple[Any, ...] | None) -> Node | None:
        if row is None:
            return None
        node_id, parent, name, type, attributes, creation, modification, revision = row
        return Node(node_id, parent, name, type, loads(attributes), creation, modification, revision)

    def _slice(self, row: tuple[Any, ...]) -> Slice:
        chunk_id, schema, rows, compressed, uncompressed, weight, optimize_for, start, end, first, last = row
        chunk = Chunk(chunk_id, self._schema(schema), rows, compressed, uncompressed, weight, optimize_for)
        return Slice(chunk, start, end, first, last)

    def _schema(self, schema_id: int) -> TableSchema:
        if schema_id not in self._schemas:
            row = self._db.execute("SELECT document FROM schemas WHERE id = ?", (schema_id,)).fetchone()
            reading = read_columns(loads(row[0]))
            if reading.faults:
                raise YtError(f"the stored schema {schema_id} is not valid: {reading.faults[0]}")
            self._schemas[schema_id] = reading.schema
        return self._schemas[schema_id]

    def _schema_id(self, schema: TableSchema) -> int:
        document = dumps(schema_document(schema), yson_format="binary")
        self._db.execute("INSERT OR IGNORE INTO schemas (document) VALUES (?)", (document,))
        schema_id: int
        (schema_id,) = self._db.execute("SELECT id FROM schemas WHERE document = ?", (document,)).fetchone()
        return schema_id


_SELECT_NODE: Final = (
    "SELECT id, parent, name, type, attributes, creation_time, modification_time, revision FROM nodes"
)
_SELECT_SLICE: Final = (
    "SELECT c.id, c.schema, c.rows, c.compressed_size, c.uncompressed_size, c.weight, c.optimize_for, "
    "s.start, "
    's."end", s.first_key, s.last_key FROM slices AS s JOIN chunks AS c ON c.id = s.chunk WHERE s.node = ?'
)


def new_node(type: NodeType, parent: str, name: str, attributes: Mapping[str, Any] | None = None) -> Node:
    """A node with an id in the form of YTsaurus, which holds the type."""
    code = (_CELL << 16) | _TYPE_CODES[type]
    node_id = f"{secrets.randbits(14):x}-{secrets.randbits(20):x}-{code:x}-{secrets.randbits(32):x}"
    return Node(node_id, parent, name, type, attributes or {})


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
