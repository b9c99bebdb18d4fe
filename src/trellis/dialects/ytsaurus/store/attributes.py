"""Attributes of nodes: those of the system, and those of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.node_path import NodePath, escape_name
from trellis.dialects.ytsaurus.paths.rich_path import parse_optimize_for
from trellis.dialects.ytsaurus.schema.document import schema_document
from trellis.dialects.ytsaurus.store.catalog import Node, TableInfo, Totals
from trellis.dialects.ytsaurus.store.database.ids import type_of_id
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.transaction_commands import (
    lock_document,
    object_document,
    refresh_lock,
)
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes
from trellis.errors import nearest

_NODE: Final[Mapping[str, Callable[[Node], Any]]] = {
    "id": lambda node: node.id,
    "type": lambda node: node.type,
    "key": lambda node: node.name,
    "creation_time": lambda node: node.creation_time,
    "modification_time": lambda node: node.modification_time,
    "revision": lambda node: node.revision,
}
_TABLE: Final[Mapping[str, Callable[[TableInfo], Any]]] = {
    "schema": lambda table: schema_document(table.schema),
    "schema_mode": lambda table: table.mode,
    "sorted": lambda table: table.schema.is_sorted,
    "key_columns": lambda table: [key.name for key in table.schema.keys],
    "optimize_for": lambda table: table.optimize_for,
    "dynamic": lambda table: False,
    "compression_codec": lambda table: "zstd_1" if table.optimize_for == "scan" else "lz4",
    "erasure_codec": lambda table: "none",
    "replication_factor": lambda table: 1,
}
_TOTALS: Final[Mapping[str, Callable[[Totals], Any]]] = {
    "row_count": lambda totals: totals.rows,
    "chunk_count": lambda totals: totals.chunks,
    "compressed_data_size": lambda totals: totals.compressed_size,
    "uncompressed_data_size": lambda totals: totals.uncompressed_size,
    "data_weight": lambda totals: totals.weight,
}
_SYSTEM: Final = frozenset((*_NODE, *_TABLE, *_TOTALS, "locks", "path", "sorted_by"))


def get(store: Store, path: str, attributes: Iterable[str] = ()) -> Any:
    """What is at a path: an attribute or a part of it, all of them (`/@`), or a tree of nodes.

    With `attributes` only these of all, or each node of the tree with these.
    """
    place = NodePath.parse(path)
    if type_of_id(place.object_id) == "lock":
        refresh_lock(store, place.object_id)
    with store.catalog.snapshot():
        if place.attribute is not None and not place.names:
            document = object_document(store, place.object_id)
            if document is not None:
                return _part(document, place.attribute, path)
        node = store.node(path)
        if place.attribute is None:
            return _tree(store, node, path, tuple(attributes))
        if not place.attribute:
            names = tuple(attributes) or (*_NODE, *((*_TABLE, *_TOTALS) if node.type == "table" else ()))
            values = _present_attributes(store, node, path, sorted(names))
            return values if attributes else {**values, **node.attributes}
        name, *steps = place.attribute
        return _part(_attribute(store, node, name, str(place)), steps, path)


def exists(store: Store, path: str) -> bool:
    place = NodePath.parse(path)
    if place.attribute is None and not place.names and object_document(store, place.object_id):
        return True
    if place.names and store.find(path) is None:
        return False
    if not place.attribute:
        return store.find(path) is not None
    try:
        get(store, path)
    except YtError:
        return False
    return True


def set_attribute(store: Store, path: str, value: Any) -> None:
    """Raises YtError for attributes that the system keeps."""
    place = NodePath.parse(path)
    if not place.attribute:
        raise YtError(f"{path} is not an attribute; expected a path such as //home/t/@note")
    name, *steps = place.attribute
    with store.catalog.transaction():
        node = store.node(path)
        store.take_lock(node.id, str(place), "exclusive", "set an attribute of")
        if name == "optimize_for" and node.type == "table" and not steps:
            table = store.catalog.table(node, str(place))
            try:
                layout = parse_optimize_for(value) or table.optimize_for
            except YtError as error:
                raise error.at_path(str(place)) from None
            store.catalog.put_table(node.id, table.schema, table.mode, layout)
            return
        if name in _SYSTEM:
            hint = "; change the schema with alter-table" if name.startswith("schema") else ""
            raise YtError(f"the attribute {name} of {place} cannot be set{hint}")
        if steps:
            raise YtError(f"{path}: only whole attributes can be set")
        store.catalog.set_attributes(node.id, {**node.attributes, name: value})


def remove_attribute(store: Store, path: str, *, force: bool = False) -> None:
    place = NodePath.parse(path)
    with store.catalog.transaction():
        node = store.node(path)
        store.take_lock(node.id, str(place), "exclusive", "remove an attribute of")
        attributes = dict(node.attributes)
        (name, *_) = place.attribute or ("",)
        if name in _SYSTEM:
            raise YtError(f"the attribute {name} of {place} cannot be removed")
        if name not in attributes and not force:
            raise _missing(node, name, path)
        attributes.pop(name, None)
        store.catalog.set_attributes(node.id, attributes)


def remove(store: Store, path: str, *, recursive: bool = False, force: bool = False) -> None:
    """Remove a node, or an attribute that a user set."""
    if NodePath.parse(path).attribute is None:
        store.remove(path, recursive=recursive, force=force)
    else:
        remove_attribute(store, path, force=force)


def list_children(store: Store, path: str, attributes: Iterable[str] = ()) -> list[Any]:
    """Names of the nodes in a map node, with these attributes, or of the attributes (`/@`)."""
    place = NodePath.parse(path)
    node = store.node(path)
    if place.attribute is not None:
        value = get(store, path)
        return sorted(value) if isinstance(value, Mapping) else []
    if node.type != "map_node":
        raise YtError(f"{path} is a {node.type}, which holds no other nodes")
    return [
        _attributed(store, child, child.name, f"{path}/{escape_name(child.name)}", tuple(attributes))
        for child in store.catalog.children(node.id)
    ]


def _attribute(store: Store, node: Node, name: str, path: str) -> Any:
    if name in _NODE:
        return _NODE[name](node)
    if name == "path":
        return store.path_of(node)
    if name == "locks":
        return [lock_document(lock) for lock in store.locks.of_node(node.id)]
    if node.type == "table":
        if name in _TOTALS:
            return _TOTALS[name](store.catalog.totals(node.id))
        table = store.catalog.table(node, path)
        if name in _TABLE:
            return _TABLE[name](table)
        if name == "sorted_by":
            if not table.schema.is_sorted:
                raise YtError(
                    f"{path} is not sorted, so it has no attribute sorted_by", ErrorCode.PATH_NOT_FOUND
                )
            return [key.name for key in table.schema.keys]
    if name not in node.attributes:
        raise _missing(node, name, path)
    return node.attributes[name]


def _part(value: Any, steps: Sequence[str], path: str) -> Any:
    for step in steps:
        plain, attributes = split_attributes(value)
        if step.startswith("@"):
            plain, step = attributes, step[1:]
            if not step:
                value = dict(attributes)
                continue
        try:
            value = plain[int(step)] if isinstance(plain, list) else plain[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise YtError(f"there is nothing at {path}: no {step!r}", ErrorCode.PATH_NOT_FOUND) from None
    return value


def _missing(node: Node, name: str, path: str) -> YtError:
    hint = nearest(name, sorted({*_SYSTEM, *node.attributes}))
    return YtError(
        f"{path} has no attribute {name}{hint}", ErrorCode.PATH_NOT_FOUND, attributes={"path": path}
    )


def _tree(store: Store, node: Node, path: str, attributes: Sequence[str]) -> Any:
    tree = None
    if node.type == "map_node":
        children = store.catalog.children(node.id)
        tree = {
            child.name: _tree(store, child, f"{path}/{escape_name(child.name)}", attributes)
            for child in children
        }
    return _attributed(store, node, tree, path, attributes)


def _attributed(store: Store, node: Node, value: Any, path: str, names: Sequence[str]) -> Any:
    """A value with those of some attributes of a node that it has."""
    attributes = _present_attributes(store, node, path, names)
    return Attributed(value, attributes) if attributes else value


def _present_attributes(store: Store, node: Node, path: str, names: Iterable[str]) -> dict[str, Any]:
    attributes = {}
    for name in names:
        try:
            attributes[name] = _attribute(store, node, name, path)
        except YtError as error:
            if error.code != ErrorCode.PATH_NOT_FOUND:
                raise
    return attributes
