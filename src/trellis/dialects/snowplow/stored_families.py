"""What a stored schema says of families, and the tables that follow from them.

Between loads the versions of each family are kept, and a hash of their tables. The schemas themselves, and
why others are missing, are there while a load runs: every load asks the registry anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

import orjson

from trellis.dialects.snowplow.columns.column_types import TIMESTAMP
from trellis.dialects.snowplow.columns.declarations import METADATA as ENTITY_METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable
from trellis.dialects.snowplow.columns.flatten import Column as FamilyColumn
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile, catalog_column
from trellis.dialects.snowplow.document.json_text import read_json, write_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.dialects.snowplow.events.families import (
    ENTITY_COLUMN,
    RECORD_COLUMN,
    EntityRows,
    EntityTable,
    FamilyRows,
    FamilyRules,
)
from trellis.dialects.snowplow.events.wide_rows import WideRows
from trellis.dialects.snowplow.options import Options
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.typed.types import Array, Struct, arrow_name
from trellis.errors import SchemaError
from trellis.evolution.dialect.own_metadata import own_tables
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
from trellis.schema.system import OURS

METADATA: Final = own_tables(f"{OURS}_snowplow")
LOAD_TIME: Final = "load_tstamp"
RECORD_MARK: Final = Column(RECORD_COLUMN, "text")
MARKS: Final = (Column(ENTITY_COLUMN, "text"), RECORD_MARK)
"""Columns that the files of a run do not have."""
RECOVERED: Final = "x-snowplow-recovered"
"""The hint of a table of a version that does not fit the table of its family."""
STAYS_JSON: Final = "x-snowplow-json"
"""The hint of a table whose entities stay JSON."""
_KEY: Final = "x-snowplow"
_POPULATED: Final = {"x-normalizer": {"seen-data": True}}


@dataclass(frozen=True)
class StoredFamilies:
    """The part of a stored schema that only this dialect has.

    `versions` are the addresses of each family in the order of creation, up to the last that was used;
    `digests` are hashes of what the columns of its tables are.
    """

    profile: Profile = PROFILES["duckdb"]
    options: Options = field(default_factory=Options)
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    """Schemas by address, as JSON; there only while a load runs."""
    overlays: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How tables of families differ from what their schemas say; there only while a load runs."""
    unresolved: Mapping[str, str] = field(default_factory=dict)
    """Why a schema is missing, by address; there only while a load runs."""
    _rows: dict[str, EntityRows] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def is_wide(self) -> bool:
        """Whether entities are columns of `events`."""
        return self.options.layout == "wide"

    @property
    def rules(self) -> FamilyRules:
        options = self.options
        return FamilyRules(
            self.profile,
            options.compat,
            options.text,
            options.marked,
            options.layout == "version",
            options.formats,
            options.is_run,
        )

    def rows_of(self, family: str) -> EntityRows:
        """What makes its rows, the same for all tasks of a process."""
        if family not in self._rows:
            self._rows[family] = self.wide_rows_of(family) if self.is_wide else self.table_rows_of(family)
        return self._rows[family]

    def table_rows_of(self, family: str) -> FamilyRows:
        overlay = Overlay.parse(self.overlays[family]) if family in self.overlays else None
        return FamilyRows(self._schemas_of(family), self.rules, overlay)

    def wide_rows_of(self, family: str) -> WideRows:
        options = self.options
        return WideRows(self._schemas_of(family), options.schema_version, options.marked, options.as_json)

    def _schemas_of(self, family: str) -> Sequence[SchemaDocument]:
        return [SchemaDocument.parse(read_json(self.documents[uri])) for uri in self.versions[family]]

    @property
    def complete(self) -> list[str]:
        """The families whose schemas are there."""
        return [
            family for family, uris in self.versions.items() if all(uri in self.documents for uri in uris)
        ]

    def to_document(self) -> dict[str, Any]:
        return {
            "profile": self.profile.name,
            "options": self.options.to_document(),
            "versions": {family: [*uris] for family, uris in self.versions.items()},
            "digests": dict(self.digests),
            **({"documents": dict(self.documents)} if self.documents else {}),
            **({"overlays": dict(self.overlays)} if self.overlays else {}),
            **({"unresolved": dict(self.unresolved)} if self.unresolved else {}),
        }


def families_of(schema: Schema) -> StoredFamilies:
    return _families(orjson.dumps(schema.extra.get(_KEY) or {}, default=dict))


@lru_cache(maxsize=16)
def _families(text: bytes) -> StoredFamilies:
    document = orjson.loads(text)
    if not document:
        return StoredFamilies()
    return StoredFamilies(
        PROFILES[document["profile"]],
        Options(**document["options"]),
        document["versions"],
        document["digests"],
        document.get("documents", {}),
        document.get("overlays", {}),
        document.get("unresolved", {}),
    )


def with_families(schema: Schema, families: StoredFamilies) -> Schema:
    return replace(schema, extra=MappingProxyType({**schema.extra, _KEY: families.to_document()}))


def with_family(
    schema: Schema, family: str, documents: Sequence[SchemaDocument], overlay: Overlay | None = None
) -> Schema:
    """The schema with a family whose schemas are these, in their order, and with its tables."""
    known = families_of(schema)
    texts = {str(document.key): write_json(document.to_dict()) for document in documents}
    changed = replace(
        known,
        versions={**known.versions, family: [*texts]},
        documents={**known.documents, **texts},
        overlays={**known.overlays, **({family: overlay.to_dict()} if overlay else {})},
    )
    if changed.is_wide:
        wide = changed.wide_rows_of(family)
        digest, tables = _digest("\n".join(map(str, wide.columns.values()))), [_grown_events(schema, wide)]
    else:
        rows = changed.table_rows_of(family)
        digest, tables = definition_digest(rows.table), entity_tables(rows)
    _refuse_taken_tables(schema, family, tables)
    changed = replace(changed, digests={**changed.digests, family: digest})
    return with_families(schema, changed).with_tables(*tables)


def _refuse_taken_tables(schema: Schema, family: str, tables: Iterable[Table]) -> None:
    """Raises SchemaError where rows of two families would go into one table."""
    for table in tables:
        owner = schema.tables[table.name].description if table.name in schema.tables else None
        if owner and owner.startswith("iglu:") and not owner.startswith(f"iglu:{family}-"):
            raise SchemaError(
                f"{table.name}: it is the table of {owner}, and would be that of {family}; name one of them "
                "otherwise in its overlay"
            )


def entity_tables(rows: FamilyRows) -> list[Table]:
    """The tables of a family: its own, and those of versions that do not fit, or one of each version."""
    tables = {table.name: table for table in rows.tables.values()}
    if not rows.rules.by_version:
        family = EntityTable(rows.table.name, rows.table.key, rows.table.columns)
        tables = {family.name: family, **tables}
    return [_table(table, rows.rules) for table in tables.values()]


def new_wide_column(schema: Schema, name: str) -> Column | None:
    """The column of `events` that entities bring up; None for one of no family."""
    known = families_of(schema)
    for family in known.complete if known.is_wide else ():
        rows = known.wide_rows_of(family)
        if name in rows.columns:
            return wide_column(rows, name)
    return None


def _grown_events(schema: Schema, rows: WideRows) -> Table:
    """The table of events with the types that its columns of a family have now."""
    events = schema.tables[EVENTS]
    return events.with_columns(*(wide_column(rows, name) for name in rows.columns if name in events.columns))


def wide_column(rows: WideRows, name: str) -> Column:
    """A column of a family; its description is the last version that it holds."""
    wide_type, description = rows.columns[name].type, str(rows.last_keys[name])
    if not isinstance(wide_type, Struct | Array):
        return Column(name, "text", nullable=True, description=description)
    column = Column(name, "json", nullable=True, description=description)
    return column.with_hints(**{NESTED_TYPE: f"arrow:{arrow_name(wide_type)}"})


def events_table(profile: Profile, unbounded: bool = False) -> Table:
    """The table of the events themselves. `unbounded`: texts have no length."""
    columns = [
        FamilyColumn(item.name, profile.adapt(item.type), not item.is_required, ()) for item in ATOMIC_FIELDS
    ]
    table = Table(EVENTS, {column.name: _column(column, profile, unbounded=unbounded) for column in columns})
    time = Column(LOAD_TIME, "timestamp", nullable=True, timezone=False)
    return table.with_columns(time).with_hints(write_disposition="append", resource=EVENTS, **_POPULATED)


def definition_digest(table: FamilyTable) -> str:
    """A hash of the columns of a family's tables: it tells a patched schema from the one that was loaded.

    Names that were shortened count as they are in the schemas, since an overlay may shorten them otherwise.
    """
    columns = [*table.columns, *(column for recovery in table.recovery for column in recovery.columns)]
    full = {short: name for name, short in table.shortened.items()}
    lines = (f"{full.get(column.name, column.name)} {column.type} {column.nullable}" for column in columns)
    return _digest("\n".join(lines))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _table(table: EntityTable, rules: FamilyRules) -> Table:
    profile = rules.profile
    columns = [
        _column(replace(column, type=profile.adapt(column.type)), profile) for column in ENTITY_METADATA
    ]
    for column in table.columns:
        as_text = Column(column.name, "text", nullable=True)
        columns.append(as_text if rules.as_text else _column(column, profile, True, rules.unbounded))
    if rules.marked:
        columns += MARKS
    hints = {
        **({RECOVERED: True} if table.is_recovered else {}),
        **({STAYS_JSON: True} if table.is_json else {}),
    }
    described = Table(table.name, {column.name: column for column in columns}, description=str(table.key))
    return described.with_hints(write_disposition="append", resource=table.name, **_POPULATED, **hints)


def _column(
    column: FamilyColumn, profile: Profile, nullable: bool | None = None, unbounded: bool = False
) -> Column:
    """The column as the engine knows it; without a length where the warehouse has none.

    Columns of schemas may always be NULL: a later version may leave them out.
    """
    known = catalog_column(column.type)
    if known.data_type == "text" and (unbounded or not profile.texts_have_length):
        known = replace(known, precision=None)
    if known.data_type == "decimal" and known.precision is None:
        known = replace(known, precision=18, scale=0)
    return replace(
        known,
        name=column.name,
        nullable=column.nullable if nullable is None else nullable,
        timezone=False if column.type == TIMESTAMP else None,
    )
