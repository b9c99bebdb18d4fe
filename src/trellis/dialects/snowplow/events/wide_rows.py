"""Entities as columns of the row of their event, with the types of their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from trellis.dialects.snowplow.columns.names import wide_column_name
from trellis.dialects.snowplow.document.json_text import write_json
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.events.event import Entity, EntityKind, ShreddedEvent
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, FamilySchemas, Rows
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.typed.casts import CastError, cast_value
from trellis.dialects.snowplow.typed.merge import WideColumns, merge_wide_columns
from trellis.dialects.snowplow.typed.types import JSON, STRING, Array, Field, Struct, Type

VERSION_FIELD: Final = Field("_schema_version", STRING, nullable=True)
"""The version of the schema of an entity, where the user wants it among the fields of the entity."""


@dataclass(frozen=True)
class WideRows(FamilySchemas):
    """Puts entities of one family into the rows of their events.

    `with_version`: contexts have VERSION_FIELD. `marked`: rows say in ENTITY_COLUMN which entities they have.
    `as_json`: entities stay as they are, so that no version needs a column of its own.
    """

    with_version: bool = False
    marked: bool = False
    as_json: bool = False

    @cached_property
    def _columns(self) -> Mapping[EntityKind, WideColumns]:
        if self.as_json:
            return {"SELF_DESCRIBING_EVENT": self._json("unstruct_event"), "CONTEXT": self._json("contexts")}
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

    @cached_property
    def last_keys(self) -> Mapping[str, SchemaKey]:
        """The last version that each column holds."""
        last: dict[str, SchemaKey] = {}
        for wide in self._columns.values():
            last |= {wide.column.name: wide.keys[-1]}
            last |= {column.name: key for key, column in wide.recovered}
        return last

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
                contexts = self._contexts(entity, column.type)
                row[column.name] = join_contexts(row.get(column.name), contexts)
            else:
                row[column.name] = cast_value(entity.data, column.type)
        except CastError as error:
            raise BadEvent("loader_runtime_error", f"{entity.key}: {error}") from None
        except RecursionError:
            raise BadEvent("loader_runtime_error", f"{entity.key}: nested too deep to be stored") from None
        if self.marked:
            row[ENTITY_COLUMN] = _with_line(row.get(ENTITY_COLUMN, ""), f"{entity.kind} {entity.key}")

    def projection(self, key: SchemaKey, validate: bool) -> None:
        return None

    def _contexts(self, entity: Entity, column_type: Type) -> list[Any] | str:
        """The list of an entity, in the type of its column."""
        item = column_type.item if isinstance(column_type, Array) else None
        value = entity.data if item is None else cast_value(entity.data, item)
        if self.with_version and isinstance(value, dict):
            value = {**value, VERSION_FIELD.name: str(entity.key.version)}
        return write_json([value]) if item is None else [value]

    def _json(self, prefix: str) -> WideColumns:
        keys = tuple(document.key for document in self.documents)
        return WideColumns(Field(wide_column_name(prefix, keys[0].family), JSON, nullable=True), keys)


def join_contexts(stored: list[Any] | str | None, added: list[Any] | str) -> list[Any] | str:
    """Lists of contexts as one, of values or as JSON.

    >>> join_contexts('[{"a":1}]', '[{"a":2}]')
    '[{"a":1},{"a":2}]'
    """
    if isinstance(stored, str) and isinstance(added, str):
        return f"{stored[:-1]},{added[1:]}"
    return [*(stored or ()), *added] if isinstance(added, list) else added


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
