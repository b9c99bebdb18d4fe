"""The parts of this dialect, put together: events name their schemas, and a registry authors the tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.enriched.fields import LINE_EXTENSIONS
from trellis.dialects.snowplow.events.families import SCHEMA_COLUMNS
from trellis.dialects.snowplow.events.line_projection import line_projection
from trellis.dialects.snowplow.events.router import EventRouter, family_rows, read_record
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.options import NAMES
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.schemas import SnowplowSchemas
from trellis.dialects.snowplow.stored_families import (
    LOAD_TIME,
    METADATA,
    families_of,
    new_wide_column,
    with_families,
)
from trellis.dialects.snowplow.types import SnowplowTypes
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import (
    DefaultDeadLetters,
    DefaultSystemColumns,
    DefaultTables,
    DialectDefaults,
)
from trellis.evolution.dialect.own_metadata import OwnMetadata
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.dialect.transforms import RecordTransform, Route
from trellis.schema.model import Column, Schema
from trellis.schema.naming import Naming

_MOST_SHOWN: Final = 60
"""Characters of a value that a sentence shows."""


class SnowplowRouting:
    """An event has a row in `events`, and one for each entity in the table of its family."""

    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        known = families_of(schema)
        families = family_rows([known.rows_of(family) for family in known.complete])
        router = EventRouter(known.options.rules, families, known.unresolved, known.options.marked)
        return Route(router, read_record, None if known.is_wide else line_projection(router))


class SnowplowTables(DefaultTables):
    def model_column(self, schema: Schema, table: str, column: str) -> Column | None:
        return new_wide_column(schema, column) if table == EVENTS else None

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        """Without the schemas themselves: the next load asks the registry for them."""
        return with_families(after, replace(families_of(after), documents={}, overlays={}, unresolved={}))


class SnowplowSystemColumns(DefaultSystemColumns):
    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        return RowKeys(loaded_at={LOAD_TIME: "ms"} if table == EVENTS else {})

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        return (schema.tables[EVENTS].columns[LOAD_TIME],) if table == EVENTS else ()


class SnowplowDeadLetters(DefaultDeadLetters):
    """In files with types an event is whole or bad: no load could tell from them what is missing."""

    def dead_letter(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> None:
        families = families_of(schema)
        if not families.options.is_run:
            return
        place = f"{EVENTS}: {column}"
        if table != EVENTS:
            key = SchemaKey.parse(f"iglu:{'/'.join(row[name] for name in SCHEMA_COLUMNS)}")
            place = f"{key}: {families.table_rows_of(str(key.family)).pointer_of(key, column)}"
        shown = repr(str(value)[:_MOST_SHOWN])
        raise BadEvent("loader_runtime_error", f"{place} type: {shown} is {reason}")


class Snowplow(DialectDefaults):
    name = "snowplow"
    capabilities = Capabilities(
        records_name_tables=True,
        declares_nested_types=True,
        keeps_rejected_lines=True,
        line_extensions=LINE_EXTENSIONS,
        options=NAMES,
    )
    routing = SnowplowRouting()
    types = SnowplowTypes()
    schemas = SnowplowSchemas()
    tables = SnowplowTables()
    system_columns = SnowplowSystemColumns()
    dead_letters = SnowplowDeadLetters()
    metadata = OwnMetadata(METADATA)
