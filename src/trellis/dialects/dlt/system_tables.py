"""What a schema of dlt starts with: its system tables, the rules for its columns, its normalizers."""

from __future__ import annotations

from types import MappingProxyType

from trellis.errors import SchemaError
from trellis.schema.documents.validate import name_fault
from trellis.schema.history import HistoryColumns
from trellis.schema.model import Column, DataType, Extra, Schema, Settings, Table

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
    table_hints = MappingProxyType({**hints, "resource": name})
    return Table(name, MappingProxyType({column.name: column for column in columns}), hints=table_hints)


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

HISTORY = HistoryColumns("_dlt_valid_from", "_dlt_valid_to", ROW_ID)
RELATIONAL = "dlt.common.normalizers.json.relational"

DEFAULT_HINTS = MappingProxyType(
    {
        "not_null": (ROW_ID, ROOT_ID, PARENT_ID, LIST_IDX, LOAD_ID),
        "parent_key": (PARENT_ID,),
        "root_key": (ROOT_ID,),
        "unique": (ROW_ID,),
        "row_key": (ROW_ID,),
    }
)
DEFAULT_SETTINGS = Settings(detections=("iso_timestamp",), default_hints=DEFAULT_HINTS)


def new_schema(name: str) -> Schema:
    """An empty schema as dlt would make it, but for the descriptions of system columns.

    >>> list(new_schema("shop").tables)
    ['_dlt_version', '_dlt_loads']
    """
    if fault := name_fault(name):
        raise SchemaError(fault)
    return Schema(
        name,
        tables={VERSION: VERSION_TABLE, LOADS: LOADS_TABLE},
        settings=DEFAULT_SETTINGS,
        normalizers=MappingProxyType({"names": "snake_case", "json": {"module": RELATIONAL}}),
    )
