"""The catalogue: nodes, tables, chunks. What a transaction changed stands beside what is there without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import read_columns, schema_document
from trellis.dialects.ytsaurus.schema.model import SchemaMode, TableSchema
from trellis.dialects.ytsaurus.store.chunks import Chunk, Slice
from trellis.dialects.ytsaurus.store.database.connections import Database, Record
from trellis.dialects.ytsaurus.store.database.ids import new_id, now_text
from trellis.dialects.ytsaurus.store.database.transactions import TRUNK, Transactions
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps

NodeType = Literal["map_node", "table"]

ROOT: Final = "1-1-3fc012f-1"
_Content = Literal["kept", "appended", "replaced", "pinned", "removed"]
"""What a transaction made of a node: rows of before, with more behind them, others; a copy to read; nothing.

In the trunk a node is `replaced`.
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
    """Nodes and tables as a transaction sees them. Changes are made inside of `transaction`."""

    def __init__(
        self, database: Database, transactions: Transactions, lineage: Sequence[str] = (TRUNK,)
    ) -> None:
        self._db = database
        self._transactions = transactions
        self._lineage = tuple(lineage)
        """The transaction, and those it is nested in up to the trunk."""
        self._scope = self._lineage[0]
        self._in_lineage = f"tx IN ({', '.join('?' * len(self._lineage))})"
        self._schemas: dict[str, TableSchema] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside are there at once, or none is. Inside of another it is a part of that."""
        if self._db.in_transaction:
            yield
            return
        with self._db.transaction():
            self._transactions.abort_expired()
            if self._scope != TRUNK:
                self._transactions.get(self._scope)
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads inside see one state."""
        if self._db.in_transaction:
            yield
            return
        with self._db.snapshot():
            yield

    # --- Options --------------------------------------------------------------------------------------

    def options(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM options"))

    def set_options(self, options: Mapping[str, str]) -> None:
        self._db.execute("DELETE FROM options")
        for name, value in options.items():
            self._db.execute("INSERT INTO options VALUES (?, ?)", name, value)

    # --- Nodes ----------------------------------------------------------------------------------------

    def find_node(self, node_id: str) -> Node | None:
        record = self._version(node_id, _NODE_COLUMNS)
        return None if record is None else _node(record)

    def find_child(self, parent: str, name: str) -> Node | None:
        records = self._versions("parent = ? AND name = ?", parent, name)
        return next(
            (node for node in map(_node, records) if (node.parent, node.name) == (parent, name)), None
        )

    def children(self, node_id: str) -> list[Node]:
        nodes = map(_node, self._versions("parent = ?", node_id))
        return sorted((node for node in nodes if node.parent == node_id), key=lambda node: node.name)

    def insert_node(self, node: Node) -> None:
        now = now_text()
        attributes = dumps(dict(node.attributes), yson_format="binary")
        self._db.execute(
            f"INSERT INTO nodes ({_NODE_COLUMNS}, tx, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'replaced')",
            *(node.id, node.parent, node.name, node.type, attributes, node.creation_time or now, now, 1),
            self._scope,
        )

    def set_attributes(self, node_id: str, attributes: Mapping[str, Any]) -> None:
        self._update(node_id, attributes=dumps(dict(attributes), yson_format="binary"))

    def move_node(self, node_id: str, parent: str, name: str) -> None:
        self._update(node_id, parent=parent, name=name)

    def delete_node(self, node_id: str) -> None:
        """The node and everything below it."""
        for child in self.children(node_id):
            self.delete_node(child.id)
        self._db.execute("DELETE FROM slices WHERE node = ? AND tx = ?", node_id, self._scope)
        if self._is_in(self._lineage[1:], node_id):
            self._update(node_id, content="removed")
        else:
            self._db.execute("DELETE FROM nodes WHERE id = ? AND tx = ?", node_id, self._scope)

    # --- Tables ---------------------------------------------------------------------------------------

    def table(self, node: Node, path: str) -> TableInfo:
        record = self._version(node.id, "schema, mode, optimize_for")
        if record is None:
            raise YtError(f"the table {path} was removed while it was looked at; run this again")
        schema, mode, optimize_for = record
        return TableInfo(node, path, self._schema(schema), mode, optimize_for)

    def put_table(self, node_id: str, schema: TableSchema, mode: SchemaMode, optimize_for: str) -> None:
        self._update(node_id, schema=self._schema_id(schema), mode=mode, optimize_for=optimize_for)

    def copy_table(self, source: str, target: str) -> None:
        """The schema and the chunks of another table; no data is read."""
        record = self._version(source, "schema, mode, optimize_for")
        if record is not None:
            schema, mode, optimize_for = record
            self._update(target, schema=schema, mode=mode, optimize_for=optimize_for)
        self._copy_slices(source, target)

    def pin_table(self, node_id: str) -> None:
        """Keep the table as it is now, whatever others make of it, until this transaction ends."""
        self._branch(node_id)
        scopes = self._slice_scopes(node_id)
        if self._scope not in scopes:
            self._copy_slices(node_id, node_id, scopes)
            self._update(node_id, content="pinned")

    def unpin_table(self, node_id: str) -> bool:
        """Forget the copy of a table. False if it is no copy, as this transaction changed it."""
        for (content,) in self._db.execute(
            "SELECT content FROM nodes WHERE id = ? AND tx = ?", node_id, self._scope
        ):
            if content != "pinned":
                return False
            for table, column in (("slices", "node"), ("nodes", "id")):
                self._db.execute(f"DELETE FROM {table} WHERE {column} = ? AND tx = ?", node_id, self._scope)
        return True

    def totals(self, node_id: str) -> Totals:
        """Sizes of parts of chunks are in proportion to their rows."""
        scopes = self._slice_scopes(node_id)
        if not scopes:
            return Totals()
        part = '(s."end" - s.start)'
        sums = (
            f"sum(c.{size} * {part} / c.rows)" for size in ("compressed_size", "uncompressed_size", "weight")
        )
        (record,) = self._db.execute(
            f"SELECT sum{part}, count(*), {', '.join(sums)} "
            "FROM slices AS s JOIN chunks AS c ON c.id = s.chunk "
            f"WHERE s.node = ? AND s.tx IN ({', '.join('?' * len(scopes))})",
            *(node_id, *scopes),
        )
        return Totals(*(int(value or 0) for value in record))

    def last_slice(self, node_id: str) -> Slice | None:
        for scope in reversed(self._slice_scopes(node_id)):
            for record in self._db.execute(
                f"{_SELECT_SLICE} ORDER BY s.position DESC LIMIT 1", node_id, scope
            ):
                return self._slice(record)
        return None

    def slices(self, node_id: str) -> list[Slice]:
        return [
            self._slice(record)
            for scope in self._slice_scopes(node_id)
            for record in self._db.execute(f"{_SELECT_SLICE} ORDER BY s.position", node_id, scope)
        ]

    def append_slices(self, node_id: str, slices: Iterable[Slice]) -> None:
        content = self._content(node_id)
        self._update(node_id, content="appended" if content == "kept" else content)
        schema_ids: dict[int, str] = {}  # by identity: chunks share few schemas, which are large
        chunk_records, slice_records = [], []
        for index, part in enumerate(slices, self._next_position(node_id, self._scope)):
            chunk = part.chunk
            if id(chunk.schema) not in schema_ids:
                schema_ids[id(chunk.schema)] = self._schema_id(chunk.schema)
            sizes = (chunk.rows, chunk.compressed_size, chunk.uncompressed_size, chunk.weight)
            chunk_records.append((chunk.id, schema_ids[id(chunk.schema)], *sizes, chunk.optimize_for))
            keys = (part.first_key_yson, part.last_key_yson)
            slice_records.append((node_id, self._scope, index, chunk.id, part.start, part.end, *keys))
        self._db.execute_many(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (id) DO NOTHING", chunk_records
        )
        self._db.execute_many("INSERT INTO slices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", slice_records)

    def clear_slices(self, node_id: str) -> None:
        self._db.execute("DELETE FROM slices WHERE node = ? AND tx = ?", node_id, self._scope)
        self._update(node_id, content="replaced")

    def forget_unreferenced(self, now: float, before: float) -> frozenset[str]:
        """The ids of chunks to keep: those that tables have, or still had at some time.

        A reader, or an operation that takes chunks over, may still use what a table just lost.
        """
        unreferenced = "id NOT IN (SELECT chunk FROM slices)"
        self._db.execute(f"UPDATE chunks SET unreferenced_since = NULL WHERE NOT {unreferenced}")
        self._db.execute(
            f"UPDATE chunks SET unreferenced_since = coalesce(unreferenced_since, ?) WHERE {unreferenced}",
            now,
        )
        self._db.execute("DELETE FROM chunks WHERE unreferenced_since <= ?", before)
        return frozenset(chunk for (chunk,) in self._db.execute("SELECT id FROM chunks"))

    def chunks_of(self, operation: str) -> list[str]:
        """The ids of the chunks of an operation."""
        records = self._db.execute("SELECT id FROM chunks WHERE id LIKE ?", f"{operation}%")
        return [chunk for (chunk,) in records]

    # --- Transactions ---------------------------------------------------------------------------------

    def merge_into_parent(self) -> None:
        """Give what this transaction changed to the one it is nested in, or to the trunk."""
        changes = self._db.execute("SELECT id, content FROM nodes WHERE tx = ?", self._scope)
        for node_id, content in changes:
            if content == "removed":
                self._merge_removal(node_id)
            elif content != "pinned":
                self._merge_change(node_id, content)

    def _merge_removal(self, node_id: str) -> None:
        target = self._lineage[1]
        self._db.execute("DELETE FROM slices WHERE node = ? AND tx = ?", node_id, target)
        self._db.execute("DELETE FROM nodes WHERE id = ? AND tx = ?", node_id, target)
        if self._is_in(self._lineage[2:], node_id):
            self._db.execute("UPDATE nodes SET tx = ? WHERE id = ? AND tx = ?", target, node_id, self._scope)

    def _merge_change(self, node_id: str, content: _Content) -> None:
        target = self._lineage[1]
        before = self._db.execute(
            "SELECT content, revision, attributes FROM nodes WHERE id = ? AND tx = ?", node_id, target
        )
        ((content_before, revision, attributes),) = before or [("kept", 0, None)]
        if before and not self._excludes_others(node_id):
            # A load that appended beside this transaction may have put its id there.
            self._db.execute(
                "UPDATE nodes SET attributes = ? WHERE id = ? AND tx = ?", attributes, node_id, self._scope
            )
        if content == "replaced":
            self._db.execute("DELETE FROM slices WHERE node = ? AND tx = ?", node_id, target)
        self._db.execute(
            "UPDATE slices SET tx = ?, position = position + ? WHERE node = ? AND tx = ?",
            *(target, self._next_position(node_id, target), node_id, self._scope),
        )
        if content == "kept" or (content == "appended" and content_before != "kept"):
            content = content_before
        self._db.execute("DELETE FROM nodes WHERE id = ? AND tx = ?", node_id, target)
        self._db.execute(
            "UPDATE nodes SET tx = ?, content = ?, "
            "revision = CASE WHEN revision > ? THEN revision ELSE ? END WHERE id = ? AND tx = ?",
            *(target, content, revision, revision + 1, node_id, self._scope),
        )

    def _excludes_others(self, node_id: str) -> bool:
        """Whether this transaction alone may change the attributes of a node."""
        return bool(
            self._db.execute(
                "SELECT 1 FROM locks WHERE node = ? AND tx = ? AND mode = 'exclusive'", node_id, self._scope
            )
        )

    # --- Versions -------------------------------------------------------------------------------------

    def _version(self, node_id: str, columns: str) -> Record | None:
        """The node as this transaction sees it."""
        records = self._db.execute(
            f"SELECT tx, content, {columns} FROM nodes WHERE id = ? AND {self._in_lineage}",
            *(node_id, *self._lineage),
        )
        if not records:
            return None
        _, content, *values = min(records, key=lambda record: self._lineage.index(record[0]))
        return None if content == "removed" else tuple(values)

    def _versions(self, condition: str, *values: str) -> list[Record]:
        """The nodes for which a condition is true in some transaction, as this one sees them."""
        records = self._db.execute(
            f"SELECT tx, content, {_NODE_COLUMNS} FROM nodes WHERE {self._in_lineage} AND id IN "
            f"(SELECT id FROM nodes WHERE {condition} AND {self._in_lineage})",
            *(*self._lineage, *values, *self._lineage),
        )
        versions: dict[str, Record] = {}
        for record in sorted(records, key=lambda record: self._lineage.index(record[0])):
            versions.setdefault(record[2], record)
        return [record[2:] for record in versions.values() if record[1] != "removed"]

    def _content(self, node_id: str) -> _Content:
        """What this transaction made of a node, which it has a version of afterwards."""
        self._branch(node_id)
        ((content,),) = self._db.execute(
            "SELECT content FROM nodes WHERE id = ? AND tx = ?", node_id, self._scope
        )
        return content  # type: ignore[no-any-return]

    def _branch(self, node_id: str) -> None:
        """Give this transaction its own version of a node."""
        if self._scope == TRUNK or self._db.execute(
            "SELECT 1 FROM nodes WHERE id = ? AND tx = ?", node_id, self._scope
        ):
            return
        record = self._version(node_id, f"{_NODE_COLUMNS}, schema, mode, optimize_for")
        if record is not None:
            self._db.execute(
                f"INSERT INTO nodes ({_NODE_COLUMNS}, schema, mode, optimize_for, tx, content) "
                f"VALUES ({', '.join('?' * len(record))}, ?, 'kept')",
                *(*record, self._scope),
            )

    def _update(self, node_id: str, **values: object) -> None:
        """Change columns of this transaction's version of a node."""
        self._branch(node_id)
        assignments = "".join(f"{column} = ?, " for column in values)
        self._db.execute(
            f"UPDATE nodes SET {assignments}revision = revision + 1, modification_time = ? "
            "WHERE id = ? AND tx = ?",
            *(*values.values(), now_text(), node_id, self._scope),
        )

    def _is_in(self, scopes: Sequence[str], node_id: str) -> bool:
        """Whether one of some transactions has the node."""
        return bool(scopes) and bool(
            self._db.execute(
                f"SELECT 1 FROM nodes WHERE id = ? AND tx IN ({', '.join('?' * len(scopes))})",
                *(node_id, *scopes),
            )
        )

    def _slice_scopes(self, node_id: str) -> list[str]:
        """The transactions whose slices, one after the other, are the table."""
        contents: dict[str, str] = dict(
            self._db.execute(
                f"SELECT tx, content FROM nodes WHERE id = ? AND {self._in_lineage}",
                *(node_id, *self._lineage),
            )
        )
        scopes: list[str] = []
        for scope in self._lineage:
            if contents.get(scope, "kept") != "kept":
                scopes.insert(0, scope)
            if contents.get(scope) in ("replaced", "pinned", "removed"):
                break
        return scopes

    def _copy_slices(self, source: str, target: str, scopes: Sequence[str] | None = None) -> None:
        for scope in self._slice_scopes(source) if scopes is None else scopes:
            self._db.execute(
                'INSERT INTO slices SELECT ?, ?, position + ?, chunk, start, "end", first_key, last_key '
                "FROM slices WHERE node = ? AND tx = ?",
                *(target, self._scope, self._next_position(target, self._scope), source, scope),
            )

    def _next_position(self, node_id: str, scope: str) -> int:
        ((position,),) = self._db.execute(
            "SELECT coalesce(max(position) + 1, 0) FROM slices WHERE node = ? AND tx = ?", node_id, scope
        )
        return int(position)

    # --- Documents ------------------------------------------------------------------------------------

    def _slice(self, record: Record) -> Slice:
        chunk_id, schema, rows, compressed, uncompressed, weight, optimize_for, start, end, *keys = record
        chunk = Chunk(chunk_id, self._schema(schema), rows, compressed, uncompressed, weight, optimize_for)
        first, last = (None if key is None else bytes(key) for key in keys)
        return Slice(chunk, start, end, first, last)

    def _schema(self, schema_id: str) -> TableSchema:
        if schema_id not in self._schemas:
            ((document,),) = self._db.execute("SELECT document FROM schemas WHERE id = ?", schema_id)
            reading = read_columns(loads(bytes(document)))
            if reading.faults:
                raise YtError(f"the stored schema {schema_id} is not valid: {reading.faults[0]}")
            self._schemas[schema_id] = reading.schema
        return self._schemas[schema_id]

    def _schema_id(self, schema: TableSchema) -> str:
        document = dumps(schema_document(schema), yson_format="binary")
        schema_id = sha256(document).hexdigest()[:32]
        self._db.execute("INSERT INTO schemas VALUES (?, ?) ON CONFLICT (id) DO NOTHING", schema_id, document)
        return schema_id


_NODE_COLUMNS: Final = "id, parent, name, type, attributes, creation_time, modification_time, revision"
_SELECT_SLICE: Final = (
    "SELECT c.id, c.schema, c.rows, c.compressed_size, c.uncompressed_size, c.weight, c.optimize_for, "
    's.start, s."end", s.first_key, s.last_key FROM slices AS s JOIN chunks AS c ON c.id = s.chunk '
    "WHERE s.node = ? AND s.tx = ?"
)


def new_node(type: NodeType, parent: str, name: str, attributes: Mapping[str, Any] | None = None) -> Node:
    return Node(new_id(type), parent, name, type, attributes or {})


def _node(record: Record) -> Node:
    node_id, parent, name, type, attributes, creation, modification, revision = record
    return Node(node_id, parent, name, type, loads(bytes(attributes)), creation, modification, revision)
