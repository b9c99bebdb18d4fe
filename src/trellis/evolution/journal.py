"""The record of versions and loads of dialects whose originals keep none in the warehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from trellis.errors import SchemaError
from trellis.evolution.dialect import Journal
from trellis.schema.document import to_json
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.system import OURS
from trellis.schema.validate import name_fault


def own_journal(prefix: str = OURS) -> Journal:
    """Where a dialect keeps its record in tables of ours.

    >>> own_journal().versions
    '_trellis_schemas'
    """
    return Journal(f"{prefix}_schemas", f"{prefix}_loads", "load_id")


def new_schema(name: str, journal: Journal) -> Schema:
    """An empty schema: the record of versions, the record of loads. Raises SchemaError for a bad name.

    >>> list(new_schema("shop", own_journal()).tables)
    ['_trellis_schemas', '_trellis_loads']
    """
    if fault := name_fault(name):
        raise SchemaError(fault)
    versions = _table(
        journal.versions,
        "Every version of the schema of this dataset.",
        version="bigint",
        inserted_at="timestamp",
        schema_name="text",
        version_hash="text",
        schema="text",
    )
    loads = _table(
        journal.loads,
        "Every load that was committed.",
        load_id="text",
        schema_name="text",
        inserted_at="timestamp",
        schema_version_hash="text",
    )
    return Schema(
        name,
        tables={table.name: table for table in (versions, loads)},
        normalizers=MappingProxyType({"names": "direct"}),
    )


def load_records(
    schema: Schema, journal: Journal, load_id: str, now: datetime, *, fresh: bool
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The rows that a load leaves there. `fresh`: this version of the schema is new."""
    rows: dict[str, list[Mapping[str, Any]]] = {
        journal.loads: [
            {
                "load_id": load_id,
                "schema_name": schema.name,
                "inserted_at": now,
                "schema_version_hash": schema.stored_hash,
            }
        ]
    }
    if fresh:
        rows[journal.versions] = [
            {
                "version": schema.stored_version,
                "inserted_at": now,
                "schema_name": schema.name,
                "version_hash": schema.stored_hash,
                "schema": to_json(schema),
            }
        ]
    return rows


def _table(name: str, description: str, **columns: DataType) -> Table:
    made = {key: Column(key, data_type, nullable=True) for key, data_type in columns.items()}
    return Table(name, made, description=description).with_hints(write_disposition="skip", resource=name)
