"""The Python interface of YTsaurus's client on a store of Trellis: a script runs with its import changed.

import trellis.dialects.ytsaurus.client as yt

yt.config["proxy"]["url"] = "yt:store"        # or YT_PROXY=yt:store
yt.write_table("//home/t", [{"k": "a", "v": 1}])
"""

from __future__ import annotations

from typing import Any

from trellis.dialects.ytsaurus.client.client import Transaction, YtClient, config, default_client
from trellis.dialects.ytsaurus.client.formats import DsvFormat, JsonFormat, SchemafulDsvFormat, YsonFormat
from trellis.dialects.ytsaurus.client.row_types import (
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
from trellis.dialects.ytsaurus.client.table_path import TablePath
from trellis.dialects.ytsaurus.client.table_schema import ColumnSchema, SortColumn, TableSchema
from trellis.dialects.ytsaurus.client.values import YsonEntity, YsonList, YsonMap, YsonString, YsonUint64
from trellis.dialects.ytsaurus.errors import YtError

__all__ = [
    "ColumnSchema",
    "Date",
    "Datetime",
    "DsvFormat",
    "Float",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Interval",
    "JsonFormat",
    "SchemafulDsvFormat",
    "SortColumn",
    "TablePath",
    "TableSchema",
    "Timestamp",
    "Transaction",
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
    "config",
    "default_client",
    "yt_dataclass",
]

YtResponseError = YtHttpResponseError = YtOperationFailedError = YtError
"""All errors are YtError; their codes tell them apart."""


def __getattr__(name: str) -> Any:
    """The methods of the client as functions."""
    if name.startswith("_") or not hasattr(YtClient, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(default_client(), name)
