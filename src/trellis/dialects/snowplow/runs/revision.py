"""Copies of events in a load, dropped before it is committed as the shredder drops those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import pyarrow.parquet as pq

from trellis.dialects.registration import ReferenceResolver, RevisedRows
from trellis.dialects.snowplow.events.families import RECORD_COLUMN
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.duplicate_contexts import (
    add_wide_contexts,
    with_duplicate_family,
    write_contexts,
)
from trellis.dialects.snowplow.runs.duplicates import Deduplication, Duplicates, find_duplicates, renamed_note
from trellis.dialects.snowplow.runs.event_store import EventStore, open_event_store
from trellis.dialects.snowplow.runs.row_files import RowFiles
from trellis.dialects.snowplow.stored_families import MARKS, families_of, with_families
from trellis.errors import UsageError, nearest
from trellis.schema.model import Schema

_MARKS = {mark.name for mark in MARKS}


@dataclass(frozen=True)
class EventRevision:
    """Drops copies of events, and gives others that share an id new ones."""

    deduplication: Deduplication
    store: EventStore | None

    @staticmethod
    def of(settings: Mapping[str, Any]) -> EventRevision | None:
        """Raises UsageError."""
        kind, store = str(settings.get("dedup", "none")), settings.get("dedup_store")
        if kind not in get_args(Deduplication):
            raise UsageError(f"option dedup: there is no {kind!r}{nearest(kind, get_args(Deduplication))}")
        if kind == "none":
            if store is not None:
                raise UsageError(
                    "option dedup_store is for option dedup, which is none; give it natural or all"
                )
            return None
        return EventRevision(
            cast("Deduplication", kind), None if store is None else open_event_store(str(store))
        )

    def visible(self, schema: Schema) -> Schema:
        tables = (
            replace(
                table, columns={name: column for name, column in table.columns.items() if name not in _MARKS}
            )
            for table in schema.tables.values()
            if RECORD_COLUMN in table.columns
        )
        known = families_of(schema)
        unmarked = replace(known, options=replace(known.options, marked=False))
        return with_families(schema.with_tables(*tables), unmarked)

    def revise(
        self,
        schema: Schema,
        files: Mapping[str, Sequence[str]],
        load_id: str,
        resolve: ReferenceResolver | None,
        dry_run: bool,
    ) -> RevisedRows:
        duplicates = find_duplicates(
            files.get(EVENTS, ()), load_id, self.deduplication, None if dry_run else self.store
        )
        paths = {name: [*parts] for name, parts in files.items()}
        if duplicates.renamed:
            schema = with_duplicate_family(schema, resolve)
            if families_of(schema).is_wide:
                schema, duplicates = add_wide_contexts(schema, duplicates)
            else:
                staged = f"{files[EVENTS][0]}.contexts.parquet"
                paths.setdefault(write_contexts(schema, duplicates, staged), []).append(staged)
        revised = {
            name: [_rewrite(path, duplicates) for path in parts]
            for name, parts in paths.items()
            if name in schema.tables and RECORD_COLUMN in schema.tables[name].columns
        }
        return RevisedRows(self.visible(schema), revised, len(duplicates.dropped), renamed_note(duplicates))


def _rewrite(path: str, duplicates: Duplicates) -> tuple[str, int]:
    """Write a staged file anew as it is loaded: its path and rows."""
    target = f"{path.removesuffix('.parquet')}.revised.parquet"
    schema = pq.read_schema(path)
    if duplicates.context_field is not None and "event_id" in schema.names:
        field = duplicates.context_field
        schema = schema if field.name in schema.names else schema.append(field)
    for name in _MARKS & {*schema.names}:
        schema = schema.remove(schema.get_field_index(name))
    return target, RowFiles("parquet", "NONE", schema, duplicates).write_file([path], target)
