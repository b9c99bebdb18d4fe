"""The stored schema follows the registry: tables come with the schemas that records refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trellis.dialects.snowplow.columns.profiles import family_profile
from trellis.dialects.snowplow.options import Options
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.stored_families import (
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


class SnowplowSchemas(DefaultSchemas):
    metadata = METADATA

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        known, profile = families_of(schema), family_profile(family)
        options = Options.of(settings, known.options)
        if EVENTS not in schema.tables:
            events = events_table(profile)
            schema = schema.with_tables(events.with_columns(RECORD_MARK) if options.marked else events)
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
        return schema
