"""Schemas as dlt makes and reads them, and what a load asks of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trellis.dialects.dlt.load.partial_tables import nested_tables, root_table
from trellis.dialects.dlt.load.typed_tables import OPTIONS, switched
from trellis.dialects.dlt.naming import naming_of
from trellis.dialects.dlt.normalizer.custom_normalizer import custom_normalizer_class
from trellis.dialects.dlt.normalizer.options import OPTION, is_custom, with_normalizer
from trellis.dialects.dlt.normalizer.propagation import with_root_key
from trellis.dialects.dlt.system_columns import DltSystemColumns, links_to_root
from trellis.dialects.dlt.system_tables import PREFIX, STATE, declared_state_table, new_schema
from trellis.dialects.dlt.tables import DltTables
from trellis.dialects.dlt.warehouses import warehouse_of
from trellis.dialects.dlt.widening import with_widening
from trellis.evolution.dialect.defaults import DefaultSchemas
from trellis.evolution.dialect.schemas import TableRequest
from trellis.schema.merge import merge_table
from trellis.schema.model import Schema
from trellis.schema.naming import Naming
from trellis.schema.user_schema import CHANGE_ALLOWED, follow, with_normalizers

SETTINGS: tuple[str, ...] = (
    "max_nesting",
    "naming",
    CHANGE_ALLOWED,
    OPTION,
    "warehouse",
    "widen",
    *OPTIONS,
)


class DltSchemas(DefaultSchemas):
    prefix = PREFIX

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

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        if is_custom(schema):
            custom_normalizer_class(schema)
        name = naming.table(request.table)
        if STATE not in schema.tables:
            schema = schema.with_tables(declared_state_table())
        partial = root_table(schema, request, naming)
        schema = _with_root_key(merge_table(schema, partial, naming), name)
        for nested in nested_tables(request, naming):
            schema = _with_root_key(merge_table(schema, nested, naming), nested.name)
        return _materialized(schema, name) if request.materialize else schema


def _with_root_key(schema: Schema, name: str) -> Schema:
    """The schema with the root key of this table, if rows below it need one."""
    root = schema.root_of(name).name
    return with_root_key(schema, root) if links_to_root(schema, root) else schema


def _materialized(schema: Schema, name: str) -> Schema:
    """The schema with the table as if a row had come."""
    table, keys = schema.tables[name], DltSystemColumns().columns(schema, name)
    return schema.with_tables(DltTables().mark_populated(table.with_columns(*keys)))
