"""The warehouse is the truth: its tables become the schema (spec rudderstack.md, sections 6 and 7.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.rudderstack.system import LONG, NATIVE, RANGE
from trellis.evolution.dialect.schemas import Catalog
from trellis.schema.model import NOTHING, Column, DataType, Schema, Table
from trellis.schema.system import is_system

_DEPRECATED = re.compile(r"-deprecated-[0-9a-fA-F-]{36}\Z")
_STAGING = "rudder_staging_"
_READ_BACK: frozenset[DataType | None] = frozenset(
    ("bigint", "double", "decimal", "bool", "timestamp", "date", "text", "json")
)
_UNMANAGED: DataType = "binary"
"""No value of an event is of this type, so none goes into the column."""
_KEPT_AS_TEXT = "string"
"""What Parquet has for text, and for JSON as well."""

_LARGEST_SINGLE: Final = 3.4028234663852886e38
_RANGES: Final[Mapping[str, tuple[int, float, float]]] = {
    **dict.fromkeys(("tinyint", "int8"), (8, -(1 << 7), (1 << 7) - 1)),
    **dict.fromkeys(("smallint", "int16"), (16, -(1 << 15), (1 << 15) - 1)),
    **dict.fromkeys(("integer", "int32"), (32, -(1 << 31), (1 << 31) - 1)),
    "utinyint": (16, 0, (1 << 8) - 1),
    "usmallint": (32, 0, (1 << 16) - 1),
    "uinteger": (64, 0, (1 << 32) - 1),
    "ubigint": (64, 0, (1 << 63) - 1),
    **dict.fromkeys(("real", "float"), (24, -_LARGEST_SINGLE, _LARGEST_SINGLE)),
}
"""The types that hold fewer numbers than RudderStack's: their bits, the least and the greatest number."""
_DIGITS = re.compile(r"(?:decimal|numeric|decimal128|decimal256)\((\d+),\s*(\d+)\)")
_LENGTH = re.compile(r"(?:character varying|varchar|character|char)\((\d+)\)")


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
    if was is not None and was.data_type == "json" and native == _KEPT_AS_TEXT:
        return was
    told = _bounds(native.lower())
    precision, scale = told.get("precision"), told.get("scale")
    said = was.hints if was else NOTHING
    if (
        was is not None
        and NATIVE not in said
        and (was.data_type, was.precision, was.scale) == (data_type, precision, scale)
        and said.get(RANGE) == told.get(RANGE)
    ):
        return was
    kept = {key: hint for key, hint in said.items() if key not in (NATIVE, LONG, RANGE)}
    if RANGE in told:
        kept[RANGE] = told[RANGE]
    return Column(name, data_type, nullable=True, precision=precision, scale=scale).with_hints(**kept)


def _bounds(native: str) -> dict[str, Any]:
    """What a type of the warehouse holds at most, where that is less than a type of RudderStack's.

    >>> _bounds("decimal(18,4)"), _bounds("character varying(10)"), _bounds("bigint")
    ({'precision': 18, 'scale': 4}, {'precision': 10}, {})
    >>> _bounds("smallint")
    {'precision': 16, 'x-range': [-32768, 32767]}
    """
    if native in _RANGES:
        bits, *ends = _RANGES[native]
        return {"precision": bits, RANGE: ends}
    if digits := _DIGITS.fullmatch(native):
        return {"precision": int(digits[1]), "scale": int(digits[2])}
    if length := _LENGTH.fullmatch(native):
        return {"precision": int(length[1])}
    return {}
