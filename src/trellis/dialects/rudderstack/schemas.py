"""Schemas follow the warehouse: its tables say which columns there are, options which rules hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import home_provider
from trellis.dialects.rudderstack.schema_document import METADATA, OPTIONS, PREFIX, options_of
from trellis.dialects.rudderstack.tables import RudderTables
from trellis.dialects.rudderstack.warehouse.catalog import schema_from_catalog
from trellis.errors import UsageError
from trellis.evolution.dialect.defaults import DefaultSchemas
from trellis.evolution.dialect.schemas import Catalog, TableRequest
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class RudderSchemas(DefaultSchemas):
    metadata = METADATA
    prefix = PREFIX

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        known = options_of(schema)
        stored = OPTIONS in schema.extra
        home = known.provider if stored else home_provider(family)
        options = Options.of({"provider": home, **settings}, known)
        if stored and options.provider != known.provider:
            raise UsageError(
                f"option provider={options.provider}: the names of schema {schema.name} follow "
                f"{known.provider} and cannot follow another warehouse later; load into another dataset, or "
                "leave it out"
            )
        document = {"provider": options.provider, **options.to_document()}
        if stored and document == dict(schema.extra[OPTIONS]):
            return schema
        return replace(schema, extra=MappingProxyType({**schema.extra, OPTIONS: document}))

    def schema_from_catalog(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        tables = RudderTables()
        return schema_from_catalog(schema, catalog, tables.mark_populated(tables.new_table(schema, "", None)))

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        if hints := replace(request, rules={}).hints_in_words():
            raise UsageError(
                f"{hints}: tables of events have theirs from the dialect rudderstack; leave it out"
            )
        if request.contract is None:
            return schema
        return replace(schema, settings=replace(schema.settings, schema_contract=request.contract))
