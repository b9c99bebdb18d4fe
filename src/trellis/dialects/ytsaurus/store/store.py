"""A store: its folder, its tree of nodes, its switches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.node_path import NodePath, escape_name
from trellis.dialects.ytsaurus.paths.rich_path import parse_optimize_for
from trellis.dialects.ytsaurus.schema.document import parse_flag, parse_schema
from trellis.dialects.ytsaurus.schema.model import EMPTY
from trellis.dialects.ytsaurus.store.catalog import ROOT, Catalog, Node, NodeType, TableInfo, new_node
from trellis.dialects.ytsaurus.store.catalog_tables import open_tables
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles
from trellis.dialects.ytsaurus.store.database.connections import (
    Database,
    PostgresDatabase,
    SqliteDatabase,
    redact,
)
from trellis.dialects.ytsaurus.store.database.locks import Lock, LockMode, LockRequest, Locks
from trellis.dialects.ytsaurus.store.database.transactions import TRUNK, Transactions
from trellis.dialects.ytsaurus.switches import Switches
from trellis.errors import UsageError

GC_AGE: Final = 3600.0
"""Seconds for which a file is kept that no table has: it may be part of a running write, or be read."""
_CLOCK_SKEW: Final = 60.0
"""Seconds by which clocks of machines and of file systems may differ."""
_TABLE_ATTRIBUTES: Final[tuple[str, ...]] = ("schema", "optimize_for")
_MARKER: Final = "catalog.url"
"""A file that says where the catalogue is, if that is not in the folder."""


class Store:
    """A tree of nodes, as it is in the trunk or as a transaction sees it."""

    def __init__(self, folder: Path, database: Database, switches: Switches, lineage: Sequence[str]) -> None:
        self._folder = folder
        self._db = database
        self.switches = switches
        self.lineage = tuple(lineage)
        """The transaction that this store is bound to, and those it is nested in, up to the trunk."""
        self.transactions = Transactions(database, folder / "locks")
        self.locks = Locks(database, self.transactions)
        self.catalog = Catalog(database, self.transactions, lineage)
        self.files = ChunkFiles(folder / "chunks")

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Store:
        """The store of `yt:FOLDER?switch=value`. Switches of the URL are kept.

        Raises UsageError, without `create` also where there is no store in the folder.
        """
        scheme, _, address = url.partition(":")
        path, _, query = address.partition("?")
        if scheme != "yt" or not path:
            raise UsageError(f"{url.partition('?')[0]!r} is not the URL of a store; expected yt:FOLDER")
        options = dict(parse_qsl(query, keep_blank_values=True))
        catalog_url = options.pop("catalog", "")
        switches = Switches.parse(options)
        folder = Path(path)
        if not create and not (folder / "chunks").is_dir():
            raise UsageError(f"there is no store in the folder {folder}")
        for name in ("chunks", "locks"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        store = cls(folder, _open_database(folder, catalog_url), switches, (TRUNK,))
        store_id = open_tables(store._db, store.catalog)
        if catalog_url:
            _check_marker(folder / _MARKER, f"{redact(catalog_url)} {store_id}\n")
        if options:
            with store.catalog.transaction():
                store.catalog.set_options(options)
        else:
            store.switches = Switches.parse(store.catalog.options())
        return store

    @property
    def folder(self) -> Path:
        return self._folder

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- Transactions ---------------------------------------------------------------------------------

    def within(self, transaction_id: str) -> Store:
        """The store as a transaction sees it; what is changed there is in that transaction.

        Raises YtError with the code 11000.
        """
        return self._bind(self.transactions.lineage(transaction_id))

    @contextmanager
    def command(self, verb: str) -> Iterator[Store]:
        """The store for a command that takes its time: all its changes are there at its end, or none."""
        with self.session(verb) as store:
            yield store
            store.commit()

    @contextmanager
    def session(self, title: str) -> Iterator[Store]:
        """The store in a transaction that ends with the process; without a commit nothing of it is left."""
        with self.transactions.of_process(self.lineage[0], title) as transaction:
            yield self._bind((transaction.id, *self.lineage))

    def commit(self) -> None:
        """Give the changes of this transaction to the one it is nested in, or to the trunk, and end it."""
        transaction, parent = self.lineage[:2]
        with self.catalog.transaction():
            for child in self.transactions.children(transaction):
                self.transactions.abort(child)
            self.catalog.merge_into_parent()
            self.locks.promote(transaction, parent)
            self.transactions.abort(transaction)

    def lock(self, table: TableInfo, verb: str, *, exclusive: bool = True) -> TableInfo:
        """The table as it is when this transaction holds a lock on it. Raises YtError, code 402."""
        with self.catalog.transaction():
            self.take_lock(table.node.id, table.path, "exclusive" if exclusive else "shared", verb)
            current = self.table(table.path)
        if current.node.id != table.node.id:
            raise YtError(
                f"cannot {verb} {table.path}: it was replaced meanwhile; run this again",
                ErrorCode.CONCURRENT_LOCK,
            )
        return current

    def take_lock(
        self, node_id: str, path: str, mode: LockMode, verb: str, child_key: str = ""
    ) -> Lock | None:
        """Raises YtError with the code 402."""
        return self.locks.take(self.lineage, LockRequest(node_id, path, mode, verb, child_key))

    def _bind(self, lineage: Sequence[str]) -> Store:
        return Store(self._folder, self._db, self.switches, lineage)

    # --- Nodes ----------------------------------------------------------------------------------------

    def find(self, path: str) -> Node | None:
        """The node of a path, whose attribute is ignored."""
        return self._find(NodePath.parse(path))

    def node(self, path: str) -> Node:
        """Raises YtError with the code 500."""
        node = self.find(path)
        if node is None:
            raise YtError(f"there is no node {path}", ErrorCode.PATH_NOT_FOUND, attributes={"path": path})
        return node

    def path_of(self, node: Node) -> str:
        names = [escape_name(above.name) for above in self._nodes_from(node) if above.parent is not None]
        return "/" + "".join(f"/{name}" for name in reversed(names)) if names else "/"

    def table(self, path: str) -> TableInfo:
        """Raises YtError if there is no table."""
        node = self.node(path)
        if node.type != "table":
            raise YtError(f"{path} is a {node.type}; expected a table")
        return self.catalog.table(node, self.path_of(node) if path.startswith("#") else path)

    def create(
        self,
        type: str,
        path: str,
        attributes: Mapping[str, Any] | None = None,
        *,
        recursive: bool = False,
        ignore_existing: bool = False,
        force: bool = False,
    ) -> str:
        """The id of the node. Raises YtError with the code 501 if there is one already."""
        if type not in ("table", "map_node"):
            raise YtError(f"nodes of the type {type!r} are not supported; expected table or map_node")
        kind: NodeType = "table" if type == "table" else "map_node"
        attributes = dict(attributes or {})
        if parse_flag(attributes.get("dynamic", False)):
            raise YtError(f"{path}: dynamic is %true, and tables are static here; leave it away")
        with self.catalog.transaction():
            existing = self.find(path)
            if existing is not None and ignore_existing:
                if existing.type != kind:
                    raise YtError(f"{path} is a {existing.type}, not a {kind}", ErrorCode.ALREADY_EXISTS)
                return existing.id
            self._make_room(path, force=force)
            parent, name = self._reserve(path, "create", recursive=recursive)
            settings = {key: attributes.pop(key) for key in _TABLE_ATTRIBUTES if key in attributes}
            node = new_node(kind, parent.id, name, attributes)
            self.catalog.insert_node(node)
            if kind == "table":
                self._create_table(node, path, settings)
            return node.id

    def create_if_missing(self, path: str) -> TableInfo:
        """The table that a write or an operation leaves its rows in."""
        with self.catalog.transaction():
            if self.find(path) is None:
                self.create("table", path)
            return self.table(path)

    def remove(self, path: str, *, recursive: bool = False, force: bool = False) -> None:
        with self.catalog.transaction():
            node = self.find(path)
            if node is None and force:
                return
            node = self.node(path)
            if node.id == ROOT:
                raise YtError("the root cannot be removed")
            if node.type == "map_node" and not recursive and self.catalog.children(node.id):
                raise YtError(f"{path} is not empty; remove it with -r")
            self._lock_tree(node, path, "remove")
            self.catalog.delete_node(node.id)

    def copy(
        self,
        source: str,
        target: str,
        *,
        recursive: bool = False,
        ignore_existing: bool = False,
        force: bool = False,
    ) -> str:
        """The id of the copy. Schema, mode and attributes are kept, and no data is read."""
        with self.catalog.transaction():
            node = self._check_source(source, target, "copy")
            if ignore_existing and (existing := self.find(target)) is not None:
                return existing.id
            self._make_room(target, force=force)
            parent, name = self._reserve(target, "copy to", recursive=recursive)
            return self._copy_node(node, parent.id, name)

    def move(self, source: str, target: str, *, recursive: bool = False, force: bool = False) -> str:
        """The id of the node, which keeps it."""
        with self.catalog.transaction():
            node = self._check_source(source, target, "move")
            self._lock_tree(node, source, "move")
            self._make_room(target, force=force)
            parent, name = self._reserve(target, "move to", recursive=recursive)
            self.catalog.move_node(node.id, parent.id, name)
            return node.id

    def collect_garbage(self, age: float = GC_AGE) -> list[str]:
        """The ids of the chunks that were deleted: those that no table has had for `age` seconds.

        What was written, or lost by a table, since the oldest of the commands that run began is kept: it may
        be theirs.
        """
        now = time.time()
        with self.catalog.transaction():
            self.transactions.abort_dead()
            before = min(now - age, self.transactions.first_start() - _CLOCK_SKEW)
            kept = self.catalog.forget_unreferenced(now, before)
            return self.files.delete_others(kept, before)

    def delete_uncommitted(self, operation: str) -> None:
        """Delete the chunks of an operation that no commit, made or begun, has put into the catalogue."""
        with self.catalog.transaction():
            self.files.delete_operation(operation, self.catalog.chunks_of(operation))

    # --- Parts ----------------------------------------------------------------------------------------

    def _find(self, path: NodePath) -> Node | None:
        node = self.catalog.find_node(path.object_id or ROOT)
        for name in path.names:
            if node is None:
                return None
            node = self.catalog.find_child(node.id, name)
        return node

    def _reserve(self, path: str, verb: str, *, recursive: bool) -> tuple[Node, str]:
        """The map node that a new node comes into, and its name there, which is locked."""
        place = NodePath.parse(path)
        if not place.names or place.attribute is not None:
            raise YtError(f"{path} cannot be the path of a new node")
        parent, name = self._find(place.parent), place.names[-1]
        if parent is None:
            if not recursive:
                raise YtError(
                    f"there is no node {place.parent} to put {name} into; create it, or use -r",
                    ErrorCode.PATH_NOT_FOUND,
                    attributes={"path": str(place.parent)},
                )
            above, parent_name = self._reserve(str(place.parent), verb, recursive=True)
            parent = new_node("map_node", above.id, parent_name)
            self.catalog.insert_node(parent)
        if parent.type != "map_node":
            raise YtError(f"{place.parent} is a {parent.type}, which holds no other nodes")
        self.take_lock(parent.id, path, "shared", verb, name)
        return parent, name

    def _make_room(self, path: str, *, force: bool) -> None:
        existing = self.find(path)
        if existing is None:
            return
        if not force:
            raise YtError(
                f"{path} exists already; replace it with -f",
                ErrorCode.ALREADY_EXISTS,
                attributes={"path": path},
            )
        self.remove(path, recursive=True)

    def _check_source(self, source: str, target: str, verb: str) -> Node:
        """The node that is copied or moved. Raises YtError where it would replace or contain itself."""
        node, replaced = self.node(source), self.find(target)
        place = NodePath.parse(target).parent
        while (above := self._find(place)) is None:
            place = place.parent
        if (
            node == replaced
            or node in self._nodes_from(above)
            or (replaced is not None and replaced in self._nodes_from(node))
        ):
            raise YtError(f"cannot {verb} {source} to {target}: both are one node, or one is in the other")
        return node

    def _nodes_from(self, node: Node | None) -> list[Node]:
        """A node and those above it."""
        nodes = []
        while node is not None:
            nodes.append(node)
            node = None if node.parent is None else self.catalog.find_node(node.parent)
        return nodes

    def _copy_node(self, node: Node, parent: str, name: str) -> str:
        copy = new_node(node.type, parent, name, node.attributes)
        self.catalog.insert_node(copy)
        if node.type == "table":
            self.catalog.copy_table(node.id, copy.id)
        for child in self.catalog.children(node.id):
            self._copy_node(child, copy.id, child.name)
        return copy.id

    def _create_table(self, node: Node, path: str, settings: Mapping[str, Any]) -> None:
        has_schema = "schema" in settings
        try:
            optimize_for = parse_optimize_for(settings.get("optimize_for")) or "lookup"
            schema = parse_schema(settings["schema"], self.switches) if has_schema else EMPTY
        except YtError as error:
            raise error.at_path(path) from None
        self.catalog.put_table(node.id, schema, "strong" if has_schema else "weak", optimize_for)

    def _lock_tree(self, node: Node, path: str, verb: str) -> None:
        """Lock a node, all below it, and its name in the node above it."""
        if node.parent is not None:
            self.take_lock(node.parent, path, "shared", verb, node.name)
        self.take_lock(node.id, path, "exclusive", verb)
        for child in self.catalog.children(node.id):
            self._lock_tree(child, f"{path}/{escape_name(child.name)}", verb)


def _open_database(folder: Path, catalog_url: str) -> Database:
    if catalog_url:
        return PostgresDatabase(catalog_url)
    marker = folder / _MARKER
    if marker.exists():
        raise UsageError(
            f"the catalogue of {folder} is not in the folder, but in {marker.read_text().split()[0]}; "
            f"open the store with yt:{folder}?catalog=URL"
        )
    return SqliteDatabase(folder / "catalog.db")


def _check_marker(marker: Path, text: str) -> None:
    """Note in a folder which catalogue is that of its chunks. Raises UsageError for another one."""
    if not marker.exists():
        marker.write_text(text)
    if marker.read_text() != text:
        raise UsageError(
            f"{marker.parent} has the chunks of another catalogue, {marker.read_text().strip()}; "
            f"open it with that, or take another folder"
        )
