"""What a stored schema says of families, and the tables that follow from them.

Between loads the versions of each family are kept, and a hash of their tables. The schemas themselves, and
why others are missing, are there while a load runs: every load asks the registry anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile, catalog_column
from trellis.dialects.snowplow.document.json_text import read_json, write_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, RECORD_COLUMN, FamilyRows
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.options import Options
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.evolution.dialect.own_metadata import own_tables
from trellis.schema.model import Column, Schema, Table
from trellis.schema.system import OURS

METADATA: Final = own_tables(f"{OURS}_snowplow")
LOAD_TIME: Final = "load_tstamp"
RECORD_MARK: Final = Column(RECORD_COLUMN, "text")
MARKS: Final = (Column(ENTITY_COLUMN, "text"), RECORD_MARK)
"""Columns that the files of a run do not have."""
RECOVERED: Final = "x-snowplow-recovered"
"""The hint of a table of a version that does not fit the table of its family."""
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
    unresolved: Mapping[str, str] = field(default_factory=dict)
    """Why a schema is missing, by address; there only while a load runs."""

    def rows_of(self, family: str) -> FamilyRows:
        documents = [SchemaDocument.parse(read_json(self.documents[uri])) for uri in self.versions[family]]
        return FamilyRows(
            documents, self.profile, self.options.compat, self.options.text, self.options.marked
        )

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
        document.get("unresolved", {}),
    )


def with_families(schema: Schema, families: StoredFamilies) -> Schema:
    return replace(schema, extra=MappingProxyType({**schema.extra, _KEY: families.to_document()}))


def with_family(schema: Schema, family: str, documents: Sequence[SchemaDocument]) -> Schema:
    """The schema with a family whose schemas are these, in their order, and with its tables."""
    known = families_of(schema)
    texts = {str(document.key): write_json(document.to_dict()) for document in documents}
    changed = replace(
        known,
        versions={**known.versions, family: [*texts]},
        documents={**known.documents, **texts},
    )
    rows = changed.rows_of(family)
    digest = definition_digest(rows.table)
    changed = replace(changed, digests={**changed.digests, family: digest})
    return with_families(schema, changed).with_tables(*entity_tables(rows))


def entity_tables(rows: FamilyRows) -> list[Table]:
    """The tables of a family: its own, and those of versions that do not fit."""
    table = rows.table
    recovered = [_table(recovery.name, recovery.key, recovery.columns, rows) for recovery in table.recovery]
    return [
        _table(table.name, table.key, table.columns, rows),
        *(item.with_hints(**{RECOVERED: True}) for item in recovered),
    ]


def events_table(profile: Profile) -> Table:
    """The table of the events themselves."""
    columns = [
        FamilyColumn(item.name, profile.adapt(item.type), not item.is_required, ()) for item in ATOMIC_FIELDS
    ]
    table = Table(EVENTS, {column.name: _column(column, profile) for column in columns})
    time = Column(LOAD_TIME, "timestamp", nullable=True, timezone=False)
    return table.with_columns(time).with_hints(write_disposition="append", resource=EVENTS, **_POPULATED)


def definition_digest(table: FamilyTable) -> str:
    """A hash of the columns of a family's tables: it tells a patched schema from the one that was loaded."""
    columns = [*table.columns, *(column for recovery in table.recovery for column in recovery.columns)]
    text = "\n".join(f"{column.name} {column.type} {column.nullable}" for column in columns)
    return sha256(text.encode()).hexdigest()[:16]


def _table(name: str, key: SchemaKey, columns: Sequence[FamilyColumn], rows: FamilyRows) -> Table:
    profile = rows.profile
    table_columns = [
        _column(replace(column, type=profile.adapt(column.type)), profile) for column in ENTITY_METADATA
    ]
    for column in columns:
        as_text = Column(column.name, "text", nullable=True)
        table_columns.append(as_text if rows.as_text else _column(column, profile, nullable=True))
    if rows.marked:
        table_columns += MARKS
    table = Table(name, {column.name: column for column in table_columns}, description=str(key))
    return table.with_hints(write_disposition="append", resource=name, **_POPULATED)


def _column(column: FamilyColumn, profile: Profile, nullable: bool | None = None) -> Column:
    """The column as the engine knows it; without a length where the warehouse has none.

    Columns of schemas may always be NULL: a later version may leave them out.
    """
    known = catalog_column(column.type)
    if known.data_type == "text" and not profile.texts_have_length:
        known = replace(known, precision=None)
    if known.data_type == "decimal" and known.precision is None:
        known = replace(known, precision=18, scale=0)
    return replace(
        known,
        name=column.name,
        nullable=column.nullable if nullable is None else nullable,
        timezone=False if column.type == TIMESTAMP else None,
    )
