"""What a schema of dlt starts with: its system tables, the rules for its columns, its normalizers."""

from __future__ import annotations

from dataclasses import replace
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


def _table(name: str, description: str | None, hints: Extra, *columns: Column) -> Table:
    table_hints = MappingProxyType({**hints, "resource": name})
    by_name = MappingProxyType({column.name: column for column in columns})
    return Table(name, by_name, description=description, hints=table_hints)


def _column(
    name: str,
    data_type: DataType,
    description: str | None,
    nullable: bool = False,
    precision: int | None = None,
) -> Column:
    return Column(name, data_type, nullable, precision, description=description)


# The descriptions are those of dlt, to the letter: they count in the hash of a schema.
VERSION_TABLE = _table(
    VERSION,
    "Created by DLT. Tracks schema updates",
    {"write_disposition": "skip"},
    _column("version", "bigint", "Numeric version of the schema, incremented on each schema change"),
    _column("engine_version", "bigint", "Version of the dlt schema engine that created this schema"),
    _column("inserted_at", "timestamp", "Timestamp when this schema version was stored"),
    _column("schema_name", "text", "Name of the schema"),
    _column("version_hash", "text", "Unique hash of the schema content, used to detect changes"),
    _column("schema", "text", "JSON representation of the complete schema definition"),
)
LOADS_TABLE = _table(
    LOADS,
    "Created by DLT. Tracks completed loads",
    {"write_disposition": "skip"},
    _column("load_id", "text", "Unique identifier of the load operation", precision=64),
    _column("schema_name", "text", "Name of the schema associated with this load", nullable=True),
    _column("status", "bigint", "Status of the load operation (0 = success)"),
    _column("inserted_at", "timestamp", "Timestamp when the load was completed"),
    _column("schema_version_hash", "text", "Hash of the schema version used during this load", nullable=True),
)
STATE_TABLE = _table(
    STATE,
    None,
    {"write_disposition": "append", "file_format": "preferred"},
    _column("version", "bigint", "Numeric version of the pipeline state"),
    _column("engine_version", "bigint", "Version of the dlt state engine"),
    _column("pipeline_name", "text", "Name of the pipeline this state belongs to"),
    _column("state", "text", "Compressed JSON representation of the pipeline state"),
    _column("created_at", "timestamp", "Timestamp when this state was created"),
    _column("version_hash", "text", "Hash of the state content, used to detect changes", nullable=True),
    _column(LOAD_ID, "text", "Load identifier linking this row to its load operation", precision=64),
    _column(ROW_ID, "text", None).with_hints(unique=True, row_key=True),
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


def declared_state_table() -> Table:
    """The table of states before it has rows: like any other it gets its row ids with them."""
    columns = {name: column for name, column in STATE_TABLE.columns.items() if name != ROW_ID}
    return replace(STATE_TABLE, columns=MappingProxyType(columns))


def new_schema(name: str) -> Schema:
    """An empty schema as dlt would make it.

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
