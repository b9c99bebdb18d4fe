"""Tables whose rows came with types and were taken whole: they may lack ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trellis.dialects.dlt.system_tables import LOAD_ID, ROW_ID
from trellis.errors import SchemaError, UsageError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import KeyedWrite, OnMatch
from trellis.schema.model import Schema, Table

ADD_ROW_ID, ADD_LOAD_ID = "add_dlt_id", "add_dlt_load_id"
OPTIONS = (ADD_ROW_ID, ADD_LOAD_ID)

_ON_MATCH: Mapping[str, OnMatch] = {"delete-insert": "replace", "upsert": "replace", "insert-only": "keep"}
_ORDERED = ("merge_key", "hard_delete", "dedup_sort")


def typed_row_keys(keys: RowKeys, table: Table | None, settings: Mapping[str, Any]) -> RowKeys:
    """Of the keys of a root table those that its rows get: what is asked for, what the table has already.

    A new table that is merged gets row ids unasked, since a merge of chains needs them.
    """
    known = table or Table("")
    merged = known.hints.get("write_disposition") == "merge" and not known.seen_data
    load_id = LOAD_ID in known.columns or switched(settings, ADD_LOAD_ID)
    if ROW_ID in known.columns or merged or switched(settings, ADD_ROW_ID):
        return replace(keys, load_id=LOAD_ID if load_id else None, root_id=None)
    return RowKeys(load_id=LOAD_ID if load_id else None)


def switched(settings: Mapping[str, Any], name: str) -> bool:
    """A setting that is on or off. Raises UsageError."""
    value = settings.get(name, False)
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"{name} is {value!r}; write true or false")
    return str(value).lower() == "true"


def without_ids(table: Table) -> bool:
    """Whether there are rows in the table, and they have no ids."""
    return table.seen_data and bool(table.complete_columns) and ROW_ID not in table.columns


def keyed_load(schema: Schema, table: Table, strategy: str) -> KeyedWrite:
    """How rows are merged into a table without ids: by their primary key. Raises SchemaError."""
    keys, on_match = table.columns_with("primary_key"), _ON_MATCH.get(strategy)
    ordered = [hint for hint in _ORDERED if table.columns_with(hint)]
    if keys and on_match and not ordered and not schema.children(table.name):
        return KeyedWrite(table.name, keys, on_match=on_match)
    reason = f"with {', '.join(ordered)}" if ordered else "without a primary key" if not keys else "as asked"
    raise SchemaError(
        f"table {table.name}: its rows have no {ROW_ID}, so they cannot be merged ({strategy}) {reason}; "
        f"load the table anew with the setting {ADD_ROW_ID}, or merge by a primary key alone"
    )
