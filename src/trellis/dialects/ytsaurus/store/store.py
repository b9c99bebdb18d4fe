"""A store: its folder, its tree of nodes, its switches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.node_path import NodePath
from trellis.dialects.ytsaurus.paths.rich_path import parse_optimize_for
from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.schema.model import EMPTY
from trellis.dialects.ytsaurus.store.catalog import ROOT, Catalog, Node, NodeType, TableInfo, new_node
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles
from trellis.dialects.ytsaurus.store.locks import hold_lock
from trellis.dialects.ytsaurus.switches import Switches
from trellis.errors import UsageError

GC_AGE: Final = 3600.0
"""Seconds for which a file is kept that no table has: it may be part of a running write, or be read."""
_TABLE_ATTRIBUTES: Final[tuple[str, ...]] = ("schema", "optimize_for")


class Store:
    """Opened by the URL `yt:FOLDER?switch=value`. Options of the URL are kept."""

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        switches = Switches.parse(options)
        self._folder = folder
        for name in ("chunks", "locks"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.catalog = Catalog(folder / "catalog.db")
        self.files = ChunkFiles(folder / "chunks")
        if options:
            with self.catalog.transaction():
                self.catalog.set_options(options)
        else:
            switches = Switches.parse(self.catalog.options())
        self.switches = switches

    @classmethod
    def open(cls, url: str) -> Store:
        """Raises UsageError for a URL that is none."""
        scheme, _, rest = url.partition(":")
        folder, _, query = rest.partition("?")
        if scheme != "yt" or not folder:
            raise UsageError(f"{url!r} is not the URL of a store; expected yt:FOLDER")
        return cls(Path(folder), dict(parse_qsl(query, keep_blank_values=True)))

    @property
    def folder(self) -> Path:
        return self._folder

    def close(self) -> None:
        self.catalog.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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

    def table(self, path: str) -> TableInfo:
        """Raises YtError if there is no table."""
        node = self.node(path)
        if node.type != "table":
            raise YtError(f"{path} is a {node.type}; expected a table")
        return self.catalog.table(node, path)

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
        with self.catalog.transaction():
            existing = self.find(path)
            if existing is not None and ignore_existing:
                if existing.type != kind:
                    raise YtError(f"{path} is a {existing.type}, not a {kind}", ErrorCode.ALREADY_EXISTS)
                return existing.id
            self._make_room(path, force=force)
            parent, name = self._place(path, recursive=recursive)
            settings = {key: attributes.pop(key) for key in _TABLE_ATTRIBUTES if key in attributes}
            node = new_node(kind, parent.id, name, attributes)
            self.catalog.insert_node(node)
            if kind == "table":
                self._create_table(node, settings)
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
            with self._exclusive_locks(node, path, "remove"):
                self.catalog.delete_node(node.id)

    def copy(self, source: str, target: str, *, recursive: bool = False, force: bool = False) -> str:
        """The id of the copy. Schema, mode and attributes are kept, and no data is read."""
        with self.catalog.transaction():
            node = self._check_source(source, target, "copy")
            self._make_room(target, force=force)
            parent, name = self._place(target, recursive=recursive)
            return self._copy_node(node, parent.id, name)

    def move(self, source: str, target: str, *, recursive: bool = False, force: bool = False) -> str:
        """The id of the node, which keeps it."""
        with self.catalog.transaction():
            node = self._check_source(source, target, "move")
            with self._exclusive_locks(node, source, "move"):
                self._make_room(target, force=force)
                parent, name = self._place(target, recursive=recursive)
                self.catalog.move_node(node.id, parent.id, name)
                return node.id

    def collect_garbage(self, age: float = GC_AGE) -> list[str]:
        """The ids of the chunks that were deleted: those that no table has had for `age` seconds."""
        now = time.time()
        with self.catalog.transaction():
            kept = self.catalog.forget_unreferenced(now, age)
            return self.files.delete_others(kept, now - age)

    @contextmanager
    def lock(self, table: TableInfo, verb: str, *, exclusive: bool = True) -> Iterator[TableInfo]:
        """The table as it is once the lock is held. Raises YtError with the code 402."""
        with hold_lock(self._folder / "locks", table.node.id, table.path, verb, exclusive=exclusive):
            current = self.table(table.path)
            if current.node.id != table.node.id:
                raise YtError(
                    f"cannot {verb} {table.path}: it was replaced meanwhile; run this again",
                    ErrorCode.CONCURRENT_LOCK,
                )
            yield current

    # --- Parts ----------------------------------------------------------------------------------------

    def _find(self, path: NodePath) -> Node | None:
        node = self.catalog.find_node(path.object_id or ROOT)
        for name in path.names:
            if node is None:
                return None
            node = self.catalog.find_child(node.id, name)
        return node

    def _place(self, path: str, *, recursive: bool) -> tuple[Node, str]:
        """The map node that a new node comes into, and its name there."""
        place = NodePath.parse(path)
        if not place.names or place.attribute is not None:
            raise YtError(f"{path} cannot be the path of a new node")
        parent = self._find(place.parent)
        if parent is None:
            if not recursive:
                raise YtError(
                    f"there is no node {place.parent} to put {place.names[-1]} into; create it, or use -r",
                    ErrorCode.PATH_NOT_FOUND,
                    attributes={"path": str(place.parent)},
                )
            above, name = self._place(str(place.parent), recursive=True)
            parent = new_node("map_node", above.id, name)
            self.catalog.insert_node(parent)
        if parent.type != "map_node":
            raise YtError(f"{place.parent} is a {parent.type}, which holds no other nodes")
        return parent, place.names[-1]

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
        node = self.node(source)
        place = self.find(target)
        while place is not None:
            if place.id == node.id:
                raise YtError(
                    f"cannot {verb} {source} to {target}: both are one node, or one is in the other"
                )
            place = None if place.parent is None else self.catalog.find_node(place.parent)
        parent = NodePath.parse(target).parent
        if (
            node.type == "map_node"
            and NodePath.parse(source).names == parent.names[: len(NodePath.parse(source).names)]
        ):
            raise YtError(f"cannot {verb} {source} into itself, to {target}")
        return node

    def _copy_node(self, node: Node, parent: str, name: str) -> str:
        copy = new_node(node.type, parent, name, node.attributes)
        self.catalog.insert_node(copy)
        if node.type == "table":
            self.catalog.copy_table(node.id, copy.id)
        for child in self.catalog.children(node.id):
            self._copy_node(child, copy.id, child.name)
        return copy.id

    def _create_table(self, node: Node, settings: Mapping[str, Any]) -> None:
        optimize_for = parse_optimize_for(settings.get("optimize_for")) or "lookup"
        if "schema" not in settings:
            self.catalog.put_table(node.id, EMPTY, "weak", optimize_for)
            return
        schema = parse_schema(settings["schema"], self.switches)
        self.catalog.put_table(node.id, schema, "strong", optimize_for)

    @contextmanager
    def _exclusive_locks(self, node: Node, path: str, verb: str) -> Iterator[None]:
        """The locks of a node and of all below it."""
        with ExitStack() as locks:
            nodes = [(node, path)]
            while nodes:
                inner, inner_path = nodes.pop()
                folder = self._folder / "locks"
                locks.enter_context(hold_lock(folder, inner.id, inner_path, verb, exclusive=True))
                nodes += [(child, f"{inner_path}/{child.name}") for child in self.catalog.children(inner.id)]
            yield
