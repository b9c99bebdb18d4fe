"""Schemas, drafts and keys in a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple
from uuid import UUID

from trellis.dialects.snowplow.columns.names import table_name
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.json_text import read_json, write_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.registry.store.database import Database, Execute, Row, open_database
from trellis.dialects.snowplow.registry.store.permissions import (
    ANONYMOUS,
    Permission,
    hash_key,
    new_key,
)

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS registry_schemas (
        position BIGINT PRIMARY KEY, uri TEXT NOT NULL UNIQUE,
        vendor TEXT NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL,
        model BIGINT NOT NULL, revision BIGINT NOT NULL, addition BIGINT NOT NULL,
        table_name TEXT NOT NULL, is_public INTEGER NOT NULL,
        body TEXT NOT NULL, supersedes TEXT NOT NULL, superseded_by TEXT,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, published_by TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS registry_schemas_name ON registry_schemas (vendor, name, format)",
    "CREATE INDEX IF NOT EXISTS registry_schemas_table ON registry_schemas (table_name)",
    """CREATE TABLE IF NOT EXISTS registry_drafts (
        vendor TEXT NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL, number BIGINT NOT NULL,
        is_public INTEGER NOT NULL, body TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        PRIMARY KEY (vendor, name, format, number))""",
    """CREATE TABLE IF NOT EXISTS registry_permissions (
        key_hash TEXT PRIMARY KEY, vendor TEXT NOT NULL, schema_action TEXT, key_actions TEXT NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS registry_overlays (family TEXT PRIMARY KEY, document TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS registry_state (revision BIGINT NOT NULL)",
    "INSERT INTO registry_state SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM registry_state)",
)
_SCHEMA_COLUMNS: Final = (
    "vendor, name, format, model, revision, addition, body, supersedes, superseded_by, is_public, "
    "created_at, updated_at, published_by, position"
)
_DRAFT_COLUMNS: Final = "vendor, name, format, number, is_public, body, created_at, updated_at"


@dataclass(frozen=True)
class StoredSchema:
    """A schema of a registry. Times are texts of RFC 3339, in UTC."""

    document: SchemaDocument
    is_public: bool
    created_at: str
    updated_at: str
    published_by: str = ""
    """The name of a key."""
    position: int = 0
    """Its place in the order of creation, counted from 1."""

    @property
    def key(self) -> SchemaKey:
        return self.document.key


class Head(NamedTuple):
    """A version without its schema."""

    position: int
    version: SchemaVer
    updated_at: str
    is_public: bool
    superseded_by: SchemaVer | None


@dataclass(frozen=True)
class ListedSchema:
    """What a list says of a schema."""

    uri: str
    vendor: str
    is_public: bool


@dataclass(frozen=True, order=True)
class DraftKey:
    vendor: str
    name: str
    format: str
    number: int


@dataclass(frozen=True)
class Draft:
    """A schema that has no version yet."""

    key: DraftKey
    is_public: bool
    body: Any
    created_at: str
    updated_at: str


class SchemaStore:
    """Every method raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        """Makes the tables that are not there."""
        self._database = database
        with database.transaction(write=True) as execute:
            for statement in _TABLES:
                execute(statement)

    @staticmethod
    def open(url: str) -> SchemaStore:
        """Raises UsageError, StoreUnavailable."""
        return SchemaStore(open_database(url))

    @property
    def kind(self) -> str:
        return self._database.kind

    def revision(self) -> int:
        """A number that every change of a schema, draft or key makes larger."""
        with self._database.transaction() as execute:
            ((revision,),) = execute("SELECT revision FROM registry_state")
        return int(revision)

    # ---- schemas

    def list_schemas(
        self, vendor: str = "", name: str = "", format: str = "", model: int = 0
    ) -> list[ListedSchema]:
        """In the order of creation. Parts that are empty, or 0, are any."""
        parts: dict[str, object] = {"vendor": vendor, "name": name, "format": format, "model": model}
        chosen = {column: value for column, value in parts.items() if value}
        where = " AND ".join(f"{column} = ?" for column in chosen) or "1 = 1"
        with self._database.transaction() as execute:
            rows = execute(
                f"SELECT uri, vendor, is_public FROM registry_schemas WHERE {where} ORDER BY position",
                *chosen.values(),
            )
        return [ListedSchema(uri, vendor, bool(is_public)) for uri, vendor, is_public in rows]

    def find_schema(self, key: SchemaKey) -> StoredSchema | None:
        with self._database.transaction() as execute:
            rows = execute(f"SELECT {_SCHEMA_COLUMNS} FROM registry_schemas WHERE uri = ?", str(key))
        return _schema(rows[0]) if rows else None

    def all_schemas(self) -> list[StoredSchema]:
        with self._database.transaction() as execute:
            return [
                *map(_schema, execute(f"SELECT {_SCHEMA_COLUMNS} FROM registry_schemas ORDER BY position"))
            ]

    def family(self, family: Family) -> list[StoredSchema]:
        with self._database.transaction() as execute:
            schemas = SchemaWriter(execute).schemas_of(family.vendor, family.name, family.format)
        return [schema for schema in schemas if schema.key.version.model == family.model]

    @contextmanager
    def writing(self) -> Iterator[SchemaWriter]:
        """All that is written in this context, or nothing. Nobody else writes meanwhile."""
        with self._database.transaction(write=True) as execute:
            writer = SchemaWriter(execute)
            yield writer
            if writer.has_written:
                execute("UPDATE registry_state SET revision = revision + 1")

    @contextmanager
    def reading(self) -> Iterator[SchemaWriter]:
        with self._database.transaction() as execute:
            yield SchemaWriter(execute)

    # ---- overlays

    def overlay(self, family: Family) -> Overlay | None:
        with self._database.transaction() as execute:
            rows = execute("SELECT document FROM registry_overlays WHERE family = ?", str(family))
        return Overlay.parse(read_json(rows[0][0])) if rows else None

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        with self.writing() as writer:
            writer.put_overlay(family, overlay)

    # ---- drafts

    def list_drafts(self) -> list[Draft]:
        with self._database.transaction() as execute:
            rows = execute(
                f"SELECT {_DRAFT_COLUMNS} FROM registry_drafts ORDER BY vendor, name, format, number"
            )
        return [*map(_draft, rows)]

    def find_draft(self, key: DraftKey) -> Draft | None:
        return next((draft for draft in self.list_drafts() if draft.key == key), None)

    def put_draft(self, key: DraftKey, body: object, *, is_public: bool) -> Draft:
        """Stores a draft, in place of the one with the same key."""
        previous = self.find_draft(key)
        now = current_time()
        draft = Draft(key, is_public, body, previous.created_at if previous else now, now)
        parts = (key.vendor, key.name, key.format, key.number)
        with self.writing() as writer:
            writer.execute(
                "DELETE FROM registry_drafts WHERE vendor = ? AND name = ? AND format = ? AND number = ?",
                *parts,
            )
            writer.execute(
                f"INSERT INTO registry_drafts ({_DRAFT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(*parts, int(is_public), write_json(body), draft.created_at, draft.updated_at),
            )
            writer.has_written = True
        return draft

    # ---- keys

    def add_keys(self, permissions: Sequence[Permission]) -> list[UUID]:
        """New keys with these permissions. They are not stored, so they can be shown only now."""
        keys = [new_key() for _ in permissions]
        with self.writing() as writer:
            for key, permission in zip(keys, permissions, strict=True):
                writer.execute(
                    "INSERT INTO registry_permissions (key_hash, vendor, schema_action, key_actions) "
                    "VALUES (?, ?, ?, ?)",
                    *(hash_key(key), permission.vendor, permission.schema_action),
                    " ".join(sorted(permission.key_actions)),
                )
            writer.has_written = True
        return keys

    def permission(self, key: UUID) -> Permission:
        """What a key may do; that of nobody where it is not known."""
        with self._database.transaction() as execute:
            rows = execute(f"{_PERMISSIONS} WHERE key_hash = ?", hash_key(key))
        return _permission(rows[0]) if rows else ANONYMOUS

    def has_super_key(self) -> bool:
        with self._database.transaction() as execute:
            return any(_permission(row).is_super for row in execute(_PERMISSIONS))

    def remove_key(self, key: UUID) -> bool:
        """Whether there was such a key."""
        existed = self.permission(key).is_known
        with self.writing() as writer:
            writer.execute("DELETE FROM registry_permissions WHERE key_hash = ?", hash_key(key))
            writer.has_written = True
        return existed


class SchemaWriter:
    """The schemas of a registry inside of one transaction."""

    def __init__(self, execute: Execute) -> None:
        self.execute = execute
        self.has_written = False

    def heads(self, vendor: str, name: str, format: str) -> list[Head]:
        """All versions of a name, in the order of creation."""
        rows = self.execute(
            "SELECT position, model, revision, addition, updated_at, is_public, superseded_by "
            "FROM registry_schemas WHERE vendor = ? AND name = ? AND format = ? ORDER BY position",
            *(vendor, name, format),
        )
        return [
            Head(
                *(position, SchemaVer(model, revision, addition), updated_at, bool(is_public)),
                SchemaVer.parse(superseded_by) if superseded_by else None,
            )
            for position, model, revision, addition, updated_at, is_public, superseded_by in rows
        ]

    def schemas_of(self, vendor: str, name: str, format: str, after: int = 0) -> list[StoredSchema]:
        """All models, in the order of creation, without those until a position."""
        rows = self.execute(
            f"SELECT {_SCHEMA_COLUMNS} FROM registry_schemas "
            "WHERE vendor = ? AND name = ? AND format = ? AND position > ? ORDER BY position",
            *(vendor, name, format, after),
        )
        return [*map(_schema, rows)]

    def has_vendor(self, vendor: str) -> bool:
        return bool(self.execute("SELECT 1 FROM registry_schemas WHERE vendor = ? LIMIT 1", vendor))

    def owner_of_table(self, family: Family) -> str | None:
        """The address of a schema of another family that has the table of this one."""
        parts = (family.vendor, family.name, family.format)
        rows = self.execute(
            "SELECT uri FROM registry_schemas WHERE table_name = ? "
            "AND NOT (vendor = ? AND name = ? AND format = ?) ORDER BY position LIMIT 1",
            *(table_name(family), *parts),
        )
        return rows[0][0] if rows else None

    def add(self, schema: StoredSchema) -> StoredSchema:
        """The schema with its place: the last one."""
        ((last,),) = self.execute("SELECT coalesce(max(position), 0) FROM registry_schemas")
        schema = replace(schema, position=int(last) + 1)
        key, document = schema.key, schema.document
        self._write(
            f"INSERT INTO registry_schemas ({_SCHEMA_COLUMNS}, uri, table_name) "
            f"VALUES ({', '.join('?' * 16)})",
            *(key.vendor, key.name, key.format),
            *(key.version.model, key.version.revision, key.version.addition),
            *(write_json(document.body), _versions_text(document.supersedes)),
            None if document.superseded_by is None else str(document.superseded_by),
            *(int(schema.is_public), schema.created_at, schema.updated_at, schema.published_by),
            *(schema.position, str(key), table_name(key.family)),
        )
        return schema

    def patch(self, document: SchemaDocument, updated_at: str) -> None:
        """A new body for a schema, which keeps its place and time of creation."""
        self._write(
            "UPDATE registry_schemas SET body = ?, updated_at = ? WHERE uri = ?",
            *(write_json(document.body), updated_at, str(document.key)),
        )

    def supersede(self, key: SchemaKey, superseded_by: Mapping[SchemaVer, SchemaVer]) -> None:
        """Which versions of the name of a key are replaced by which."""
        for version, successor in superseded_by.items():
            self._write(
                "UPDATE registry_schemas SET superseded_by = ? WHERE uri = ?",
                *(str(successor), str(key.with_version(version))),
            )

    def remove(self, key: SchemaKey) -> bool:
        """Whether there was such a schema."""
        existed = bool(self.execute("SELECT 1 FROM registry_schemas WHERE uri = ?", str(key)))
        self._write("DELETE FROM registry_schemas WHERE uri = ?", str(key))
        return existed

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        """In place of the one before."""
        self._write("DELETE FROM registry_overlays WHERE family = ?", str(family))
        self._write(
            "INSERT INTO registry_overlays (family, document) VALUES (?, ?)",
            *(str(family), write_json(overlay.to_dict())),
        )

    def _write(self, statement: str, *values: object) -> None:
        self.execute(statement, *values)
        self.has_written = True


_PERMISSIONS: Final = "SELECT key_hash, vendor, schema_action, key_actions FROM registry_permissions"


def current_time() -> str:
    """
    >>> len(current_time()), current_time()[-1]
    (27, 'Z')
    """
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _permission(row: Row) -> Permission:
    key_hash, vendor, schema_action, key_actions = row
    return Permission(vendor, schema_action, frozenset(key_actions.split()), key_hash[:8])


def _schema(row: Row) -> StoredSchema:
    vendor, name, format, model, revision, addition, body, supersedes, superseded_by, *times = row
    is_public, created_at, updated_at, published_by, position = times
    document = SchemaDocument(
        SchemaKey(vendor, name, format, SchemaVer(model, revision, addition)),
        read_json(body),
        SchemaVer.parse(superseded_by) if superseded_by else None,
        tuple(map(SchemaVer.parse, supersedes.split())),
    )
    return StoredSchema(document, bool(is_public), created_at, updated_at, published_by, position)


def _draft(row: Row) -> Draft:
    vendor, name, format, number, is_public, body, created_at, updated_at = row
    key = DraftKey(vendor, name, format, number)
    return Draft(key, bool(is_public), read_json(body), created_at, updated_at)


def _versions_text(versions: Iterable[SchemaVer]) -> str:
    return " ".join(map(str, versions))
