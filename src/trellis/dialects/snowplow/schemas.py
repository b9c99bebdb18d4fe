"""The stored schema follows the registry: tables come with the schemas that records refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.snowplow.columns.profiles import family_profile
from trellis.dialects.snowplow.options import Options
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.stored_families import (
    MARKS,
    METADATA,
    RECORD_MARK,
    events_table,
    families_of,
    with_families,
)
from trellis.errors import SchemaError, UsageError
from trellis.evolution.dialect.defaults import DefaultSchemas
from trellis.evolution.dialect.schemas import TableRequest
from trellis.schema.model import Schema
from trellis.schema.naming import Naming

_WIDE: Final = ("duckdb", "delta", "parquet")
"""Warehouses whose columns of structs can grow."""


class SnowplowSchemas(DefaultSchemas):
    metadata = METADATA

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        known, profile = families_of(schema), family_profile(family)
        is_marked = "is_run" in settings or settings.get("dedup", "none") != "none"
        options = Options.of({**settings, **({"marked": True} if is_marked else {})}, known.options)
        stored = known.options if EVENTS in schema.tables else None
        _check_layout(options, stored, family)
        return with_families(schema, replace(known, profile=profile, options=options))

    def merge_user_schema(
        self, schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming]
    ) -> Schema:
        raise SchemaError(
            f"schema {user_schema.name}: tables of Snowplow follow a registry; name its URL or folder instead"
        )

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        hints = request.hints_in_words() or (request.contract and "a contract")
        if hints or request.mode not in (None, "append"):
            raise UsageError(
                f"{hints or f'mode {request.mode}'}: tables of Snowplow follow their registry; leave it out"
            )
        return _with_events(schema)


def _with_events(schema: Schema) -> Schema:
    """The schema of a load, whose table of events may be new."""
    known = families_of(schema)
    events = schema.tables.get(EVENTS) or events_table(known.profile, known.options.is_run)
    if known.options.marked:
        events = events.with_columns(*(MARKS if known.is_wide else (RECORD_MARK,)))
    return schema.with_tables(events)


def _check_layout(options: Options, stored: Options | None, warehouse: str) -> None:
    """Raises UsageError for a layout that the tables cannot have, or do not have."""
    if options.layout == "version" and not options.is_run:
        raise UsageError(
            "layout version is one of files: `trellis snowplow shred --layout version` writes them; load in "
            "layout model or wide"
        )
    if options.layout == "wide" and options.text:
        raise UsageError("wide rows have types, which CSV has not; write them with --format parquet or json")
    if options.layout == "wide" and not options.is_run and warehouse not in _WIDE:
        raise UsageError(
            f"wide rows need columns of structs that can grow, which {warehouse} has not here; load them "
            "into duckdb:PATH, delta:DIR or parquet:DIR, or leave the layout out"
        )
    if stored is not None and (stored.layout, stored.schema_version) != (
        options.layout,
        options.schema_version,
    ):
        raise UsageError(
            f"the tables are there in layout {stored.layout}, with schema_version="
            f"{str(stored.schema_version).lower()}; load as they are, or into another dataset"
        )
