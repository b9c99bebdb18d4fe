"""The tables of a catalogue, and what a new one begins with."""

from __future__ import annotations

import secrets
from typing import Final

from trellis.dialects.ytsaurus.store.catalog import ROOT, Catalog, Node, new_node
from trellis.dialects.ytsaurus.store.database.connections import Database
from trellis.errors import UsageError

FORMAT: Final = "2"
"""The version of these tables."""
_TABLES: Final = """
CREATE TABLE catalog (format TEXT NOT NULL, store TEXT NOT NULL);
CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE transactions (
    id TEXT PRIMARY KEY, parent TEXT NOT NULL, title TEXT NOT NULL, attributes {blob} NOT NULL,
    timeout DOUBLE PRECISION, expires DOUBLE PRECISION, deadline DOUBLE PRECISION,
    started DOUBLE PRECISION NOT NULL);
CREATE TABLE locks (
    id TEXT PRIMARY KEY, tx TEXT NOT NULL, node TEXT NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL,
    child_key TEXT NOT NULL, attribute_key TEXT NOT NULL, acquired DOUBLE PRECISION NOT NULL);
CREATE INDEX locks_of_nodes ON locks (node);
CREATE TABLE nodes (
    id TEXT NOT NULL, tx TEXT NOT NULL, parent TEXT, name TEXT NOT NULL, type TEXT NOT NULL,
    attributes {blob} NOT NULL, creation_time TEXT NOT NULL, modification_time TEXT NOT NULL,
    revision BIGINT NOT NULL, schema TEXT, mode TEXT, optimize_for TEXT, content TEXT NOT NULL,
    PRIMARY KEY (id, tx));
CREATE INDEX nodes_of_parents ON nodes (parent, name);
CREATE INDEX nodes_of_transactions ON nodes (tx);
CREATE TABLE schemas (id TEXT PRIMARY KEY, document {blob} NOT NULL);
CREATE TABLE chunks (
    id TEXT PRIMARY KEY, schema TEXT NOT NULL, rows BIGINT NOT NULL, compressed_size BIGINT NOT NULL,
    uncompressed_size BIGINT NOT NULL, weight BIGINT NOT NULL, optimize_for TEXT NOT NULL,
    unreferenced_since DOUBLE PRECISION);
CREATE TABLE slices (
    node TEXT NOT NULL, tx TEXT NOT NULL, position BIGINT NOT NULL, chunk TEXT NOT NULL,
    start BIGINT NOT NULL, "end" BIGINT NOT NULL, first_key {blob}, last_key {blob},
    PRIMARY KEY (node, tx, position));
"""


def open_tables(database: Database, catalog: Catalog) -> str:
    """The id of the store, whose tables are created if they are missing.

    Raises UsageError for a catalogue of another version.
    """
    if not _has_tables(database):
        with database.transaction():
            if not _has_tables(database):
                _create_tables(database, catalog)
    format, store_id = "1", ""
    if database.has_table("catalog"):
        ((format, store_id),) = database.execute("SELECT format, store FROM catalog")
    if format != FORMAT:
        raise UsageError(
            f"the catalogue {database.place} has the version {format}, and this Trellis writes {FORMAT}; "
            "use the version of Trellis that made it"
        )
    return str(store_id)


def _has_tables(database: Database) -> bool:
    return database.has_table("nodes")


def _create_tables(database: Database, catalog: Catalog) -> None:
    for statement in filter(str.strip, _TABLES.format(blob=database.blob).split(";")):
        database.execute(statement)
    database.execute("INSERT INTO catalog VALUES (?, ?)", FORMAT, secrets.token_hex(8))
    catalog.insert_node(Node(ROOT, None, "", "map_node"))
    for name in ("home", "tmp"):
        catalog.insert_node(new_node("map_node", ROOT, name))
