"""What a dataset in PostgreSQL records of its loads and schemas."""

from __future__ import annotations

from trellis.destinations.postgres.catalog import has_table
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import Session
from trellis.destinations.sql.names import quoted
from trellis.evolution.dialect.metadata import MetadataTables


def has_load(session: Session, dataset: str, load_id: str, journal: MetadataTables) -> bool:
    if not has_table(session, dataset, journal.loads):
        return False
    loads, column = name_of(dataset, journal.loads), quoted(journal.load_id)
    return session.value(f"SELECT 1 FROM {loads} WHERE {column} = $1 LIMIT 1", [load_id]) is not None


def newest(session: Session, dataset: str, column: str, schema: str, journal: MetadataTables) -> str | None:
    """This column of the newest stored version of a schema."""
    if not has_table(session, dataset, journal.versions):
        return None
    found = session.value(
        f"SELECT {quoted(column)} FROM {name_of(dataset, journal.versions)} "
        'WHERE "schema_name" = $1 ORDER BY "version" DESC, "inserted_at" DESC LIMIT 1',
        [schema],
    )
    return None if found is None else str(found)
