"""What a dataset in PostgreSQL records of its loads and schemas."""

from __future__ import annotations

from trellis.destinations.postgres.catalog import has_table
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import Session
from trellis.destinations.sql.queries import load_query, newest_version_query
from trellis.evolution.dialect.metadata import MetadataTables


def has_load(session: Session, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
    if not has_table(session, dataset, metadata.loads):
        return False
    query = load_query(name_of(dataset, metadata.loads), metadata.load_id)
    return session.value(query, [load_id]) is not None


def newest_version(
    session: Session, dataset: str, column: str, schema: str, metadata: MetadataTables
) -> str | None:
    """This column of the newest stored version of a schema."""
    if not has_table(session, dataset, metadata.versions):
        return None
    value = session.value(newest_version_query(name_of(dataset, metadata.versions), column), [schema])
    return None if value is None else str(value)
