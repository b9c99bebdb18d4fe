"""The tables that the loader keeps: which runs are loaded, by which definitions, and which events failed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from trellis.dialects.snowplow.columns.family_table import columns_of
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.enriched.bad_event import failed_place
from trellis.dialects.snowplow.runs.layouts import BAD_PATH
from trellis.dialects.snowplow.runs.manifest import ARTIFACT, RunManifest
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.engine.staging.dead_letters import REJECTS
from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, Table


def _table(name: str, key: str = "", **columns: DataType) -> Table:
    described = {
        column: Column(column, data_type, timezone=False if data_type == "timestamp" else None)
        for column, data_type in columns.items()
    }
    if key:
        described[key] = described[key].with_hints(primary_key=True)
    return Table(name, described)


MANIFEST: Final = _table(
    "manifest",
    key="base",
    base="text",
    types="text",
    shredding_started="timestamp",
    shredding_completed="timestamp",
    min_collector_tstamp="timestamp",
    max_collector_tstamp="timestamp",
    ingestion_tstamp="timestamp",
    compression="text",
    processor_artifact="text",
    processor_version="text",
    count_good="bigint",
)
"""As loaders of Snowplow have it."""
DEFINITIONS: Final = _table(
    "_trellis_definitions",
    base="text",
    table_name="text",
    schemas="text",
    loaded_at="timestamp",
)
"""By which schemas a table was made since the load of a run; `schemas` has a hash of the columns of each."""
FAILED_EVENTS: Final = _table(
    "failed_events",
    base="text",
    number="bigint",
    reason="text",
    message="text",
    schema="text",
    pointer="text",
    line="text",
    failed_at="timestamp",
    replayed_at="timestamp",
)
"""Events that reached no table; `number` counts those of a run, or of a load, from 1."""
LOADER_TABLES: Final = (MANIFEST, DEFINITIONS, FAILED_EVENTS)


@dataclass(frozen=True)
class DefinitionRecord:
    """What a table was made by since a load: the digests of its schemas, by address."""

    base: str = ""
    schemas: Mapping[str, str] = field(default_factory=dict)

    def patched(self, documents: Iterable[SchemaDocument], profile: Profile) -> list[str]:
        """The schemas whose columns are others now."""
        return [
            str(document.key)
            for document in documents
            if self.schemas.get(str(document.key), digest := schema_digest(document, profile)) != digest
        ]


def schema_digest(document: SchemaDocument, profile: Profile) -> str:
    """A hash of the columns that a schema has by itself."""
    columns = columns_of(document, profile)
    text = "\n".join(f"{column.name} {column.type} {column.nullable}" for column in columns)
    return sha256(text.encode()).hexdigest()[:16]


def last_definitions(warehouse: RunWarehouse, dataset: str) -> dict[str, DefinitionRecord]:
    """Those of the last load into each table."""
    columns = ("loaded_at", "table_name", "base", "schemas")
    rows = sorted(warehouse.select(dataset, DEFINITIONS, columns, {}), key=lambda row: row[0])
    return {table: DefinitionRecord(base, json.loads(schemas)) for _, table, base, schemas in rows}


def definition_rows(
    manifest: RunManifest,
    table: str,
    record: DefinitionRecord,
    digests: Mapping[str, str],
    now: datetime,
) -> list[dict[str, Any]]:
    """The row of DEFINITIONS after a load by schemas with these digests; none where all are known."""
    schemas = {**record.schemas, **digests}
    if schemas == record.schemas:
        return []
    return [
        {
            "base": manifest.base,
            "table_name": table,
            "schemas": json.dumps(schemas),
            "loaded_at": naive(now),
        }
    ]


def manifest_row(manifest: RunManifest, now: datetime) -> dict[str, Any]:
    types = manifest.completion_document("")["data"]["typesInfo"]["types"]
    return {
        "base": manifest.base,
        "types": json.dumps(types),
        "shredding_started": naive(manifest.started),
        "shredding_completed": naive(manifest.completed),
        "min_collector_tstamp": naive(manifest.earliest),
        "max_collector_tstamp": naive(manifest.latest),
        "ingestion_tstamp": naive(now),
        "compression": manifest.compression,
        "processor_artifact": ARTIFACT,
        "processor_version": manifest.algorithm,
        "count_good": manifest.good,
    }


def failed_rows(run: Path, manifest: RunManifest, now: datetime) -> Iterator[dict[str, Any]]:
    """The rows of FAILED_EVENTS for the bad events of a run."""
    for number, (kind, message, line) in enumerate(bad_events(run), start=1):
        yield _failed_row(manifest.base, number, kind, message, line, now)


def rejected_rows(warehouse: RunWarehouse, dataset: str, now: datetime) -> dict[str, list[dict[str, Any]]]:
    """The rows of FAILED_EVENTS for the lines that `trellis load` rejected, by the ids of loads.

    They have failed now: to read times with zones from DuckDB takes a package that users need not have.
    """
    columns = ("load_id", "file", "position", "text", "reason")
    rows: dict[str, list[dict[str, Any]]] = {}
    for load_id, _, _, line, reason in sorted(warehouse.select(dataset, REJECTS, columns, {})):
        kind, _, message = reason.partition(": ")
        failed = rows.setdefault(load_id, [])
        failed.append(_failed_row(load_id, len(failed) + 1, kind, message, line, now))
    return rows


def _failed_row(
    base: str, number: int, kind: str, message: str, line: str, failed_at: datetime
) -> dict[str, Any]:
    schema, pointer = failed_place(message)
    return {
        "base": base,
        "number": number,
        "reason": kind,
        "message": message,
        "schema": schema,
        "pointer": pointer,
        "line": line,
        "failed_at": naive(failed_at),
    }


def bad_events(run: Path) -> Iterator[tuple[str, str, str]]:
    """The kind, the message and the line of each event of a run that reached no table. Raises SchemaError."""
    for file in sorted((run / BAD_PATH).glob("name=*/part-*")):
        kind = file.parent.name.removeprefix("name=")
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    data = json.loads(line)["data"]
                    message, payload = data["failure"]["message"], data["payload"]
                except (ValueError, KeyError, TypeError):
                    raise SchemaError(
                        f"{file}:{number}: not an event that failed; the file was changed after it was "
                        "shredded, shred the run again"
                    ) from None
                yield kind, message, payload


def naive(time: datetime | None) -> datetime | None:
    """A time without its zone, in UTC, as the tables have it."""
    return None if time is None else time.astimezone(timezone.utc).replace(tzinfo=None)
