"""A store with the methods of the client of YTsaurus, without a server."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.client.batch import BatchClient, apply_in_batch
from trellis.dialects.ytsaurus.client.contexts import Context, RowIterator, with_table_index
from trellis.dialects.ytsaurus.client.formats import has_marks_in_rows, parse_format
from trellis.dialects.ytsaurus.client.nodes import NodeCommands
from trellis.dialects.ytsaurus.client.operation_commands import OperationCommands, path_document
from trellis.dialects.ytsaurus.client.schema.row_types import make_row_type, row_reader, row_writer
from trellis.dialects.ytsaurus.client.schema.table_schema import TableSchema
from trellis.dialects.ytsaurus.client.streams import BlockReader, open_stream
from trellis.dialects.ytsaurus.client.table_path import TablePath, path_name
from trellis.dialects.ytsaurus.client.values import from_python, to_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.formats.row import ReadingNotes
from trellis.dialects.ytsaurus.store import transaction_commands
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.database.transactions import DEFAULT_TIMEOUT
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.jobs.job import parse_marks
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.errors import UsageError

config: Final[dict[str, Any]] = {"proxy": {"url": os.environ.get("YT_PROXY")}}
"""`config["proxy"]["url"]` is the store of the functions of the package."""


class YtClient(NodeCommands, OperationCommands):
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

    # --- Tables ---------------------------------------------------------------------------------------

    def get_table_schema(self, table_path: Any) -> TableSchema:
        return TableSchema.from_yson_type(self.get_attribute(table_path, "schema"))

    def _find_schema(self, table: TablePath) -> TableSchema | None:
        return self.get_table_schema(table) if self.exists(table) else None

    def alter_table(self, path: Any, schema: Any) -> None:
        alter_table(self.store, path_name(path), from_python(schema))

    def row_count(self, table: Any) -> int:
        return int(self.get_attribute(table, "row_count"))

    def is_empty(self, table: Any) -> bool:
        return self.row_count(table) == 0

    def is_sorted(self, table: Any) -> bool:
        return bool(self.get_attribute(table, "sorted"))

    def get_sorted_by(self, table: Any, default: Any = None) -> Any:
        """The names of the key columns; `default`, or an empty list, of a table that is not sorted."""
        return self.get_attribute(table, "sorted_by", [] if default is None else default)

    def write_table(
        self,
        table: Any,
        input_stream: bytes | str | BinaryIO | Iterable[Any],
        format: Any = None,
        table_writer: object = None,
        max_row_buffer_size: object = None,
        is_stream_compressed: bool = False,
        force_create: object = None,
        raw: bool | None = None,
    ) -> None:
        """Write rows, or with `raw` the bytes of rows in a format.

        `table_writer`, `max_row_buffer_size` and `force_create` have no effect here.
        """
        if is_stream_compressed:
            raise YtError("is_stream_compressed: rows are not decompressed here; open them with gzip.open")
        path = TablePath(table)
        if path.append:
            path.attributes.pop("schema", None)
        parsed, notes = parse_format(format), ReadingNotes()
        rows = _rows(input_stream, parsed, raw, notes)
        write_rows(self.store, path.to_yson_type(), rows, parsed.forms)
        notes.tell(path.path)

    def insert_rows(
        self,
        table: Any,
        input_stream: bytes | str | BinaryIO | Iterable[Any],
        update: bool = False,
        aggregate: bool = False,
        *,
        format: Any = None,
        raw: bool | None = None,
    ) -> None:
        """Insert rows by their keys, instead of the rows that have these."""
        parsed, notes = parse_format(format), ReadingNotes()
        rows = _rows(input_stream, parsed, raw, notes)
        insert_rows(
            *(self.store, path_document(table), rows, parsed.forms),
            update=update,
            aggregate=aggregate,
        )
        notes.tell(path_name(table))

    def read_table(
        self,
        table: Any,
        format: Any = None,
        table_reader: object = None,
        control_attributes: Mapping[str, Any] | None = None,
        unordered: object = None,
        raw: bool | None = None,
        response_parameters: object = None,
        enable_read_parallel: object = None,
    ) -> Any:
        """An iterator over rows, or with `raw` a file with the bytes of rows in a format.

        With `control_attributes` the iterator tells where its last row comes from, as `row_index` and the
        like, or with YsonFormat(control_attributes_mode="row_fields") the rows do. What is about clusters has
        no effect here: rows come in the order of the table.
        """
        source = open_source(self.store, TablePath(table).to_yson_type())
        parsed = parse_format(format)
        if raw:
            return io.BufferedReader(BlockReader(format_rows(source, parsed, control_attributes or {})))
        marks = parse_marks(control_attributes)
        rows = source.read_marked_rows(marks) if marks else source.read_rows()
        if has_marks_in_rows(parsed):
            return map(to_python, map(with_table_index, rows))
        if not marks:
            return map(to_python, rows)
        context = Context()
        return RowIterator(context.follow_marks(rows), to_python, context)

    def write_table_structured(
        self, table: Any, row_type: type, input_stream: Iterable[Any], **tuning: object
    ) -> None:
        """Write objects of a dataclass. A new table gets its fields as schema. Tuning has no effect here."""
        path = TablePath(table)
        schema = self._find_schema(path)
        if "schema" not in path.attributes and (schema is None or schema.is_empty_nonstrict()):
            sorted_by = path.attributes.pop("sorted_by", None)
            new = TableSchema.from_row_type(row_type)
            path.attributes["schema"] = new if sorted_by is None else new.build_schema_sorted_by(sorted_by)
        self.write_table(path, map(row_writer(row_type), input_stream))

    def read_table_structured(
        self, table: Any, row_type: type | None = None, **tuning: object
    ) -> RowIterator[Any]:
        """Objects of a dataclass, of one that is made from the schema if none is named.

        `with_context()` of them gives each with its context. Tuning has no effect here: rows come in the
        order of the table.
        """
        path = TablePath(table)
        if row_type is None:
            columns = {column.name: column.type for column in self.get_table_schema(path).columns}
            names = path.attributes.get("columns", columns)
            row_type = make_row_type("Row", {name: columns.get(name, ANY) for name in names})
        path.attributes.setdefault("columns", [field.name for field in dataclasses.fields(row_type)])
        source = open_source(self.store, path.to_yson_type())
        context = Context()
        return RowIterator(context.follow_table(source), row_reader(row_type), context)

    # --- Batches --------------------------------------------------------------------------------------

    def create_batch_client(
        self, raise_errors: bool = False, max_batch_size: object = None, concurrency: object = None
    ) -> BatchClient:
        """A client that collects commands. The last two have no effect here."""
        return BatchClient(self, raise_errors)

    def batch_apply(self, function: Callable[..., Any], data: Iterable[Any]) -> list[Any]:
        """The results of `function(item, client=...)` for all items, as one batch."""
        return apply_in_batch(self, function, data)

    # --- Transactions ---------------------------------------------------------------------------------

    def Transaction(  # noqa: N802 - the name that scripts use
        self,
        attributes: Mapping[str, Any] | None = None,
        transaction_id: str | None = None,
        **timing: object,
    ) -> Transaction:
        """A transaction around the commands of a `with` block."""
        return Transaction(self, attributes, transaction_id, **timing)

    def start_transaction(
        self,
        parent_transaction: str | None = None,
        timeout: int | None = None,
        *,
        attributes: Mapping[str, Any] | None = None,
    ) -> str:
        """The id of a transaction that ends `timeout` milliseconds (30,000) after its last ping."""
        store = self.store if parent_transaction is None else self._store.within(parent_transaction)
        return transaction_commands.start_transaction(
            store,
            timeout=DEFAULT_TIMEOUT if timeout is None else timeout / 1000,
            attributes=from_python(attributes or {}),
        )

    def ping_transaction(self, transaction: str) -> None:
        transaction_commands.ping_transaction(self._store, transaction)

    def commit_transaction(self, transaction: str) -> None:
        transaction_commands.commit_transaction(self._store, transaction)

    def abort_transaction(self, transaction: str) -> None:
        transaction_commands.abort_transaction(self._store, transaction)

    def get_current_transaction_id(self) -> str:
        return self._transactions[-1] if self._transactions else "0-0-0-0"

    def lock(
        self,
        path: Any,
        mode: str = "exclusive",
        waitable: bool = False,
        *,
        child_key: str = "",
        attribute_key: str = "",
    ) -> dict[str, str]:
        lock = transaction_commands.lock_node(
            *(self.store, path_name(path), mode),
            waitable=waitable,
            child_key=child_key,
            attribute_key=attribute_key,
        )
        return {"lock_id": lock.id, "node_id": lock.node}

    def unlock(self, path: Any) -> None:
        transaction_commands.unlock_node(self.store, path_name(path))


class Transaction:
    """Changes of a client that are there together, at the end of a `with` block without an error.

    It lives as long as the process; timeouts and pings of scripts are taken and not needed. With
    `transaction_id` it is one that somebody else started, and ends.
    """

    def __init__(
        self,
        client: YtClient | None = None,
        attributes: Mapping[str, Any] | None = None,
        transaction_id: str | None = None,
        **timing: object,
    ) -> None:
        """Raises YtError for options that it does not know."""
        unknown = timing.keys() - {"timeout", "ping", "interrupt_on_failed", "ping_ancestor_transactions"}
        if unknown:
            raise YtError(f"a transaction has no option {min(unknown)}")
        self._client = client or default_client()
        self._title = str((attributes or {}).get("title", "transaction"))
        self._stack = ExitStack()
        self._is_owner = transaction_id is None
        if transaction_id is None:
            self._store = self._stack.enter_context(self._client.store.session(self._title))
        else:
            self._store = self._client.store.within(transaction_id)
        self.transaction_id = self._store.lineage[0]

    def __enter__(self) -> Transaction:
        self._client._transactions.append(self.transaction_id)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._client._transactions.pop()
        if self._is_owner and kind is None:
            self.commit()
        elif self._is_owner:
            self.abort()

    def commit(self) -> None:
        """Raises YtError with the code 11000 where it has ended."""
        with self._stack:
            self._store.commit()

    def abort(self) -> None:
        if not self._is_owner:
            self._client.abort_transaction(self.transaction_id)
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


def _rows(source: Any, format: Format, raw: bool | None, notes: ReadingNotes) -> Iterable[Any]:
    if raw or isinstance(source, bytes | str) or hasattr(source, "read"):
        return parse_rows(format, open_stream(source), notes)
    return map(from_python, source)
