"""The table of the events themselves, as a load of runs creates it or finds it."""

from __future__ import annotations

from typing import Final

from trellis.dialects.snowplow.client.registry import Registry, SchemaNotFound
from trellis.dialects.snowplow.columns.column_types import MAX_VARCHAR, TIMESTAMP, varchar
from trellis.dialects.snowplow.columns.declarations import column_lines
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.nodes import properties_of, size_of
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.layouts import ATOMIC
from trellis.dialects.snowplow.runs.loading.verification import lossy_columns
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, TableChange
from trellis.dialects.snowplow.stored_families import LOAD_TIME
from trellis.errors import SchemaError
from trellis.warehouses.statements import ColumnDefinition, add_columns

_WIDE: Final = ("unstruct_event_", "contexts_")
"""What names of columns begin with that entities of wide rows are in."""


def events_change(profile: Profile, dataset: str, real: RealTable | None, registry: Registry) -> TableChange:
    """Raises SchemaError for a table that lacks columns of events, would not keep their values, or has wide
    rows."""
    columns = events_columns(profile, registry)
    reference = profile.warehouse.reference(dataset, EVENTS)
    if real is None:
        lines = ",\n".join((*column_lines(columns, profile), *profile.events_key))
        options = f"\n{profile.events_options}" if profile.events_options else ""
        comment = f"COMMENT ON TABLE {reference} IS '{ATOMIC}'"
        statements = (f"CREATE TABLE IF NOT EXISTS {reference} (\n{lines}\n){options}", comment)
        return TableChange(EVENTS, ATOMIC, tuple(columns), created=True, adding=statements)
    if wide := [name for name in real.names if name.startswith(_WIDE)]:
        raise SchemaError(
            f"{EVENTS}: its rows are wide, with columns such as {wide[0]}, and the run has a table for each "
            "schema; load its events with `trellis load --option layout=wide`, or the run into another "
            "dataset"
        )
    missing = [column for column in columns if column.name not in real.names]
    if missing:
        definitions = [ColumnDefinition(column.name, profile.type_text(column.type)) for column in missing]
        raise SchemaError(
            f"{EVENTS}: it has no column {', '.join(column.name for column in missing)}; add what is "
            "missing: "
            f"{'; '.join(add_columns(profile.warehouse, reference, definitions))}"
        )
    if lossy := [*lossy_columns(real, columns, profile)]:
        raise SchemaError(
            f"{EVENTS}: {'; '.join(map(str, lossy))}; the column would not keep its values, so give it the "
            "type that is expected"
        )
    return TableChange(EVENTS, ATOMIC, tuple(columns))


def events_columns(profile: Profile, registry: Registry) -> list[Column]:
    """The columns of events; a registry that has their schema says how long their texts may be."""
    try:
        lengths = {
            name: size_of(node, "maxLength")
            for name, node in properties_of(registry.schema(ATOMIC).body).items()
        }
    except SchemaNotFound:
        lengths = {}
    columns = []
    for item in ATOMIC_FIELDS:
        length = lengths.get(item.name)
        column_type = varchar(min(length, MAX_VARCHAR)) if item.kind == "s" and length else item.type
        columns.append(Column(item.name, profile.adapt(column_type), not item.is_required, ()))
    return [*columns, Column(LOAD_TIME, TIMESTAMP, True, ())]
