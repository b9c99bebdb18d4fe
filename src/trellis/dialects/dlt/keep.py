"""The `_dlt_*` columns and what a request writes into the schema (spec dlt.md, sections 4, 10, 12, 14)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from trellis.dialects.dlt.ddl import statements
from trellis.dialects.dlt.load.hint_notes import remarks
from trellis.dialects.dlt.load.load_records import load_records
from trellis.dialects.dlt.load.partial_tables import nested_tables, root_table
from trellis.dialects.dlt.load.row_ids import child_keys, content_hash_of_item, key_hash, random_keys
from trellis.dialects.dlt.load.state import decoded, new_state, remembered
from trellis.dialects.dlt.load.typed_tables import OPTIONS, switched, typed_row_keys
from trellis.dialects.dlt.load.write_disposition import chain_loads, version_column
from trellis.dialects.dlt.name import naming_of
from trellis.dialects.dlt.normalizer.custom_keys import custom_row_keys, refuse_orphans, refuse_unlinked
from trellis.dialects.dlt.normalizer.custom_normalizer import custom_normalizer_class
from trellis.dialects.dlt.normalizer.options import OPTION, is_custom, with_normalizer
from trellis.dialects.dlt.normalizer.propagation import (
    has_root_key,
    propagated,
    wants_root_keys,
    with_root_key,
    without_root_keys,
)
from trellis.dialects.dlt.system_tables import (
    LIST_IDX,
    LOAD_ID,
    LOADS,
    PARENT_ID,
    PREFIX,
    ROOT_ID,
    ROW_ID,
    STATE,
    STATE_TABLE,
    VERSION,
    new_schema,
)
from trellis.dialects.dlt.type import DltType
from trellis.dialects.dlt.warehouses import warehouse_of
from trellis.dialects.dlt.widening import with_widening
from trellis.evolution.dialect import Journal, Request, RowKeys, State
from trellis.evolution.loading import Load, Mode
from trellis.evolution.quiet import QuietKeep
from trellis.schema.given import CHANGE_ALLOWED, follow, with_normalizers
from trellis.schema.merge import drop_tables, merge_table
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming

_TYPES: Mapping[str, DataType] = {LIST_IDX: "bigint"}


class DltKeep(QuietKeep):
    prefix = PREFIX
    options: tuple[str, ...] = (
        "max_nesting",
        "naming",
        CHANGE_ALLOWED,
        OPTION,
        "warehouse",
        "widen",
        *OPTIONS,
    )

    def new_schema(self, name: str) -> Schema:
        return new_schema(name)

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        if settings.get("warehouse") is not None:
            warehouse_of(str(settings["warehouse"]))
        if "widen" in settings:
            schema = replace(schema, settings=with_widening(schema.settings, str(settings["widen"])))
        if OPTION in settings:
            schema = with_normalizer(schema, settings[OPTION])
        if CHANGE_ALLOWED in settings:
            schema = with_normalizers(schema, {CHANGE_ALLOWED: switched(settings, CHANGE_ALLOWED)})
        naming = settings.get("naming")
        return schema if naming is None else follow(schema, str(naming), naming_of, PREFIX)

    def prepare(self, schema: Schema, request: Request, naming: Naming) -> Schema:
        if is_custom(schema):
            custom_normalizer_class(schema)
        name = naming.table(request.table)
        if STATE not in schema.tables:
            schema = schema.with_tables(self.saw_data(STATE_TABLE))
        partial = root_table(schema, request, naming)
        schema = self._rooted(merge_table(schema, partial, naming), name)
        for nested in nested_tables(request, naming):
            schema = self._rooted(merge_table(schema, nested, naming), nested.name)
        return self._materialized(schema, name) if request.materialize else schema

    def _rooted(self, schema: Schema, name: str) -> Schema:
        """The schema with the root key of this table, if rows below it need one."""
        root = schema.root_of(name).name
        return with_root_key(schema, root) if self._links_to_root(schema, root) else schema

    def _materialized(self, schema: Schema, name: str) -> Schema:
        """The schema with the table as if a row had come."""
        table, keys = schema.tables[name], self.bookkeeping(schema, name)
        return schema.with_tables(self.saw_data(table.with_columns(*keys)))

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        if parent is not None:
            return Table(name, parent=parent)
        return Table(name).with_hints(write_disposition="append", resource=name)

    def saw_data(self, table: Table) -> Table:
        marks = dict(table.hints.get("x-normalizer") or {})
        marks.pop("evolve-columns-once", None)
        return table.with_hints(**{"x-normalizer": {**marks, "seen-data": True}})

    def without(self, schema: Schema, tables: Collection[str]) -> Schema:
        return without_root_keys(drop_tables(schema, tables), tables)

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        known = schema.tables.get(table)
        if known is None or known.parent is None:
            hashed = known.columns_with("primary_key") if known and _hashes_keys(known) else ()
            linked = below is not None and self._links_to_root(schema, below)
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
            root_id=ROOT_ID if self._links_to_root(schema, table) else None,
        )

    def whole_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        return typed_row_keys(self.row_keys(schema, table), schema.tables.get(table), settings)

    def propagated(self, schema: Schema, table: str) -> Mapping[str, str]:
        return {} if is_custom(schema) else propagated(schema, table)

    def bookkeeping(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        """Keys to a row whose id the data brought itself have the type of that id."""
        rules, known = DltType(), schema.tables[table]
        types = dict(_TYPES)
        if is_custom(schema):
            return tuple(
                known.columns.get(name) or rules.column(schema, name, "text")
                for name in self.row_keys(schema, table).columns
            )
        top = schema.root_of(below or table).name
        for column, owner in ((PARENT_ID, known.parent), (ROOT_ID, top)):
            own = schema.tables[owner].columns.get(ROW_ID) if owner else None
            if own is not None and own.data_type is not None:
                types[column] = own.data_type
        names = self.row_keys(schema, table, below).columns
        return tuple(rules.column(schema, name, types.get(name, "text")) for name in names)

    def complete(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        if is_custom(after):
            refuse_orphans(after, touched)
        return after

    def loads(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        found = chain_loads(schema, roots, touched, now)
        if is_custom(schema):
            refuse_unlinked(schema, found)
        return found

    def remarks(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        return remarks(schema, roots)

    def ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        chosen = settings.get("warehouse")
        if chosen is None or chosen == family:
            return None
        return str(chosen), statements(warehouse_of(str(chosen)), dataset, before, after)

    def journal(self) -> Journal:
        return Journal(VERSION, LOADS, "load_id", STATE, ("created_at", "version"))

    def records(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return load_records(schema, load_id, now, fresh=fresh, state=state)

    def recalled(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        return new_state(pipeline, dataset) if row is None else decoded(row)

    def remembered(self, old: State, schema_name: str, sources: State | None) -> State | None:
        return remembered(old, schema_name, sources)

    def root_keys(self, seed: bytes, count: int) -> list[str]:
        return random_keys(seed, count)

    def hashed_keys(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
        return [key_hash(dict(zip(names, row, strict=True))) for row in rows]

    def item_keys(self, items: Iterable[Mapping[str, Any]]) -> list[str]:
        return [content_hash_of_item(item) for item in items]

    def child_keys(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]:
        return child_keys(parents, table, indexes)

    def _links_to_root(self, schema: Schema, table: str) -> bool:
        if table not in schema.tables or is_custom(schema):
            return False
        chain = schema.root_of(table)
        if has_root_key(schema, chain.name) or any(ROOT_ID in t.columns for t in schema.chain(chain.name)):
            return True
        if (wanted := wants_root_keys(schema)) is not None:
            return wanted
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
