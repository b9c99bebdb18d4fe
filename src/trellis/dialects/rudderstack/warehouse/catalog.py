"""The schema follows the tables of the warehouse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from trellis.dialects.rudderstack.schema_document import LONG, NATIVE, RANGE
from trellis.evolution.dialect.schemas import Catalog
from trellis.schema.model import NOTHING, Column, DataType, Schema, Table
from trellis.schema.system import is_system
from trellis.warehouses.bounds import bounds_of

_DEPRECATED = re.compile(r"-deprecated-[0-9a-fA-F-]{36}\Z")
_STAGING = "rudder_staging_"
_READ_BACK: frozenset[DataType | None] = frozenset(
    ("bigint", "double", "decimal", "bool", "timestamp", "date", "text", "json")
)
_UNMANAGED: DataType = "binary"
"""No value of an event is of this type, so none is loaded into the column."""
_KEPT_AS_TEXT = frozenset({"string", "STRING"})
"""The types of text, and of JSON as well, in Parquet files and in lakes."""


def schema_from_catalog(schema: Schema, catalog: Mapping[str, Catalog], new: Table) -> Schema:
    """The schema with the tables and columns of the warehouse; `new` is the template of a table.

    Columns that were added or retyped by hand count. Views, RudderStack's staging tables and the columns that
    it replaced are left out.
    """
    tables = {name: table for name, table in schema.tables.items() if is_system(name)}
    for name, real in catalog.items():
        if not (is_system(name) or real.is_view or name.lower().startswith(_STAGING)):
            tables[name] = _merge_table(schema.tables.get(name) or replace(new, name=name), real)
    return schema if tables == schema.tables else replace(schema, tables=tables)


def _merge_table(known: Table, real: Catalog) -> Table:
    real_columns = {
        name: _column(known.columns.get(name), name, native, real.types.get(name))
        for name, native in real.columns.items()
        if not _DEPRECATED.search(name)
    }
    order = dict.fromkeys((*(name for name in known.columns if name in real_columns), *real_columns))
    columns = {name: real_columns[name] for name in order}
    return known if columns == known.columns else replace(known, columns=columns)


def _column(known: Column | None, name: str, native: str, data_type: DataType | None) -> Column:
    """The column as it is now; what the schema knows of it stays as long as it has its type."""
    if data_type not in _READ_BACK:
        return Column(name, _UNMANAGED, nullable=True).with_hints(**{NATIVE: native})
    if known is not None and known.data_type == "json" and native in _KEPT_AS_TEXT:
        return known
    bounds = bounds_of(native)
    precision, scale = bounds.precision, bounds.scale
    limits = None if bounds.range is None else [*bounds.range]
    hints = known.hints if known else NOTHING
    if (
        known is not None
        and NATIVE not in hints
        and (known.data_type, known.precision, known.scale) == (data_type, precision, scale)
        and hints.get(RANGE) == limits
    ):
        return known
    kept = {key: hint for key, hint in hints.items() if key not in (NATIVE, LONG, RANGE)}
    if limits is not None:
        kept[RANGE] = limits
    return Column(name, data_type, nullable=True, precision=precision, scale=scale).with_hints(**kept)
