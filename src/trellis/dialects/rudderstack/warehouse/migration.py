"""From one schema to the next, as the statements that a warehouse gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from trellis.dialects.rudderstack.providers import Neutral, Provider
from trellis.dialects.rudderstack.schema_document import LONG, NATIVE
from trellis.dialects.rudderstack.warehouse.ddl import add_columns, create_schema, create_table, widen
from trellis.schema.model import Column, DataType, Schema
from trellis.schema.system import is_system

_NEUTRAL: Final[Mapping[DataType, Neutral]] = {
    "bigint": "int",
    "double": "float",
    "decimal": "float",
    "bool": "boolean",
    "timestamp": "datetime",
    "date": "datetime",
    "text": "string",
    "json": "json",
}


def migration_statements(provider: Provider, dataset: str, before: Schema, after: Schema) -> list[str]:
    """Nothing is ever dropped, narrowed or renamed."""
    rendered: list[str] = []
    for name, table in after.tables.items():
        if is_system(name):
            continue
        known = before.tables.get(name)
        if known is None:
            rendered.append(create_table(provider, dataset, name, _columns(table.complete_columns)))
            continue
        missing = [column for column in table.complete_columns if column.name not in known.columns]
        rendered += add_columns(provider, dataset, name, _columns(missing))
        longer = [c.name for c in table.complete_columns if _became_long(known.columns.get(c.name), c)]
        tag = str(uuid5(NAMESPACE_URL, f"{dataset}/{name}/{before.stored_hash}"))
        rendered += widen(provider, dataset, name, longer, tag)
    if rendered and not any(not is_system(name) for name in before.tables):
        rendered.insert(0, create_schema(provider, dataset))
    return rendered


def neutral_of(column: Column) -> Neutral:
    assert column.data_type is not None
    return "text" if LONG in column.hints else _NEUTRAL[column.data_type]


def _columns(columns: Iterable[Column]) -> list[tuple[str, Neutral]]:
    return [(column.name, neutral_of(column)) for column in columns if NATIVE not in column.hints]


def _became_long(was: Column | None, now: Column) -> bool:
    return was is not None and LONG in now.hints and LONG not in was.hints
