"""The tables and columns Trellis keeps for itself, as every document has them."""

from __future__ import annotations

from types import MappingProxyType

from trellis.schema.model import Column, DataType, Extra, Table

PREFIX = "_dlt"
VERSION = "_dlt_version"
LOADS = "_dlt_loads"
STATE = "_dlt_pipeline_state"

LOAD_ID = "_dlt_load_id"
ROW_ID = "_dlt_id"
PARENT_ID = "_dlt_parent_id"
LIST_IDX = "_dlt_list_idx"
ROOT_ID = "_dlt_root_id"


def _table(name: str, hints: Extra, *columns: Column) -> Table:
    given = MappingProxyType({**hints, "resource": name})
    return Table(name, MappingProxyType({each.name: each for each in columns}), hints=given)


def _column(name: str, data_type: DataType, nullable: bool = False, precision: int | None = None) -> Column:
    return Column(name, data_type, nullable, precision)


VERSION_TABLE = _table(
    VERSION,
    {"write_disposition": "skip"},
    _column("version", "bigint"),
    _column("engine_version", "bigint"),
    _column("inserted_at", "timestamp"),
    _column("schema_name", "text"),
    _column("version_hash", "text"),
    _column("schema", "text"),
)
LOADS_TABLE = _table(
    LOADS,
    {"write_disposition": "skip"},
    _column("load_id", "text", precision=64),
    _column("schema_name", "text", nullable=True),
    _column("status", "bigint"),
    _column("inserted_at", "timestamp"),
    _column("schema_version_hash", "text", nullable=True),
)
STATE_TABLE = _table(
    STATE,
    {"write_disposition": "append", "file_format": "preferred"},
    _column("version", "bigint"),
    _column("engine_version", "bigint"),
    _column("pipeline_name", "text"),
    _column("state", "text"),
    _column("created_at", "timestamp"),
    _column("version_hash", "text", nullable=True),
    _column(LOAD_ID, "text", precision=64),
    _column(ROW_ID, "text").with_hints(unique=True, row_key=True),
)


OURS = "_trellis"
"""What our own tables begin with, in any dialect."""


def is_system(name: str, prefix: str = PREFIX) -> bool:
    """Whether a table or column of that name is ours; pass the prefix as your naming spells it.

    >>> is_system("_dlt_loads"), is_system("_trellis_loads"), is_system("orders")
    (True, True, False)
    """
    return name.startswith((prefix, OURS))
