"""Identity resolution with DuckDB: what a load changes, found and kept beside the mappings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from trellis.destinations.base import Commit
from trellis.destinations.duckdb.placed import Placed
from trellis.destinations.sql.links import Linking, changes_of

if TYPE_CHECKING:
    import duckdb


def find_changes(
    db: duckdb.DuckDBPyConnection, commit: Commit, rules: Placed, mappings: str, prefix: str
) -> Linking:
    """The queries of this load; what they read is there."""
    assert commit.links is not None
    rules = replace(rules, columns=commit.schema.tables[commit.links.rules].complete_columns)
    linking = Linking(commit.links, rules.relation(), mappings, commit.now, rules.place, prefix)
    changes = changes_of(db.execute(linking.open_rules()).fetchall(), commit.load_id)
    given = ((*pair, identity) for pair, identity in changes.given.items())
    _keep(db, linking.given, linking.given_columns, given)
    _keep(db, linking.merged, linking.merged_columns, changes.merged.items())
    return linking


def _keep(
    db: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> None:
    """Make a temporary table of texts."""
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = pa.table(
        {column: pa.array(each, pa.string()) for column, each in zip(columns, values, strict=True)}
    )
    db.register("links_coming", made)
    db.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM temp.main.links_coming")
    db.unregister("links_coming")
