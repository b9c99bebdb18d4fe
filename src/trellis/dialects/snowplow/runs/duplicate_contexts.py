"""The contexts of events that got a new id: they say which one they had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.registration import ReferenceResolver
from trellis.dialects.snowplow.events.event import Entity, ShreddedEvent
from trellis.dialects.snowplow.events.families import EntityRows, Rows
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.duplicates import DUPLICATE, Duplicates, RenamedEvent
from trellis.dialects.snowplow.stored_families import families_of, wide_column, with_families, with_family
from trellis.engine.arrow.types import arrow_type
from trellis.schema.model import Schema, Table

FAMILY: Final = str(DUPLICATE.key.family)


def with_duplicate_family(schema: Schema, resolve: ReferenceResolver | None) -> Schema:
    """The schema with the family of these contexts, by the registry or by what Snowplow publishes."""
    known = families_of(schema)
    if FAMILY in known.complete:
        return schema
    if resolve is not None:
        lenient = replace(known, options=replace(known.options, on_missing="reject"))
        resolved = resolve(with_families(schema, lenient), [str(DUPLICATE.key)])
        families = replace(families_of(resolved), options=known.options)
        if FAMILY in families.complete:
            return with_families(resolved, families)
    return with_family(schema, FAMILY, [DUPLICATE])


def add_wide_contexts(schema: Schema, duplicates: Duplicates) -> tuple[Schema, Duplicates]:
    """The schema whose table of events has the column of the contexts, and what goes into it."""
    rows = families_of(schema).wide_rows_of(FAMILY)
    contexts = {record: _row(rows, event) for record, event in duplicates.renamed.items()}
    name = next(name for row in contexts.values() for name in row)
    column, events = wide_column(rows, name), schema.tables[EVENTS]
    if name not in events.columns:
        schema = schema.with_tables(events.with_columns(column))
    field = pa.field(name, arrow_type(column))
    values = {record: row[name] for record, row in contexts.items()}
    return schema, replace(duplicates, context_field=field, contexts=values)


def write_contexts(schema: Schema, duplicates: Duplicates, path: str) -> str:
    """Write the contexts as staged rows of the table of their family; the name of the table."""
    rows = families_of(schema).table_rows_of(FAMILY)
    table = schema.tables[rows.tables[DUPLICATE.key].name]
    pq.write_table(_arrow_table(table, [_row(rows, event) for event in duplicates.renamed.values()]), path)
    return table.name


def _row(rows: EntityRows, event: RenamedEvent) -> dict[str, Any]:
    """The row with the context of an event."""
    collected_at = event.collected_at.replace(tzinfo=timezone.utc)
    entity = Entity(DUPLICATE.key, {"originalEventId": event.original_id}, "CONTEXT")
    event_rows: Rows = [(EVENTS, {})]
    rows.add_entity(entity, ShreddedEvent(event.id, collected_at, {}, (entity,)), event_rows)
    _, row = event_rows[-1]
    return row


def _arrow_table(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.table(
        {
            column.name: pa.array([_plain(row.get(column.name)) for row in rows], arrow_type(column))
            for column in table.columns.values()
        }
    )


def _plain(value: Any) -> Any:
    """A time without its zone, as columns of entities hold it."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
