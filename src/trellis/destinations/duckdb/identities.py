"""Identity resolution with DuckDB: what a load changes, computed and kept in temporary tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from trellis.destinations.base import Commit
from trellis.destinations.scan.positions import PositionedFiles
from trellis.destinations.sql.identities import IdentityStatements, resolve_rows

if TYPE_CHECKING:
    import duckdb


def prepare_identity_changes(
    db: duckdb.DuckDBPyConnection, commit: Commit, rules: PositionedFiles, mappings: str, prefix: str
) -> IdentityStatements:
    """The queries of this load, whose temporary tables are filled."""
    assert commit.links is not None
    rules = replace(rules, columns=commit.schema.tables[commit.links.rules].complete_columns)
    statements = IdentityStatements(
        commit.links, rules.relation(), mappings, commit.now, rules.position, prefix
    )
    changes = resolve_rows(db.execute(statements.open_rules()).fetchall(), commit.load_id)
    new_identities = ((*pair, identity) for pair, identity in changes.new_identities.items())
    _create_text_table(db, statements.new_identities, statements.new_identity_columns, new_identities)
    _create_text_table(db, statements.merged, statements.merged_columns, changes.merged.items())
    return statements


def _create_text_table(
    db: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> None:
    """Create a temporary table whose columns are text."""
    arrays = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
    arrays = arrays or [pa.array([], pa.string()) for _ in columns]
    db.register("identity_changes", pa.table(arrays, names=list(columns)))
    db.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM temp.main.identity_changes")
    db.unregister("identity_changes")
