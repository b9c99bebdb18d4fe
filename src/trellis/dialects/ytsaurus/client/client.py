"""A store with the methods of the client of YTsaurus, without a server."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.client.row_types import make_row_type, row_reader, row_writer
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.table_schema import SortColumn, TableSchema
from trellis.dialects.ytsaurus.client.values import from_python, to_python
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.paths.node_path import escape_name
from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
from trellis.dialects.ytsaurus.store import attributes as node_attributes
from trellis.dialects.ytsaurus.store import operations, transaction_commands
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.operations import MergeMode, OperationSpec
from trellis.dialects.ytsaurus.store.reading import format_rows, open_source
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.errors import UsageError

_NO_DEFAULT: Final = object()
config: Final[dict[str, Any]] = {"proxy": {"url": os.environ.get("YT_PROXY")}}
"""`config["proxy"]["url"]` is the store of the functions of the package."""


class YtClient:
    """Commands on the store of `proxy`, such as yt:FOLDER. Errors are YtError.

    A client is for one thread, as that of YTsaurus is.
    """

    def __init__(self, proxy: str, config: Mapping[str, Any] | None = None) -> None:
        """Raises UsageError. `config` is not used: there is no connection to configure."""
        self.proxy = proxy
        self.config = dict(config or {})
        self._store = Store.open(proxy)
        self._transactions: list[str] = []

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> YtClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The store in the transaction that the client is in."""
        return self._store.within(self._transactions[-1]) if self._transactions else self._store

    # --- Nodes ----------------------------------------------------------------------------------------

    def create(
        self,
        type: str,
        path: Any,
        recursive: bool = False,
        ignore_existing: bool = False,
        force: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> str:
        return self.store.create(
            type,
            _name(path),
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

    def get(self, path: Any, attributes: Sequence[str] = ()) -> Any:
        return to_python(node_attributes.get(self.store, _name(path), attributes))

    def set(self, path: Any, value: Any) -> None:
        node_attributes.set_attribute(self.store, _name(path), from_python(value))

    def exists(self, path: Any) -> bool:
        return node_attributes.exists(self.store, _name(path))

    def list(self, path: Any, attributes: Sequence[str] = (), absolute: bool = False) -> Any:
        names = to_python(node_attributes.list_children(self.store, _name(path), attributes))
        return [f"{_name(path)}/{escape_name(name)}" for name in names] if absolute else names

    def remove(self, path: Any, recursive: bool = False, force: bool = False) -> None:
        node_attributes.remove(self.store, _name(path), recursive=recursive, force=force)

    def copy(
        self, source_path: Any, destination_path: Any, recursive: bool = False, force: bool = False
    ) -> str:
        return self.store.copy(_name(source_path), _name(destination_path), recursive=recursive, force=force)

    def move(
        self, source_path: Any, destination_path: Any, recursive: bool = False, force: bool = False
    ) -> str:
        return self.store.move(_name(source_path), _name(destination_path), recursive=recursive, force=force)

    def get_attribute(self, path: Any, attribute: str, default: Any = _NO_DEFAULT) -> Any:
        try:
            return self.get(f"{_name(path)}/@{attribute}")
        except YtError as error:
            if default is _NO_DEFAULT or error.code != ErrorCode.PATH_NOT_FOUND:
                raise
            return default

    def set_attribute(self, path: Any, attribute: str, value: Any) -> None:
        self.set(f"{_name(path)}/@{attribute}", value)

    def has_attribute(self, path: Any, attribute: str) -> bool:
        return self.exists(f"{_name(path)}/@{attribute}")

    # --- Tables ---------------------------------------------------------------------------------------

    def get_table_schema(self, table_path: Any) -> TableSchema:
        return TableSchema.from_yson_type(self.get_attribute(table_path, "schema"))

    def alter_table(self, path: Any, schema: Any) -> None:
        alter_table(self.store, _name(path), from_python(schema))

    def row_count(self, table: Any) -> int:
        return int(self.get_attribute(table, "row_count"))

    def is_empty(self, table: Any) -> bool:
        return self.row_count(table) == 0

    def is_sorted(self, table: Any) -> bool:
        return bool(self.get_attribute(table, "sorted"))

    def get_sorted_by(self, table: Any, default: Any = _NO_DEFAULT) -> Any:
        return self.get_attribute(table, "sorted_by", default)

    def write_table(
        self,
        table: Any,
        input_stream: bytes | str | BinaryIO | Iterable[Any],
        format: Any = None,
        raw: bool | None = None,
    ) -> None:
        """Write rows, or with `raw` the bytes of rows in a format."""
        path = TablePath(table)
        if path.append:
            path.attributes.pop("schema", None)
        parsed = _format(format)
        rows = _rows(input_stream, parsed, raw)
        write_rows(self.store, path.to_yson_type(), rows, parsed.forms)

    def insert_rows(
        self,
        table: Any,
        input_stream: bytes | str | BinaryIO | Iterable[Any],
        update: bool = False,
        aggregate: bool = False,
        format: Any = None,
        raw: bool | None = None,
    ) -> None:
        """Insert rows by their keys, instead of the rows that have these."""
        parsed = _format(format)
        rows = _rows(input_stream, parsed, raw)
        insert_rows(
            *(self.store, _path(table), rows, parsed.forms),
            update=update,
            aggregate=aggregate,
        )

    def read_table(
        self,
        table: Any,
        format: Any = None,
        raw: bool = False,
        control_attributes: Mapping[str, Any] | None = None,
    ) -> Any:
        """An iterator over rows, or with `raw` a file with the bytes of rows in a format."""
        source = open_source(self.store, TablePath(table).to_yson_type())
        if not raw:
            return map(to_python, source.read_rows())
        return io.BytesIO(b"".join(format_rows(source, _format(format), control_attributes or {})))

    def write_table_structured(self, table: Any, row_type: type, input_stream: Iterable[Any]) -> None:
        """Write objects of a dataclass. A new table gets its fields as schema."""
        path = TablePath(table)
        schema = self.get_table_schema(path) if self.exists(path) else None
        if "schema" not in path.attributes and (schema is None or schema.is_empty_nonstrict()):
            sorted_by = path.attributes.pop("sorted_by", None)
            new = TableSchema.from_row_type(row_type)
            path.attributes["schema"] = new if sorted_by is None else new.build_schema_sorted_by(sorted_by)
        self.write_table(path, map(row_writer(row_type), input_stream))

    def read_table_structured(self, table: Any, row_type: type | None = None) -> Iterator[Any]:
        """Objects of a dataclass, of one that is made from the schema if none is named."""
        path = TablePath(table)
        if row_type is None:
            columns = {column.name: column.type for column in self.get_table_schema(path).columns}
            names = path.attributes.get("columns", columns)
            row_type = make_row_type("Row", {name: columns.get(name, ANY) for name in names})
        path.attributes.setdefault("columns", [field.name for field in dataclasses.fields(row_type)])
        source = open_source(self.store, path.to_yson_type())
        return map(row_reader(row_type), source.read_rows())

    # --- Operations -----------------------------------------------------------------------------------

    def run_merge(
        self,
        source_table: Any,
        destination_table: Any,
        mode: MergeMode = "auto",
        merge_by: Any = None,
        spec: Mapping[str, Any] | None = None,
    ) -> None:
        document = dict(spec or {})
        if merge_by is not None:
            document["merge_by"] = _columns(merge_by)
        settings = OperationSpec.parse(from_python(document))
        operations.merge(self.store, _paths(source_table), _path(destination_table), mode, settings)

    def run_sort(
        self,
        source_table: Any,
        destination_table: Any = None,
        sort_by: Any = None,
        spec: Mapping[str, Any] | None = None,
    ) -> None:
        keys = parse_sort_columns(from_python(_columns(sort_by or ())), "sort_by")
        target = _path(source_table if destination_table is None else destination_table)
        settings = OperationSpec.parse(from_python(spec or {}))
        operations.sort(self.store, _paths(source_table), target, keys, settings)

    def run_erase(self, table: Any, spec: Mapping[str, Any] | None = None) -> None:
        operations.erase(self.store, _path(table), OperationSpec.parse(from_python(spec or {})))

    def run_remote_copy(
        self,
        source_table: Any,
        destination_table: Any,
        cluster_name: str,
        copy_attributes: bool = False,
        spec: Mapping[str, Any] | None = None,
    ) -> None:
        """Copy a table of another store; `cluster_name` is its URL, yt:FOLDER."""
        settings = OperationSpec.parse(from_python(spec or {}))
        with Store.open(cluster_name) as cluster:
            (source,) = _paths(source_table)
            operations.remote_copy(
                *(self.store, cluster, source, _path(destination_table), settings),
                copy_attributes=copy_attributes,
            )

    # --- Transactions ---------------------------------------------------------------------------------

    def Transaction(  # noqa: N802 - the name that scripts use
        self, attributes: Mapping[str, Any] | None = None, **timing: object
    ) -> Transaction:
        """A transaction around the commands of a `with` block."""
        return Transaction(client=self, attributes=attributes, **timing)

    def lock(
        self,
        path: Any,
        mode: str = "exclusive",
        waitable: bool = False,
        child_key: str = "",
        attribute_key: str = "",
    ) -> dict[str, str]:
        lock = transaction_commands.lock_node(
            *(self.store, _name(path), mode),
            waitable=waitable,
            child_key=child_key,
            attribute_key=attribute_key,
        )
        return {"lock_id": lock.id, "node_id": lock.node}

    def unlock(self, path: Any) -> None:
        transaction_commands.unlock_node(self.store, _name(path))


class Transaction:
    """Changes of a client that are there together, at the end of a `with` block without an error.

    It lives as long as the process; timeouts and pings of scripts are taken and not needed.
    """

    def __init__(
        self, client: YtClient | None = None, attributes: Mapping[str, Any] | None = None, **timing: object
    ) -> None:
        """Raises YtError for options that it does not know."""
        unknown = timing.keys() - {"timeout", "ping", "interrupt_on_failed", "ping_ancestor_transactions"}
        if unknown:
            raise YtError(f"a transaction has no option {min(unknown)}")
        self._client = client or default_client()
        self._title = str((attributes or {}).get("title", "transaction"))
        self._stack = ExitStack()
        self._store = self._stack.enter_context(self._client.store.session(self._title))
        self.transaction_id = self._store.lineage[0]

    def __enter__(self) -> Transaction:
        self._client._transactions.append(self.transaction_id)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._client._transactions.pop()
        if kind is None:
            self.commit()
        else:
            self.abort()

    def commit(self) -> None:
        """Raises YtError with the code 11000 where it has ended."""
        with self._stack:
            self._store.commit()

    def abort(self) -> None:
        self._stack.close()


_clients: Final[dict[str, YtClient]] = {}


def default_client() -> YtClient:
    """The client of the functions of the package. Raises UsageError where no store is named."""
    url = config["proxy"]["url"]
    if not url:
        raise UsageError('no store is named; set config["proxy"]["url"] or YT_PROXY to yt:FOLDER')
    if url not in _clients:
        _clients[url] = YtClient(url)
    return _clients[url]


def _name(path: Any) -> str:
    return path.path if isinstance(path, TablePath) else TablePath(str(path)).path


def _path(table: Any) -> Any:
    return TablePath(table).to_yson_type()


def _paths(tables: Any) -> list[Any]:
    return [_path(table) for table in (tables if isinstance(tables, list | tuple) else [tables])]


def _columns(columns: Any) -> Any:
    return [columns] if isinstance(columns, str | SortColumn | Mapping) else list(columns)


def _format(format: Any) -> Format:
    if format is None:
        return Format("yson", {"format": "text"})
    return format if isinstance(format, Format) else Format.parse(str(format))


def _rows(source: Any, format: Format, raw: bool | None) -> Iterable[Any]:
    if raw or isinstance(source, bytes | str) or hasattr(source, "read"):
        return parse_rows(format, _stream(source))
    return map(from_python, source)


def _stream(source: Any) -> BinaryIO:
    if hasattr(source, "read"):
        stream: BinaryIO = source
        return stream
    if isinstance(source, str | bytes):
        return io.BytesIO(source.encode() if isinstance(source, str) else source)
    return io.BytesIO(b"".join(source))
