"""The conditions that a load needs when its commit begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trellis.destinations.base import CatalogTable, Commit, CommitConflict, StateConflict
from trellis.engine.staging.loaded_files import LOADED_FILES
from trellis.errors import SchemaError
from trellis.schema.model import Table


def refuse_views(tables: Iterable[Table], catalog: Mapping[str, CatalogTable]) -> None:
    """Raises SchemaError where a table that gets rows or columns is a view."""
    for table in tables:
        if table.name in catalog and catalog[table.name].is_view:
            raise SchemaError(
                f"table {table.name}: it is a view in the destination, and a load needs a table; rename the "
                "one or the other; nothing was loaded",
                table=table.name,
            )


def tables_to_empty(commit: Commit) -> tuple[str, ...]:
    """The tables that are emptied before the load inserts rows."""
    replaced = (chain.root for chain in commit.chains if chain.mode == "replace")
    chained = (table.name for root in replaced for table in commit.schema.chain(root))
    return tuple(dict.fromkeys((*chained, *commit.reset.empty)))


NewestRow = Callable[[str, str, str, Sequence[str]], Mapping[str, Any] | None]
"""The last row of a table with a text in a column, by an order."""


def check_base_states(commit: Commit, newest: NewestRow) -> None:
    """Raises StateConflict where the load began with another state, or other loaded files.

    To be called while no other load can commit.
    """
    _check_files(commit, newest)
    if commit.base_state is None:
        return
    pipeline, metadata = commit.base_state.pipeline, commit.metadata
    row = newest(metadata.states, "pipeline_name", pipeline, metadata.newest)
    if (str(row["version_hash"]) if row else None) != commit.base_state.version_hash:
        raise StateConflict(
            f"pipeline {pipeline}: another run moved its cursors or its state while this one ran; "
            "nothing was loaded, run again"
        )


def check_base(
    commit: Commit, version_hash: str | None, catalog: Mapping[str, CatalogTable], newest: NewestRow
) -> None:
    """Raises CommitConflict, StateConflict where the dataset is not as it was when the load was planned.

    `version_hash` is that of the newest stored version of the schema; `newest` as in `check_base_states`.
    """
    if version_hash != commit.base_hash or catalog_has_changed(commit, catalog):
        raise CommitConflict
    check_base_states(commit, newest)


def _check_files(commit: Commit, newest: NewestRow) -> None:
    if commit.base_files is None:
        return
    table, sequence = commit.base_files.table, commit.base_files.sequence
    row = newest(LOADED_FILES.name, "table_name", table, ("sequence",))
    if (int(row["sequence"]) if row else 0) != sequence:
        into = f"table {table}" if table else f"dataset {commit.dataset}"
        raise StateConflict(
            f"{into}: another load of new files committed meanwhile; nothing was loaded, load again"
        )


def catalog_has_changed(commit: Commit, now: Mapping[str, CatalogTable]) -> bool:
    """Whether a table of the load does not look any more as it did when the load was planned."""
    if commit.catalog is None:
        return False
    chained = (table.name for chain in commit.chains for table in commit.schema.chain(chain.root))
    linked = [commit.links.mappings] if commit.links else []
    touched = {*commit.files, *chained, *(load.table for load in commit.keyed), *linked}
    return any(_look(commit.catalog.get(name)) != _look(now.get(name)) for name in touched)


def _look(table: CatalogTable | None) -> object:
    return None if table is None else (dict(table.columns), table.is_view)
