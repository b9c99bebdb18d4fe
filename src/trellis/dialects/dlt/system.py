"""What a schema of dlt starts with: its system tables, the rules for its columns, its normalizers."""

from __future__ import annotations

from types import MappingProxyType

from trellis.errors import SchemaError
from trellis.schema.model import Schema, Settings
from trellis.schema.system import (
    LIST_IDX,
    LOAD_ID,
    LOADS,
    LOADS_TABLE,
    PARENT_ID,
    PREFIX,
    ROOT_ID,
    ROW_ID,
    STATE,
    STATE_TABLE,
    VERSION,
    VERSION_TABLE,
    is_system,
)
from trellis.schema.validate import name_fault

__all__ = [
    "DEFAULT_HINTS",
    "DEFAULT_SETTINGS",
    "LIST_IDX",
    "LOADS",
    "LOADS_TABLE",
    "LOAD_ID",
    "PARENT_ID",
    "PREFIX",
    "RELATIONAL",
    "ROOT_ID",
    "ROW_ID",
    "STATE",
    "STATE_TABLE",
    "VERSION",
    "VERSION_TABLE",
    "is_system",
    "new_schema",
]

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
