"""Schemas, tables and columns as plain dicts and lists, the form of documents, and back, unchecked.

A key that says `null` is kept apart from a key that is absent, as the content hash does: its
name then stands among the `hints` with None.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trellis.schema.model import Column, Extra, Schema, Settings, Table

Document = dict[str, Any]

COLUMN_FIELDS = ("data_type", "nullable", "precision", "scale", "timezone", "variant", "description")
TABLE_FIELDS = ("parent", "description")
SETTINGS_FIELDS = ("detections", "default_hints", "preferred_types", "schema_contract")
SCHEMA_KEYS = (
    *("version", "version_hash", "imported_version_hash", "engine_version", "name", "description"),
    *("tables", "settings", "normalizers", "previous_hashes"),
)


def plain(value: Any) -> Any:
    """A deep copy made of dicts and lists.

    >>> plain(MappingProxyType({"a": (1, {"b": 2})}))
    {'a': [1, {'b': 2}]}
    """
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    return [plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def mappings(within: Any) -> list[Document]:
    """The mappings among the values of a mapping; none of anything else."""
    return (
        [member for member in within.values() if isinstance(member, dict)] if isinstance(within, dict) else []
    )


def stated_keys(value: Any, fields: tuple[str, ...]) -> Document:
    """All that a column, a table or settings say: the fields that are set, then the rest."""
    keys = {name: plain(field_value) for name in fields if (field_value := getattr(value, name)) is not None}
    rest: Extra = value.extra if isinstance(value, Settings) else value.hints
    return {**keys, **{name: plain(hint_value) for name, hint_value in rest.items() if name not in keys}}


def split(keys: Mapping[str, Any], fields: tuple[str, ...]) -> tuple[Document, Extra]:
    """The keys that have a field, and the others."""
    field_values = {name: keys[name] for name in fields if keys.get(name) is not None}
    return field_values, MappingProxyType(
        {name: value for name, value in keys.items() if name not in field_values}
    )


def column_keys(column: Column) -> Document:
    """What the column says, without its name.

    >>> column_keys(Column("id", "bigint", nullable=False).with_hints(primary_key=True))
    {'data_type': 'bigint', 'nullable': False, 'primary_key': True}
    """
    return stated_keys(column, COLUMN_FIELDS)


def column_of(name: str, keys: Mapping[str, Any]) -> Column:
    """The column that says just these keys.

    >>> column_of("id", {"data_type": "bigint", "unique": True}).hint("unique")
    True
    """
    field_values, hints = split({key: value for key, value in keys.items() if key != "name"}, COLUMN_FIELDS)
    return Column(name, **field_values, hints=hints)


def table_keys(table: Table) -> Document:
    """What the table says, without its name and columns."""
    return stated_keys(table, TABLE_FIELDS)


def table_of(name: str, keys: Mapping[str, Any], columns: Mapping[str, Column]) -> Table:
    """The table that says just these keys."""
    table_properties = {key: value for key, value in keys.items() if key not in ("name", "columns")}
    field_values, hints = split(table_properties, TABLE_FIELDS)
    return Table(name, dict(columns), **field_values, hints=hints)


def table_dict(table: Table) -> Document:
    """The table as it stands in a document."""
    columns = {name: {"name": name, **column_keys(column)} for name, column in table.columns.items()}
    return {"name": table.name, "columns": columns, **table_keys(table)}


def to_dict(schema: Schema) -> Document:
    """The in-memory form: with `name` keys, and with the version as it was last saved.

    To save a schema write `to_dict(bump(schema))`; `to_yaml` and `to_json` do so themselves.

    >>> to_dict(Schema("shop", {"t": Table("t", {"id": Column("id", "bigint")})}))["tables"]
    {'t': {'name': 't', 'columns': {'id': {'name': 'id', 'data_type': 'bigint'}}}}
    """
    optional = {
        "version": schema.stored_version,
        "version_hash": schema.stored_hash,
        "imported_version_hash": schema.imported_hash,
        "description": schema.description,
    }
    always = {
        "engine_version": schema.engine_version,
        "name": schema.name,
        "tables": {name: table_dict(table) for name, table in schema.tables.items()},
        "settings": stated_keys(schema.settings, SETTINGS_FIELDS),
        "normalizers": plain(schema.normalizers),
        "previous_hashes": list(schema.previous_hashes),
    }
    keys = {**{key: value for key, value in optional.items() if value is not None}, **always}
    return {**{key: keys[key] for key in SCHEMA_KEYS if key in keys}, **plain(schema.extra)}


def schema_of(document: Mapping[str, Any]) -> Schema:
    """The schema a valid document of the current engine describes."""
    tables = {
        name: table_of(
            name,
            keys,
            {
                column_name: column_of(column_name, properties)
                for column_name, properties in keys["columns"].items()
            },
        )
        for name, keys in plain(document.get("tables") or {}).items()
    }
    extra = {key: plain(value) for key, value in document.items() if key not in SCHEMA_KEYS}
    return Schema(
        name=document["name"],
        tables=tables,
        settings=settings_of(document.get("settings") or {}),
        normalizers=MappingProxyType(plain(document.get("normalizers") or {})),
        description=document.get("description"),
        engine_version=document["engine_version"],
        stored_version=document.get("version"),
        stored_hash=document.get("version_hash") or None,
        imported_hash=document.get("imported_version_hash"),
        previous_hashes=tuple(document.get("previous_hashes") or ()),
        extra=MappingProxyType(extra),
    )


def settings_of(keys: Mapping[str, Any]) -> Settings:
    """The settings that say just these keys."""
    field_values, extra = split(plain(keys), SETTINGS_FIELDS)
    if "detections" in field_values:
        field_values["detections"] = tuple(field_values["detections"])
    if "default_hints" in field_values:
        field_values["default_hints"] = {
            hint: tuple(rules) for hint, rules in field_values["default_hints"].items()
        }
    return Settings(**field_values, extra=extra)
