"""Load times, discards, users, identities: what goes with the events (spec rudderstack.md, 7 to 9)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from trellis.dialects.rudderstack.discard_replay import restore_discard as restored
from trellis.dialects.rudderstack.events.cells import JsonText, json_text
from trellis.dialects.rudderstack.naming.standard import DISCARDS, MERGE_RULES
from trellis.dialects.rudderstack.naming.standard_names import StandardNames as Named
from trellis.dialects.rudderstack.options import FIELDS, Options
from trellis.dialects.rudderstack.quota import has_room as room
from trellis.dialects.rudderstack.schema_completion import complete_schema as settled
from trellis.dialects.rudderstack.schema_document import JOURNAL, OPTIONS, PREFIX, options_of
from trellis.dialects.rudderstack.type import printed
from trellis.dialects.rudderstack.warehouse.catalog import schema_from_catalog as adopted
from trellis.dialects.rudderstack.warehouse.migration import migration_statements as statements
from trellis.dialects.rudderstack.warehouse.providers import PROVIDERS
from trellis.dialects.rudderstack.warehouse.write_policy import table_loads as loads
from trellis.errors import UsageError
from trellis.evolution.dialect import (
    Catalog,
    Journal,
    RefusedTable,
    Request,
    Restored,
    RowKeys,
    State,
)
from trellis.evolution.journal import load_records, new_schema
from trellis.evolution.loading import Links, Load, Mode
from trellis.evolution.quiet import QuietKeep, asked_of
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming
from trellis.schema.system import is_system

_HOME: Mapping[str, str] = {"parquet": "S3_DATALAKE"}
"""The warehouse whose rules a destination follows if the user names none; else those of PostgreSQL."""
_POSTGRES = "POSTGRES"


class RudderKeep(QuietKeep):
    prefix = PREFIX
    options = tuple(FIELDS)
    follows_catalog = True

    def new_schema(self, name: str) -> Schema:
        return new_schema(name, JOURNAL)

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        known = options_of(schema)
        stored = OPTIONS in schema.extra
        home = known.provider if stored else _HOME.get(family, _POSTGRES)
        said = Options.of({"provider": home, **settings}, known)
        if stored and said.provider != known.provider:
            raise UsageError(
                f"option provider={said.provider}: the names of schema {schema.name} follow {known.provider} "
                "and cannot follow another warehouse later; load into another dataset, or leave it out"
            )
        document = {"provider": said.provider, **said.to_document()}
        if stored and document == dict(schema.extra[OPTIONS]):
            return schema
        return replace(schema, extra=MappingProxyType({**schema.extra, OPTIONS: document}))

    def adopt(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        return adopted(schema, catalog, self.saw_data(self.new_table(schema, "", None)))

    def prepare(self, schema: Schema, request: Request, naming: Naming) -> Schema:
        if asked := asked_of(request):
            raise UsageError(
                f"{asked}: tables of events have theirs from the dialect rudderstack; leave it out"
            )
        if request.contract is None:
            return schema
        return replace(schema, settings=replace(schema.settings, schema_contract=request.contract))

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        return Table(name).with_hints(write_disposition="append", resource=name)

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        if is_system(table):
            return RowKeys()
        options = options_of(schema)
        unit: Literal["s", "ms"] = "s" if options.warehouse.uuid_ts_in_seconds else "ms"
        return RowKeys(loaded_at=dict.fromkeys(Named.of(options).load_times, unit))

    def whole_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        return self.row_keys(schema, table)

    def bookkeeping(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        names = self.row_keys(schema, table).loaded_at
        return tuple(Column(name, "timestamp", nullable=True) for name in names)

    def admits(self, schema: Schema, table: str, column: str | None) -> bool:
        return room(schema, options_of(schema), table, column)

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        """The overflow column, and what an allow-list put into it together with what a quota does."""
        options = options_of(schema)
        column = Named.of(options).column(options.overflow)
        return column, JsonText(json_text({**json.loads(row.get(column) or "{}"), **over}))

    def refused(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        """The row of `rudder_discards` (section 8); a row without id or time of receipt has none."""
        named = Named.of(options_of(schema))
        row_id, received_at = (row.get(each) for each in named.columns("id", "received_at"))
        if row_id is None or received_at is None:
            return None
        values = (printed(row_id), table, column, printed(value), reason)
        made = dict(zip(named.discard_columns, values, strict=True))
        return named.table(DISCARDS), {**made, named.column("received_at"): received_at}

    def discards(self, schema: Schema) -> RefusedTable | None:
        named = Named.of(options_of(schema))
        _, table, column, value, reason = named.discard_columns
        return RefusedTable(named.table(DISCARDS), table, column, value, reason)

    def restored(self, schema: Schema, kept: Mapping[str, Any]) -> Restored | None:
        return restored(schema, Named.of(options_of(schema)), kept)

    def complete(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return settled(before, after, touched, options_of(after))

    def loads(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        return loads(options_of(schema), touched, mode)

    def links(self, schema: Schema) -> Links | None:
        named = Named.of(options_of(schema))
        return named.links() if named.table(MERGE_RULES) in schema.tables else None

    def native(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        provider = PROVIDERS[_HOME.get(family, _POSTGRES)]
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

    def ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        provider = options_of(after).warehouse
        if provider.warehouse.name == family:
            return None
        return provider.name, statements(provider, dataset, before, after)

    def journal(self) -> Journal:
        return JOURNAL

    def records(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return load_records(schema, JOURNAL, load_id, now, fresh=fresh)
