"""Quotas: the number of event tables, and of properties in a table."""

from __future__ import annotations

from functools import lru_cache

from trellis.dialects.rudderstack.identifiers.standard import (
    DEFAULT_COLUMNS,
    EXTRACT_COLUMNS,
    FULL_EVENT,
    TYPE_COLUMNS,
)
from trellis.dialects.rudderstack.identifiers.standard_names import StandardNames
from trellis.dialects.rudderstack.options import Options
from trellis.schema.model import Schema
from trellis.schema.system import is_system


def has_room(schema: Schema, options: Options, table: str, column: str | None) -> bool:
    """Whether the quotas admit one more table, or one more column of it.

    Standard tables, standard columns, columns of the context and the overflow column do not count; tables
    without events have all their columns.
    """
    named = StandardNames.of(options)
    if column is None:
        if options.max_events is None or table in named.standard_tables:
            return True
        events = sum(not is_system(name) and name not in named.standard_tables for name in schema.tables)
        return events < options.max_events
    if options.max_properties is None or table in named.own_tables or not _is_property(column, options):
        return True
    known = schema.tables[table].columns
    return sum(_is_property(name, options) for name in known) < options.max_properties


def _is_property(column: str, options: Options) -> bool:
    return not column.lower().startswith("context_") and column not in _uncounted_columns(options)


@lru_cache(maxsize=64)
def _uncounted_columns(options: Options) -> frozenset[str]:
    named = StandardNames.of(options)
    standard = {
        *DEFAULT_COLUMNS,
        *EXTRACT_COLUMNS,
        FULL_EVENT,
        *(column for columns in TYPE_COLUMNS.values() for column in columns),
    }
    return frozenset((*named.columns(*standard), *named.load_times, named.column(options.overflow)))
