"""The warehouse is the truth: its tables become the schema (spec rudderstack.md, sections 6 and 7.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from trellis.dialects.rudderstack.system import LONG, NATIVE
from trellis.evolution.dialect import Catalog
from trellis.schema.model import NOTHING, Column, DataType, Schema, Table
from trellis.schema.system import is_system

_DEPRECATED = re.compile(r"-deprecated-[0-9a-fA-F-]{36}\Z")
_STAGING = "rudder_staging_"
_READ_BACK: frozenset[DataType | None] = frozenset(
    ("bigint", "double", "decimal", "bool", "timestamp", "date", "text", "json")
)
_UNMANAGED: DataType = "binary"
"""No value of an event is of this type, so none goes into the column."""


def adopted(schema: Schema, catalog: Mapping[str, Catalog], new: Table) -> Schema:
    """The schema with the tables and columns that there are; `new` is what a table starts with.

    Columns that were added or retyped by hand count. What RudderStack leaves behind is not seen: views,
    its staging tables, columns it replaced.
    """
    tables = {name: table for name, table in schema.tables.items() if is_system(name)}
    for name, real in catalog.items():
        if not (is_system(name) or real.is_view or name.lower().startswith(_STAGING)):
            tables[name] = _table(schema.tables.get(name) or replace(new, name=name), real)
    return schema if tables == schema.tables else replace(schema, tables=tables)


def _table(known: Table, real: Catalog) -> Table:
    found = {
        name: _column(known.columns.get(name), name, native, real.types.get(name))
        for name, native in real.columns.items()
        if not _DEPRECATED.search(name)
    }
    order = dict.fromkeys((*(name for name in known.columns if name in found), *found))
    columns = {name: found[name] for name in order}
    return known if columns == known.columns else replace(known, columns=columns)


def _column(was: Column | None, name: str, native: str, data_type: DataType | None) -> Column:
    """The column as it is now; what was said of it stays as long as it has its type."""
    if data_type not in _READ_BACK:
        return Column(name, _UNMANAGED, nullable=True).with_hints(**{NATIVE: native})
    if was is not None and was.data_type == data_type and NATIVE not in was.hints:
        return was
    kept = {key: hint for key, hint in (was.hints if was else NOTHING).items() if key not in (NATIVE, LONG)}
    return Column(name, data_type, nullable=True).with_hints(**kept)
