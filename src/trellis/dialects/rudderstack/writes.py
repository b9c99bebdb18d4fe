"""Events are merged or appended, users joined, identities linked, by the rules of the warehouse followed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.rudderstack.identifiers.standard import MERGE_RULES
from trellis.dialects.rudderstack.identifiers.standard_names import StandardNames
from trellis.dialects.rudderstack.providers import PROVIDERS, home_provider
from trellis.dialects.rudderstack.schema_document import options_of
from trellis.dialects.rudderstack.warehouse.migration import migration_statements
from trellis.dialects.rudderstack.warehouse.write_policy import table_loads
from trellis.evolution.dialect.defaults import DefaultWrites
from trellis.evolution.table_writes import IdentityRules, Load, Mode
from trellis.schema.model import DataType, Schema


class RudderWrites(DefaultWrites):
    def table_writes(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        return table_loads(options_of(schema), touched, mode)

    def identity_rules(self, schema: Schema) -> IdentityRules | None:
        named = StandardNames.of(options_of(schema))
        return named.links() if named.table(MERGE_RULES) in schema.tables else None

    def native_types(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        provider = PROVIDERS[home_provider(family)]
        if provider.warehouse.name != family:
            return {}
        types = provider.types
        return {
            "bigint": types["int"],
            "double": types["float"],
            "bool": types["boolean"],
            "timestamp": types["datetime"],
            "text": types["string"],
            "json": types["json"],
        }

    def foreign_ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        provider = options_of(after).warehouse
        if provider.warehouse.name == family:
            return None
        return provider.name, migration_statements(provider, dataset, before, after)
