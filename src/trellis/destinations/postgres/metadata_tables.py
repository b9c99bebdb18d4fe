"""What a dataset in PostgreSQL records of its loads and schemas."""

from __future__ import annotations

from trellis.destinations.postgres.catalog import has_table
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import Session
from trellis.destinations.sql.names import quoted
from trellis.evolution.dialect.metadata import MetadataTables


def has_load(session: Session, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
    if not has_table(session, dataset, metadata.loads):
        return False
    loads, column = name_of(dataset, metadata.loads), quoted(metadata.load_id)
    return session.value(f"SELECT 1 FROM {loads} WHERE {column} = $1 LIMIT 1", [load_id]) is not None


def newest_version(
    session: Session, dataset: str, column: str, schema: str, metadata: MetadataTables
) -> str | None:
    """This column of the newest stored version of a schema."""
    if not has_table(session, dataset, metadata.versions):
        return None
    value = session.value(
        f"SELECT {quoted(column)} FROM {name_of(dataset, metadata.versions)} "
        'WHERE "schema_name" = $1 ORDER BY "version" DESC, "inserted_at" DESC LIMIT 1',
        [schema],
    )
    return None if value is None else str(value)
