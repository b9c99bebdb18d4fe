"""The `_dlt_*` columns: ids of rows and loads, links to parent and root rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trellis.dialects.dlt.load.row_ids import child_keys, content_hashes, key_hashes, random_keys
from trellis.dialects.dlt.load.typed_tables import typed_row_keys
from trellis.dialects.dlt.load.write_disposition import version_column
from trellis.dialects.dlt.normalizer.custom_keys import custom_row_keys
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.dialects.dlt.normalizer.propagation import has_root_key, propagated, wants_root_keys
from trellis.dialects.dlt.system_tables import LIST_IDX, LOAD_ID, PARENT_ID, ROOT_ID, ROW_ID
from trellis.dialects.dlt.types import DltTypes
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Column, DataType, Schema, Table

_TYPES: Mapping[str, DataType] = {LIST_IDX: "bigint"}


class DltSystemColumns:
    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        known = schema.tables.get(table)
        if known is None or known.parent is None:
            hashed = known.columns_with("primary_key") if known and _hashes_keys(known) else ()
            linked = below is not None and links_to_root(schema, below)
            return RowKeys(
                ROW_ID,
                load_id=LOAD_ID,
                root_id=ROOT_ID if linked else None,
                from_columns=hashed,
                of_item=known is not None and version_column(known) == ROW_ID,
            )
        if is_custom(schema):
            return custom_row_keys(known)
        return RowKeys(
            ROW_ID,
            parent_id=PARENT_ID,
            list_index=LIST_IDX,
            root_id=ROOT_ID if links_to_root(schema, table) else None,
        )

    def preserved_row_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        return typed_row_keys(self.row_keys(schema, table), schema.tables.get(table), settings)

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        """Keys to a row whose id came with the data have the type of that id."""
        rules, known = DltTypes(), schema.tables[table]
        types = dict(_TYPES)
        if is_custom(schema):
            return tuple(
                known.columns.get(name) or rules.new_column(schema, name, "text")
                for name in self.row_keys(schema, table).columns
            )
        top = schema.root_of(below or table).name
        for column, owner in ((PARENT_ID, known.parent), (ROOT_ID, top)):
            row_id = schema.tables[owner].columns.get(ROW_ID) if owner else None
            if row_id is not None and row_id.data_type is not None:
                types[column] = row_id.data_type
        names = self.row_keys(schema, table, below).columns
        return tuple(rules.new_column(schema, name, types.get(name, "text")) for name in names)

    def inherited_values(self, schema: Schema, table: str) -> Mapping[str, str]:
        return {} if is_custom(schema) else propagated(schema, table)

    def root_ids(self, seed: bytes, count: int) -> list[str]:
        return random_keys(seed, count)

    def hashed_ids(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
        return key_hashes(dict(zip(names, row, strict=True)) for row in rows)

    def record_ids(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        return content_hashes(records)

    def child_ids(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]:
        return child_keys(parents, table, indexes)


def links_to_root(schema: Schema, table: str) -> bool:
    """Whether the rows below this table carry the key of their root row."""
    if table not in schema.tables or is_custom(schema):
        return False
    chain = schema.root_of(table)
    if has_root_key(schema, chain.name) or any(ROOT_ID in t.columns for t in schema.chain(chain.name)):
        return True
    if (decision := wants_root_keys(schema)) is not None:
        return decision
    if chain.hints.get("write_disposition") != "merge":
        return False
    return (chain.hints.get("x-merge-strategy") or "delete-insert") in (
        "delete-insert",
        "upsert",
        "insert-only",
    )


def _hashes_keys(root: Table) -> bool:
    """Whether the row id of a root table is a hash of its primary key."""
    merges = root.hints.get("write_disposition") == "merge"
    return merges and root.hints.get("x-merge-strategy") in ("upsert", "insert-only")
