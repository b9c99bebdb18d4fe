"""The Python interface of YTsaurus's client on a store of Trellis: a script runs with its import changed.

import trellis.dialects.ytsaurus.client as yt

yt.config["proxy"]["url"] = "yt:store"        # or YT_PROXY=yt:store
yt.write_table("//home/t", [{"k": "a", "v": 1}])
"""

from __future__ import annotations

from typing import Any

from trellis.dialects.ytsaurus.client import schema
from trellis.dialects.ytsaurus.client.client import Transaction, YtClient, config, default_client
from trellis.dialects.ytsaurus.client.formats import DsvFormat, JsonFormat, SchemafulDsvFormat, YsonFormat
from trellis.dialects.ytsaurus.client.jobs import (
    aggregator,
    create_table_switch,
    reduce_aggregator,
    with_context,
)
from trellis.dialects.ytsaurus.client.operation import Operation, OperationState, OperationsTracker
from trellis.dialects.ytsaurus.client.schema.job_types import OutputRow
from trellis.dialects.ytsaurus.client.schema.row_types import (
    Date,
    Datetime,
    Float,
    Int8,
    Int16,
    Int32,
    Int64,
    Interval,
    Timestamp,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Yson,
    yt_dataclass,
)
from trellis.dialects.ytsaurus.client.schema.table_schema import ColumnSchema, SortColumn, TableSchema
from trellis.dialects.ytsaurus.client.spec_builders import (
    EraseSpecBuilder,
    JoinReduceSpecBuilder,
    MapReduceSpecBuilder,
    MapSpecBuilder,
    MergeSpecBuilder,
    ReduceSpecBuilder,
    RemoteCopySpecBuilder,
    SortSpecBuilder,
)
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.typed_jobs import TypedJob
from trellis.dialects.ytsaurus.client.values import YsonEntity, YsonList, YsonMap, YsonString, YsonUint64
from trellis.dialects.ytsaurus.errors import YtError

__all__ = [
    "ColumnSchema",
    "Date",
    "Datetime",
    "DsvFormat",
    "EraseSpecBuilder",
    "Float",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Interval",
    "JoinReduceSpecBuilder",
    "JsonFormat",
    "MapReduceSpecBuilder",
    "MapSpecBuilder",
    "MergeSpecBuilder",
    "Operation",
    "OperationState",
    "OperationsTracker",
    "OutputRow",
    "ReduceSpecBuilder",
    "RemoteCopySpecBuilder",
    "SchemafulDsvFormat",
    "SortColumn",
    "SortSpecBuilder",
    "TablePath",
    "TableSchema",
    "Timestamp",
    "Transaction",
    "TypedJob",
    "Uint8",
    "Uint16",
    "Uint32",
    "Uint64",
    "Yson",
    "YsonEntity",
    "YsonFormat",
    "YsonList",
    "YsonMap",
    "YsonString",
    "YsonUint64",
    "YtClient",
    "YtError",
    "YtHttpResponseError",
    "YtOperationFailedError",
    "YtResponseError",
    "aggregator",
    "config",
    "create_table_switch",
    "default_client",
    "reduce_aggregator",
    "schema",
    "with_context",
    "yt_dataclass",
]

YtResponseError = YtHttpResponseError = YtOperationFailedError = YtError
"""All errors are YtError; their codes tell them apart."""


def __getattr__(name: str) -> Any:
    """The methods of the client as functions, which take the client as `client=`."""
    if name.startswith("_") or not hasattr(YtClient, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def call(*arguments: Any, client: Any = None, **options: Any) -> Any:
        return getattr(default_client() if client is None else client, name)(*arguments, **options)

    return call
