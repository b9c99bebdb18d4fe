"""The bookkeeping of tables that a user's own normalizer fills: what it yields, and what a load needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from trellis.dialects.dlt.normalizer.options import normalizer_of
from trellis.dialects.dlt.system_tables import LIST_IDX, PARENT_ID, ROOT_ID, ROW_ID
from trellis.errors import SchemaError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import Load, TableTreeWrite
from trellis.schema.model import Schema, Table


def custom_row_keys(table: Table) -> RowKeys:
    """The keys of a nested table: a row id, made up where none is yielded, and links if it has them."""
    parent, index, root = (name if name in table.columns else None for name in (PARENT_ID, LIST_IDX, ROOT_ID))
    return RowKeys(ROW_ID, parent_id=parent, list_index=index, root_id=root)


def refuse_orphans(schema: Schema, touched: Collection[str]) -> None:
    """Raise SchemaError where rows came for a table below one that there is not."""
    for name in touched:
        parent = schema.tables[name].parent
        if parent is not None and parent not in schema.tables:
            raise SchemaError(
                f"normalizer {normalizer_of(schema)} yields rows of table {name} below {parent}, and there "
                f"is no table {parent}; yield rows of it too, or no parent"
            )


def refuse_unlinked(schema: Schema, loads: Iterable[Load]) -> None:
    """Raise SchemaError where nested rows are to be merged with root rows, and nothing links them."""
    for load in loads:
        if not isinstance(load, TableTreeWrite) or load.mode != "merge":
            continue
        for table in schema.chain(load.root):
            keys = custom_row_keys(table)
            if table.nested and not keys.root_id and not keys.parent_id:
                raise SchemaError(
                    f"table {table.name}: normalizer {normalizer_of(schema)} yields neither {ROOT_ID} nor "
                    f"{PARENT_ID} for its rows, so they cannot be merged with those of {load.root}; yield "
                    "one of them, or no parent, which makes it a table of its own"
                )
