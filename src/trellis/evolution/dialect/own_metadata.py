"""The record of versions and loads of dialects whose originals keep none in the warehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from trellis.errors import SchemaError
from trellis.evolution.dialect.metadata import MetadataTables, State
from trellis.schema.documents.document import to_json
from trellis.schema.documents.validate import name_fault
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.system import OURS


def own_tables(prefix: str = OURS) -> MetadataTables:
    """The tables of a dialect that keeps its record as Trellis does.

    >>> own_tables().versions
    '_trellis_schemas'
    """
    return MetadataTables(f"{prefix}_schemas", f"{prefix}_loads", "load_id")


def new_schema(name: str, metadata: MetadataTables) -> Schema:
    """An empty schema: the record of versions, the record of loads. Raises SchemaError for a bad name.

    >>> list(new_schema("shop", own_tables()).tables)
    ['_trellis_schemas', '_trellis_loads']
    """
    if fault := name_fault(name):
        raise SchemaError(fault)
    versions = _table(
        metadata.versions,
        "Every version of the schema of this dataset.",
        version="bigint",
        inserted_at="timestamp",
        schema_name="text",
        version_hash="text",
        schema="text",
    )
    loads = _table(
        metadata.loads,
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


class OwnMetadata:
    """A `MetadataStore` in the tables of `new_schema`; pipelines remember nothing."""

    def __init__(self, tables: MetadataTables) -> None:
        self._tables = tables

    def tables(self) -> MetadataTables:
        return self._tables

    def rows(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        rows: dict[str, list[Mapping[str, Any]]] = {
            self._tables.loads: [
                {
                    "load_id": load_id,
                    "schema_name": schema.name,
                    "inserted_at": now,
                    "schema_version_hash": schema.stored_hash,
                }
            ]
        }
        if fresh:
            rows[self._tables.versions] = [
                {
                    "version": schema.stored_version,
                    "inserted_at": now,
                    "schema_name": schema.name,
                    "version_hash": schema.stored_hash,
                    "schema": to_json(schema),
                }
            ]
        return rows

    def restore_state(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        return {}

    def next_state(self, state: State, schema_name: str, sources: State | None) -> State | None:
        return None


def _table(name: str, description: str, **columns: DataType) -> Table:
    definitions = {key: Column(key, data_type, nullable=True) for key, data_type in columns.items()}
    return Table(name, definitions, description=description).with_hints(
        write_disposition="skip", resource=name
    )
