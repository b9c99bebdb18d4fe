"""Merges what a user passes to a load, a schema or a naming convention, over what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.dict_form import plain
from trellis.schema.merge import normalize_table, unify
from trellis.schema.model import Schema, Settings
from trellis.schema.naming import Naming, naming_of
from trellis.schema.rules import merge_hints, update_preferred_types
from trellis.schema.system import OURS, is_system

CHANGE_ALLOWED = "allow_identifier_change_on_table_with_data"


def merge_user_schema(
    schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming], prefix: str = OURS
) -> Schema:
    """The schema with the settings, the normalizers and the tables of the user's schema.

    Rules are added to the rules there are; a list of detections or a contract replaces the old one. A
    column that is of two types is an error, and so are new names for tables that hold data. `prefix` is that
    of the dialect's own tables, whose names stay.
    """
    normalizers = _merge_nested(plain(schema.normalizers), plain(user_schema.normalizers))
    merged = replace(schema, normalizers=MappingProxyType(normalizers))
    naming = naming_of(merged)
    if naming.name != naming_of(schema).name and not normalizers.get(CHANGE_ALLOWED):
        _refuse_new_names(schema, naming.name, prefix)
    _normalize_propagation(normalizers, naming)
    settings = _settings(schema.settings, user_schema.settings, naming)
    tables = [normalize_table(table, naming) for table in user_schema.tables.values()]
    return unify(
        replace(merged, settings=settings, description=user_schema.description or schema.description),
        replace(user_schema, tables={table.name: table for table in tables}),
    )


def follow(
    schema: Schema, convention: str, naming_of: Callable[[Schema], Naming] = naming_of, prefix: str = OURS
) -> Schema:
    """The schema with this naming convention, which renames tables without data.

    `prefix` is as in `merge_user_schema`.

    Raises SchemaError where tables hold data under names by another, unless the schema allows that.

    >>> from trellis.schema.model import Table
    >>> list(follow(Schema("shop", {"Items": Table("Items")}), "sql_ci_v1").tables)
    ['items']
    """
    named = with_normalizers(schema, {"names": convention})
    naming = naming_of(named)
    if naming.name == naming_of(schema).name:
        return schema
    if not schema.normalizers.get(CHANGE_ALLOWED):
        _refuse_new_names(schema, naming.name, prefix)
    tables = [
        table if table.seen_data or is_system(table.name, prefix) else normalize_table(table, naming)
        for table in schema.tables.values()
    ]
    return replace(named, tables={table.name: table for table in tables})


def with_normalizers(schema: Schema, normalizers: Mapping[str, Any]) -> Schema:
    """The schema with these of its normalizers; the names in it stay as they are."""
    return replace(schema, normalizers=MappingProxyType({**schema.normalizers, **normalizers}))


def _refuse_new_names(schema: Schema, new: str, prefix: str) -> None:
    tables = (table for table in schema.tables.values() if table.seen_data)
    full = [table.name for table in tables if not is_system(table.name, prefix)]
    if full:
        raise SchemaError(
            f"schema {schema.name}: identifiers frozen: {', '.join(full)} hold data under names by "
            f"{_names(schema)}, so the naming convention cannot become {new}; load into another dataset, or, "
            f"to have new columns and tables beside the old ones, set the option {CHANGE_ALLOWED}=true"
        )


def _names(schema: Schema) -> str:
    return str(schema.normalizers.get("names") or "snake_case")


def _settings(old: Settings, new: Settings, naming: Naming) -> Settings:
    merged = old
    if new.default_hints:
        merged = merge_hints(merged, new.default_hints, naming)
    if new.preferred_types:
        merged = update_preferred_types(merged, new.preferred_types, naming)
    return replace(
        merged,
        detections=merged.detections if new.detections is None else new.detections,
        schema_contract=merged.schema_contract if new.schema_contract is None else new.schema_contract,
        extra=MappingProxyType({**merged.extra, **new.extra}),
    )


def _merge_nested(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The old mapping with the new one over it, level by level."""
    for key, value in new.items():
        both = isinstance(value, Mapping) and isinstance(old.get(key), dict)
        old[key] = _merge_nested(old[key], value) if both else value
    return old


def _normalize_propagation(normalizers: dict[str, Any], naming: Naming) -> None:
    propagation = ((normalizers.get("json") or {}).get("config") or {}).get("propagation") or {}
    tables = propagation.get("tables") or {}
    for within, key in [(propagation, "root"), *((tables, table) for table in tables)]:
        if within.get(key):
            within[key] = {naming.path(name): naming.path(new_name) for name, new_name in within[key].items()}
