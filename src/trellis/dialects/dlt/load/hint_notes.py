"""Hints that have no effect, or another than one may expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trellis.dialects.dlt.load.write_disposition import strategy_of
from trellis.schema.model import Schema, Table


def remarks(schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each."""
    return tuple(note for name in roots for note in _of(schema.tables[name]))


def _of(table: Table) -> Iterator[str]:
    name, mode = table.name, table.hints.get("write_disposition") or "append"
    strategy = (strategy_of(table) or "delete-insert") if mode == "merge" else None
    primary, merge = table.columns_with("primary_key"), table.columns_with("merge_key")
    if strategy == "delete-insert" and not primary and not merge:
        yield f"table {name} is merged without a primary or merge key, so its rows were appended"
    if strategy in ("upsert", "insert-only") and merge:
        yield f"table {name}: {strategy} does not look at the merge key {', '.join(merge)}"
    for hint in ("hard_delete", "dedup_sort"):
        marked = table.columns_with(hint)
        if marked and mode != "merge":
            yield f"table {name}: {hint} of column {marked[0]} has no effect, for the table is not merged"
        elif marked and hint == "dedup_sort" and not primary:
            yield f"table {name}: dedup_sort of column {marked[0]} has no effect without a primary key"
    if mode == "replace" and table.hints.get("x-replace-strategy") == "staging-optimized":
        yield f"table {name}: staging-optimized replaces the rows in one transaction, like any replace here"
