"""Nodes of a store with the methods of the client of YTsaurus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, Final

from trellis.dialects.ytsaurus.client.formats import parse_format
from trellis.dialects.ytsaurus.client.table_path import path_name
from trellis.dialects.ytsaurus.client.values import YsonString, from_python, to_python
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.node_path import escape_name
from trellis.dialects.ytsaurus.store import attributes as node_attributes
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.yson.values import to_bytes

_NO_DEFAULT: Final = object()


class NodeCommands(ABC):
    """Commands on the nodes of a store."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store in the transaction that the client is in."""

    def create(
        self,
        type: str,
        path: Any,
        recursive: bool = False,
        ignore_existing: bool = False,
        *,
        force: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> str:
        return self.store.create(
            type,
            path_name(path),
            from_python(attributes or {}),
            recursive=recursive,
            ignore_existing=ignore_existing,
            force=force,
        )

    def create_table(
        self,
        path: Any,
        recursive: bool = False,
        ignore_existing: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> str:
        return self.create("table", path, recursive, ignore_existing, attributes=attributes)

    def mkdir(self, path: Any, recursive: bool = False) -> None:
        self.create("map_node", path, recursive, ignore_existing=recursive)

    def get(
        self,
        path: Any,
        max_size: object = None,
        attributes: Sequence[str] | None = None,
        format: Any = None,
        read_from: object = None,
    ) -> Any:
        """An attribute, or a whole tree of nodes; with `format` the bytes of it.

        `max_size` and `read_from` have no effect here.
        """
        value = node_attributes.get(self.store, path_name(path), attributes or ())
        return to_python(value) if format is None else parse_format(format).dumps(value)

    def set(self, path: Any, value: Any, format: Any = None) -> None:
        """With `format` the value is bytes of it."""
        document = from_python(value) if format is None else parse_format(format).loads(to_bytes(value))
        node_attributes.set_attribute(self.store, path_name(path), document)

    def exists(self, path: Any, read_from: object = None) -> bool:
        return node_attributes.exists(self.store, path_name(path))

    def list(
        self,
        path: Any,
        max_size: object = None,
        format: Any = None,
        absolute: bool = False,
        attributes: Sequence[str] | None = None,
        sort: object = None,
        read_from: object = None,
    ) -> Any:
        """The names of all children, sorted; with `format` the bytes of the list.

        `max_size`, `sort` and `read_from` have no effect here.
        """
        children = node_attributes.list_children(self.store, path_name(path), attributes or ())
        if format is not None:
            return parse_format(format).dumps(children)
        names = to_python(children)
        return [f"{path_name(path)}/{escape_name(name)}" for name in names] if absolute else names

    def remove(self, path: Any, recursive: bool = False, force: bool = False) -> None:
        node_attributes.remove(self.store, path_name(path), recursive=recursive, force=force)

    def copy(
        self,
        source_path: Any,
        destination_path: Any,
        recursive: bool = False,
        force: bool = False,
        ignore_existing: bool = False,
    ) -> str:
        return self.store.copy(
            *(path_name(source_path), path_name(destination_path)),
            recursive=recursive,
            force=force,
            ignore_existing=ignore_existing,
        )

    def move(
        self, source_path: Any, destination_path: Any, recursive: bool = False, force: bool = False
    ) -> str:
        return self.store.move(
            path_name(source_path), path_name(destination_path), recursive=recursive, force=force
        )

    def get_attribute(self, path: Any, attribute: str, default: Any = _NO_DEFAULT) -> Any:
        try:
            return self.get(f"{path_name(path)}/@{attribute}")
        except YtError as error:
            if default is _NO_DEFAULT or error.code != ErrorCode.PATH_NOT_FOUND:
                raise
            return default

    def set_attribute(self, path: Any, attribute: str, value: Any) -> None:
        self.set(f"{path_name(path)}/@{attribute}", value)

    def has_attribute(self, path: Any, attribute: str) -> bool:
        return self.exists(f"{path_name(path)}/@{attribute}")

    def remove_attribute(self, path: Any, attribute: str) -> None:
        self.remove(f"{path_name(path)}/@{attribute}")

    def get_type(self, path: Any) -> str:
        return str(self.get_attribute(path, "type"))

    def search(
        self,
        root: Any = "/",
        node_type: str | Sequence[str] | None = None,
        path_filter: Callable[[str], bool] | None = None,
        object_filter: Callable[[Any], bool] | None = None,
        *,
        attributes: Sequence[str] = (),
    ) -> Iterator[Any]:
        """The paths of a node and of all that is below it, with these attributes."""
        types = [node_type] if isinstance(node_type, str) else node_type
        name = path_name(root)
        tree = self.get(name, attributes=[*{"type", *attributes}])
        for path, node in _walk("" if name == "/" else name, tree):
            result = YsonString(path)
            result.attributes = {key: node.attributes[key] for key in attributes if key in node.attributes}
            if types is not None and node.attributes["type"] not in types:
                continue
            if path_filter is not None and not path_filter(path):
                continue
            if object_filter is None or object_filter(result):
                yield result

    def TempTable(  # noqa: N802 - the name that scripts use
        self,
        path: Any = "//tmp",
        prefix: str = "",
        attributes: Mapping[str, Any] | None = None,
    ) -> AbstractContextManager[str]:
        """A table for the time of a `with` block."""
        return self._temporary_table(path, prefix, attributes)

    @contextmanager
    def _temporary_table(self, path: Any, prefix: str, attributes: Mapping[str, Any] | None) -> Iterator[str]:
        table = self.create_temp_table(path, prefix, attributes)
        try:
            yield table
        finally:
            self.remove(table, force=True)

    def create_temp_table(
        self, path: Any = "//tmp", prefix: str = "", attributes: Mapping[str, Any] | None = None
    ) -> str:
        """The path of a new table with a name that no other has."""
        table = f"{path_name(path)}/{escape_name(prefix)}{token_hex(8)}"
        self.create("table", table, recursive=True, attributes=attributes)
        return table


def _walk(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    yield path or "/", node
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from _walk(f"{path or '/'}/{escape_name(name)}", child)
