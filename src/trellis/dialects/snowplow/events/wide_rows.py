"""Entities as columns of the row of their event, with the types of their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.events.event import Entity, EntityKind, ShreddedEvent
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, FamilySchemas, Rows
from trellis.dialects.snowplow.typed.casts import CastError, cast_value
from trellis.dialects.snowplow.typed.merge import WideColumns, merge_wide_columns
from trellis.dialects.snowplow.typed.types import STRING, Array, Field, Struct

VERSION_FIELD: Final = Field("_schema_version", STRING, nullable=True)
"""The version of the schema of an entity, where the user wants it among the fields of the entity."""


@dataclass(frozen=True)
class WideRows(FamilySchemas):
    """Puts entities of one family into the rows of their events.

    `with_version`: contexts have VERSION_FIELD. `marked`: rows say in ENTITY_COLUMN which entities they have.
    """

    with_version: bool = False
    marked: bool = False

    @cached_property
    def _columns(self) -> Mapping[EntityKind, WideColumns]:
        contexts = merge_wide_columns(self.documents, "contexts")
        if self.with_version:
            contexts = replace(
                contexts,
                column=_with_version(contexts.column),
                recovered=tuple((key, _with_version(column)) for key, column in contexts.recovered),
            )
        events = merge_wide_columns(self.documents, "unstruct_event")
        return {"SELF_DESCRIBING_EVENT": events, "CONTEXT": contexts}

    @cached_property
    def columns(self) -> Mapping[str, Field]:
        """All columns of the family by name. Rows have those that their entities go into."""
        wide = self._columns.values()
        recovered = (column for columns in wide for _, column in columns.recovered)
        return {column.name: column for column in (*(columns.column for columns in wide), *recovered)}

    def add_entity(self, entity: Entity, event: ShreddedEvent, rows: Rows) -> None:
        if event.atomic is None:
            raise BadEvent(
                "loader_parsing_error",
                "self-describing JSON has no row in events, and a wide row is one; load it in layout model",
            )
        _, row = rows[0]
        column = self._columns[entity.kind].column_of(entity.key)
        try:
            if entity.kind == "CONTEXT":
                assert isinstance(column.type, Array)
                value = cast_value(entity.data, column.type.item)
                if self.with_version and isinstance(value, dict):
                    value[VERSION_FIELD.name] = str(entity.key.version)
                row.setdefault(column.name, []).append(value)
            else:
                row[column.name] = cast_value(entity.data, column.type)
        except CastError as error:
            raise BadEvent("loader_runtime_error", f"{entity.key}: {error}") from None
        except RecursionError:
            raise BadEvent("loader_runtime_error", f"{entity.key}: nested too deep to be stored") from None
        if self.marked:
            row[ENTITY_COLUMN] = _with_line(row.get(ENTITY_COLUMN, ""), f"{entity.kind} {entity.key}")


def _with_version(column: Field) -> Field:
    """The column of contexts whose entities, if they are objects, say the version of their schema."""
    assert isinstance(column.type, Array)
    if not isinstance(column.type.item, Struct):
        return column
    others = (field for field in column.type.item.fields if field.name != VERSION_FIELD.name)
    return replace(column, type=replace(column.type, item=Struct((VERSION_FIELD, *others))))


def _with_line(text: str, line: str) -> str:
    lines = text.splitlines()
    return text if line in lines else "\n".join((*lines, line))
