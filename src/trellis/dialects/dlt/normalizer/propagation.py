"""What nested rows get of the rows above them: `normalizers.json.config`.

`propagation.root` names columns of every root table, `propagation.tables` those of single tables, each
with its name in the tables below. The key of the root row is entered there as `_dlt_id: _dlt_root_id`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from trellis.dialects.dlt.system_tables import PREFIX, ROOT_ID, ROW_ID
from trellis.errors import SchemaError
from trellis.schema.dict_form import plain
from trellis.schema.model import Schema

_ROOT_KEY = (ROW_ID, ROOT_ID)


def propagated(schema: Schema, table: str) -> Mapping[str, str]:
    """The columns of a table that go to the tables below, and their names there, but for the root key."""
    columns = {name: to for name, to in _entries(schema, table).items() if (name, to) != _ROOT_KEY}
    for name in columns:
        if name.startswith(PREFIX):
            raise SchemaError(
                f"normalizers.json.config.propagation: {table}.{name} cannot be propagated: of the columns "
                f"that begin with {PREFIX} only {ROW_ID} can, as {ROOT_ID}, and from a root table"
            )
    return columns


def has_root_key(schema: Schema, root: str) -> bool:
    """Whether the key of its root row goes to every table below this root."""
    return _ROOT_KEY in _entries(schema, root).items()


def wants_root_keys(schema: Schema) -> bool | None:
    """What the schema says of root keys in general: None leaves it to the write disposition."""
    value = _config(schema).get("root_key_propagation")
    return None if value is None else bool(value)


def with_root_key(schema: Schema, root: str) -> Schema:
    """The schema that says so of this root."""
    if has_root_key(schema, root):
        return schema
    normalizers = plain(schema.normalizers)
    config = normalizers.setdefault("json", {}).setdefault("config", {})
    tables = config.setdefault("propagation", {}).setdefault("tables", {})
    tables.setdefault(root, {})[ROW_ID] = ROOT_ID
    return replace(schema, normalizers=MappingProxyType(normalizers))


def without_root_keys(schema: Schema, tables: Collection[str]) -> Schema:
    """The schema that says nothing of what goes below these tables."""
    normalizers = plain(schema.normalizers)
    propagation = ((normalizers.get("json") or {}).get("config") or {}).get("propagation") or {}
    by_table = propagation.get("tables") or {}
    for table in tables:
        by_table.pop(table, None)
    return replace(schema, normalizers=MappingProxyType(normalizers))


def _entries(schema: Schema, table: str) -> dict[str, str]:
    propagation = _config(schema).get("propagation") or {}
    known = schema.tables.get(table)
    root = known is None or known.parent is None
    return {
        **((propagation.get("root") or {}) if root else {}),
        **((propagation.get("tables") or {}).get(table) or {}),
    }


def _config(schema: Schema) -> Mapping[str, Any]:
    return (schema.normalizers.get("json") or {}).get("config") or {}
