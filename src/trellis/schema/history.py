"""The columns of tables that keep every version of their rows: the strategy scd2."""

from __future__ import annotations

from typing import NamedTuple

from trellis.schema.merge import merge_column
from trellis.schema.model import Column, Table


class HistoryColumns(NamedTuple):
    """From when and until when a version is valid, and what tells it apart from the next."""

    valid_from: str
    valid_to: str
    version: str


def versioned(table: Table, names: HistoryColumns, until: object = None, known: Table | None = None) -> Table:
    """The partial table with the columns that scd2 needs, behind those that are declared.

    A role that a column of it, or of the `known` table, has already is not given twice.
    """
    roles = (
        Column(names.valid_from, "timestamp", nullable=True).with_hints(**{"x-valid-from": True}),
        Column(names.valid_to, "timestamp", nullable=True).with_hints(
            **{"x-valid-to": True, "x-active-record-timestamp": until}
        ),
        Column(names.version, nullable=False).with_hints(
            **{"x-row-version": True, "unique": False, "row_key": False}
        ),
    )
    columns = (*table.columns.values(), *(known.columns.values() if known else ()))
    role_hints = ("x-valid-from", "x-valid-to", "x-row-version")
    taken_roles = {hint for hint in role_hints for column in columns if column.hint(hint)}
    needed = (c for c in roles if not any(c.hint(hint) for hint in taken_roles))
    declared = table.columns
    return table.with_columns(
        *(merge_column(declared[c.name], c) if c.name in declared else c for c in needed)
    )
