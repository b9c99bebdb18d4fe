"""The methods of SPYT on readers and writers of a session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.dialects.ytsaurus.spark.computed import with_computed_columns
from trellis.dialects.ytsaurus.spark.expressions import column_named
from trellis.dialects.ytsaurus.spark.joins import TableRead, remember_table
from trellis.dialects.ytsaurus.spark.source import FORMAT, YtDataSource
from trellis.dialects.ytsaurus.spark.table_order import is_in_table_order
from trellis.dialects.ytsaurus.spark.table_writer import open_store
from trellis.dialects.ytsaurus.spark.types import TypeOptions, parse_hint
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.types.document import type_document
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def enable_yt(session: SparkSession, store: str) -> None:
    """Let a session read and write the tables of a store, by default the one of this URL.

        enable_yt(spark, "yt:store")
        visits = spark.read.yt("//home/visits")
        visits.write.sorted_by("user").optimize_for("scan").yt("//home/sorted", mode="overwrite")

    `format("yt")` does the same, on another store with the option `store`. Classic Spark and Spark Connect.
    Raises UsageError.
    """
    url = _absolute_url(store)
    Store.open(url).close()
    # A class that no module has goes to other processes as a value, and the URL with it.
    session.dataSource.register(type("StoreDataSource", (YtDataSource,), {"default_store": url}))
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    reader: Any = type(session.read)
    _record_options(reader)
    reader.yt = _read_method(url)
    reader.schema_hint = _schema_hint
    writer: Any = type(session.range(0).write)
    _record_options(writer)
    _record_mode(writer)
    writer.yt = _write_method(url)
    writer.sorted_by = _sorted_by
    writer.optimize_for = _optimize_for
    writer.schema_hint = _schema_hint
    reader.transaction = writer.transaction = _transaction


def _read_method(default: str) -> Any:
    def yt(self: Any, *paths: str, store: str | None = None) -> DataFrame:
        """The rows of tables, whose paths may have columns and ranges."""
        url = default if store is None else _absolute_url(store)
        reader = self.format(FORMAT).option("store", url)
        table = TableRead(paths, _options_of(reader))
        return remember_table(reader.option("paths", json.dumps(paths)).load(), table)

    return yt


def _write_method(default: str) -> Any:
    def yt(self: Any, path: str, mode: str | None = None, store: str | None = None) -> None:
        """Write the frame: `append`, `overwrite`, `ignore` where there is a table, or `error` (default)."""
        url = default if store is None else _absolute_url(store)
        recorded = self.__dict__.get("_trellis_mode")
        mode = mode or recorded
        options = _options_of(self)
        with open_store(url, options.get("transaction", "")) as opened:
            table = None if opened.find(path) is None else opened.table(path)
        if table is not None and mode == "ignore":
            return
        if table is not None and mode in (None, "error", "errorifexists"):
            raise UsageError(f"{path} exists; write with mode append or overwrite")
        writer = self
        keys = getattr(self, "_trellis_keys", ())
        if keys:
            frame = _frame_of(self)
            if table is not None and mode == "append":
                frame = with_computed_columns(frame, table.schema, TypeOptions.parse(options))
            if not is_in_table_order(frame, keys):
                frame = frame.sort(*map(column_named, keys))
            writer = frame.write
            for name, value in options.items():
                writer = writer.option(name, value)
        writer = writer.format(FORMAT).option("store", url).option("paths", json.dumps([path]))
        writer = writer.mode("overwrite" if mode == "overwrite" else "append")
        writer._trellis_mode = recorded
        writer.save()

    return yt


def _schema_hint(self: Any, hint: Mapping[str, Any]) -> Any:
    """Types of columns: names such as `uint64`, documents of type_v3, or types of Spark."""
    types = {name: type_document(type) for name, type in parse_hint(hint).items()}
    return self.option("schema_hint", dumps(types).decode())


def _sorted_by(self: Any, *names: str, unique_keys: bool = False) -> Any:
    """Sort the table by these columns."""
    self._trellis_keys = names
    return self.option("sorted_by", json.dumps(names)).option("unique_keys", str(unique_keys).lower())


def _optimize_for(self: Any, layout: str) -> Any:
    """`scan` or `lookup`."""
    return self.option("optimize_for", layout)


def _transaction(self: Any, transaction_id: str) -> Any:
    """Read or write in a transaction, which somebody else commits."""
    return self.option("transaction", transaction_id)


def _record_options(kind: Any) -> None:
    """Let readers or writers of a class keep the options that they are given, as they do not show them."""
    option, options = kind.option, kind.options
    if hasattr(option, "__wrapped__"):
        return

    @wraps(option)
    def record_option(self: Any, key: str, value: Any) -> Any:
        self._trellis_options = {**_options_of(self), key: value}
        return option(self, key, value)

    @wraps(options)
    def record_options(self: Any, **values: Any) -> Any:
        self._trellis_options = {**_options_of(self), **values}
        return options(self, **values)

    kind.option, kind.options = record_option, record_options


def _record_mode(kind: Any) -> None:
    """Let writers keep the mode that `mode` gives them."""
    mode = kind.mode
    if hasattr(mode, "__wrapped__"):
        return

    @wraps(mode)
    def record_mode(self: Any, saveMode: str | None) -> Any:  # noqa: N803 - the name that scripts use
        self._trellis_mode = saveMode
        return mode(self, saveMode)

    kind.mode = record_mode


def _options_of(self: Any) -> dict[str, Any]:
    """The options that a reader or writer was given."""
    options: dict[str, Any] = self.__dict__.get("_trellis_options", {})
    return options


def _frame_of(writer: Any) -> DataFrame:
    """The frame of a writer, which in Spark Connect holds its plan alone."""
    frame: DataFrame = writer._df
    if hasattr(frame, "sort"):
        return frame
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame

    return ConnectFrame(writer._df, writer._spark)


def _absolute_url(url: str) -> str:
    """The URL of a store for processes that have another working folder."""
    scheme, _, rest = url.partition(":")
    folder, mark, query = rest.partition("?")
    if scheme != "yt" or not folder:
        raise UsageError(f"{url!r} is not the URL of a store; expected yt:FOLDER")
    return f"{scheme}:{Path(folder).absolute()}{mark}{query}"
