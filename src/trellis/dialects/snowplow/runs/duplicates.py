"""Events that a run has more than once: copies are dropped, others that share an id get one of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID, uuid5

import pyarrow as pa
import pyarrow.compute as pc

from trellis.destinations.sql.literals import string_literal
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.events.families import RECORD_COLUMN
from trellis.dialects.snowplow.events.wide_rows import join_contexts
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.runs.event_store import Arrival, EventStore
from trellis.errors import DestinationError

if TYPE_CHECKING:
    import duckdb

Deduplication = Literal["all", "natural", "none"]
DUPLICATE: Final = SchemaDocument(
    SchemaKey.parse("iglu:com.snowplowanalytics.snowplow/duplicate/jsonschema/1-0-0"),
    {
        "type": "object",
        "properties": {"originalEventId": {"type": "string", "format": "uuid"}},
        "required": ["originalEventId"],
        "additionalProperties": False,
    },
)
"""The context of an event whose id was taken by another one."""
_NAMESPACE: Final = UUID("5d8f1b0e-7a0d-4c69-9a41-6f0d3c0b7d55")
_IDS: Final = ("root_id", "event_id")
"""Of rows of entities, which may have a column `event_id` of their own, and of events."""


@dataclass(frozen=True)
class RenamedEvent:
    """An event that got a new id."""

    id: str
    original_id: str
    collected_at: datetime


@dataclass(frozen=True)
class Duplicates:
    """What becomes of events, by their place in the input, that are in the run more than once."""

    dropped: frozenset[str] = frozenset()
    renamed: Mapping[str, RenamedEvent] = field(default_factory=dict)
    context_field: pa.Field | None = None
    """The column of wide rows that gets the contexts of renamed events, where rows are wide."""
    contexts: Mapping[str, list[Any] | str] = field(default_factory=dict)
    """Those contexts, by the places of their events."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that stay, with the ids of their events."""
        if self.dropped:
            records = batch.column(RECORD_COLUMN)
            batch = batch.filter(pc.invert(pc.is_in(records, pa.array([*self.dropped], pa.string()))))
        records = batch.column(RECORD_COLUMN)
        if not self.renamed or not pc.any(pc.is_in(records, pa.array([*self.renamed], pa.string()))).as_py():
            return batch
        name = next(name for name in _IDS if name in batch.schema.names)
        ids = [
            self.renamed[record].id if record in self.renamed else event_id
            for record, event_id in zip(records.to_pylist(), batch.column(name).to_pylist(), strict=True)
        ]
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, batch.schema.field(place), pa.array(ids, pa.string()))
        return batch if self.context_field is None else self._with_contexts(batch, self.context_field)

    def _with_contexts(self, batch: pa.RecordBatch, column: pa.Field) -> pa.RecordBatch:
        place = batch.schema.get_field_index(column.name)
        stored = [None] * batch.num_rows if place < 0 else batch.column(place).to_pylist()
        values = [
            join_contexts(contexts, self.contexts[record]) if record in self.contexts else contexts
            for record, contexts in zip(batch.column(RECORD_COLUMN).to_pylist(), stored, strict=True)
        ]
        array = pa.array(values, column.type)
        return batch.append_column(column, array) if place < 0 else batch.set_column(place, column, array)


def renamed_note(duplicates: Duplicates) -> tuple[str, ...]:
    """What a report says of events that share an id."""
    count = len(duplicates.renamed)
    return (f"{count} events shared their ids with others and got new ones",) if count else ()


def find_duplicates(
    files: Sequence[str], run: str, kind: Deduplication, store: EventStore | None = None
) -> Duplicates:
    """The duplicates of a run. `files` are the staged rows of its events, `store` holds those of others.

    Copies have the same id and fingerprint; the one that was enriched first stays. Events that share an id
    and nothing else all get a new one, which depends on the run and their place in it.
    """
    if kind == "none" or not files:
        return Duplicates()
    import duckdb

    paths = ", ".join(map(string_literal, files))
    try:
        with duckdb.connect() as connection:
            connection.execute(
                "CREATE VIEW numbered AS "
                "SELECT *, row_number() OVER (PARTITION BY event_id, coalesce(event_fingerprint, record) "
                "ORDER BY etl_tstamp NULLS LAST, record) AS copy "
                f"FROM (SELECT {RECORD_COLUMN} AS record, event_id, event_fingerprint, etl_tstamp, "
                f"collector_tstamp FROM read_parquet([{paths}], union_by_name = true))"
            )
            copies = {
                record
                for (record,) in connection.sql("SELECT record FROM numbered WHERE copy > 1").fetchall()
            }
            if store is not None:
                smallest = "SELECT CAST(min(etl_tstamp) AS VARCHAR) FROM numbered"
                [(batch,)] = connection.sql(smallest).fetchall()
                copies |= store.claim(_arrivals(connection), batch or run)
            shared = (
                "SELECT record, event_id, collector_tstamp FROM numbered WHERE record NOT IN "
                "(SELECT unnest(?)) "
                "QUALIFY count(*) OVER (PARTITION BY event_id) > 1"
            )
            others = connection.execute(shared, [[*copies]]).fetchall() if kind == "all" else []
    except duckdb.Error as error:
        raise DestinationError(f"{run}: its duplicates cannot be found: {error}; free some space") from None
    return Duplicates(
        frozenset(copies),
        {
            record: RenamedEvent(str(uuid5(_NAMESPACE, f"{run}/{record}")), event_id, collected_at)
            for record, event_id, collected_at in others
        },
    )


def _arrivals(connection: duckdb.DuckDBPyConnection) -> Iterator[Arrival]:
    """The events that others may be copies of: the first of each, with a fingerprint."""
    cursor = connection.cursor().execute(
        "SELECT record, event_id, event_fingerprint FROM numbered WHERE copy = 1 "
        "AND event_fingerprint IS NOT NULL"
    )
    while rows := cursor.fetchmany(10_000):
        yield from (Arrival(*row) for row in rows)
