"""What a schema of this dialect starts with, and where it keeps the user's options."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

import orjson

from trellis.dialects.rudderstack.options import Options
from trellis.errors import SchemaError
from trellis.evolution.dialect import Journal
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.system import OURS
from trellis.schema.validate import name_fault

PREFIX: Final = OURS
JOURNAL: Final = Journal(f"{OURS}_schemas", f"{OURS}_loads", "load_id")
IDENTIFIES: Final = "identifies"
MAPPINGS: Final = "rudder_identity_mappings"

OPTIONS: Final = "x-rudderstack"
"""The key of the schema document that holds the options."""
LONG: Final = "x-long"
"""The hint of a column of type text, where the warehouse tells it from string."""
NATIVE: Final = "x-native"
"""The hint of a column whose type in the warehouse is none of ours: it is left alone."""
RANGE: Final = "x-range"
"""The hint of a column that does not hold every int or float: the least and the greatest number."""


def options_of(schema: Schema) -> Options:
    """The options that the schema carries."""
    return _options(orjson.dumps(dict(schema.extra.get(OPTIONS) or {}), option=orjson.OPT_SORT_KEYS))


@lru_cache(maxsize=64)
def _options(document: bytes) -> Options:
    return Options.of_document(orjson.loads(document))


def new_schema(name: str) -> Schema:
    """An empty schema: the record of versions, the record of loads.

    >>> list(new_schema("shop").tables)
    ['_trellis_schemas', '_trellis_loads']
    """
    if fault := name_fault(name):
        raise SchemaError(fault)
    return Schema(
        name,
        tables={table.name: table for table in (_VERSIONS, _LOADS)},
        normalizers=MappingProxyType({"names": "direct"}),
    )


def _table(name: str, description: str, **columns: DataType) -> Table:
    made = {key: Column(key, data_type, nullable=True) for key, data_type in columns.items()}
    return Table(name, made, description=description).with_hints(write_disposition="skip", resource=name)


_VERSIONS = _table(
    JOURNAL.versions,
    "Every version of the schema of this dataset.",
    version="bigint",
    inserted_at="timestamp",
    schema_name="text",
    version_hash="text",
    schema="text",
)
_LOADS = _table(
    JOURNAL.loads,
    "Every load that was committed.",
    load_id="text",
    schema_name="text",
    inserted_at="timestamp",
    schema_version_hash="text",
)
