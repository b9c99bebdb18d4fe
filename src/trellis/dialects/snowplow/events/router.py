"""Spreads events over `events` and the tables of their entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.enriched.line import split_line
from trellis.dialects.snowplow.events.event import JsonPaths, ShreddedEvent, enriched_event, json_event
from trellis.dialects.snowplow.events.families import JSON_SIGN, RECORD_COLUMN, EntityRows, Rows
from trellis.dialects.snowplow.identity.keys import Criterion, SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.evolution.dialect.transforms import Routed, SharedNames
from trellis.evolution.projection import Projection

DEFAULT_PATHS: Final = JsonPaths(("data", "id"), ("data", "collector_tstamp"))
_SCHEMA: Final = "schema"
_TIME: Final = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class EventRules:
    """What becomes of events: which are good, and which entities have rows."""

    paths: JsonPaths = DEFAULT_PATHS
    validate: bool = True
    earliest: datetime | None = None
    """Events that were collected before are bad."""
    skipped: tuple[Criterion, ...] = ()
    """Schemas whose entities have no rows, and that need not be in the registry."""


@dataclass
class EventRouter:
    """Called with the record of a line and its position as text. Raises BadEvent.

    `families` makes the rows of each schema that is known; `unresolved` says of others why they are not.
    """

    rules: EventRules
    families: Mapping[SchemaKey, EntityRows]
    unresolved: Mapping[str, str] = field(default_factory=dict)
    marked: bool = False
    """Rows say in RECORD_COLUMN which event they are of."""
    sorts: tuple[str, ...] = ()

    def __call__(self, record: Mapping[str, Any], position: str) -> Routed:
        event = self._event(record)
        earliest = self.rules.earliest
        if earliest is not None and event.collected_at < earliest:
            times = (time.strftime(_TIME) for time in (event.collected_at, earliest))
            raise BadEvent("generic_error", "collector_tstamp is {}, before {}".format(*times))
        entities = [entity for entity in event.entities if not self.is_skipped(entity.key)]
        families = [(entity, self.families.get(entity.key)) for entity in entities]
        unknown = dict.fromkeys(str(entity.key) for entity, family in families if family is None)
        if missing := [self.unresolved[uri] for uri in unknown if uri in self.unresolved]:
            raise BadEvent("loader_iglu_error", "; ".join(missing))
        if unknown:
            return Routed(references=tuple(unknown))
        rows: Rows = [] if event.atomic is None else [(EVENTS, {**event.atomic})]
        for entity, family in families:
            assert family is not None
            if self.rules.validate:
                family.check(entity)
            family.add_entity(entity, event, rows)
        if self.marked:
            for _, row in rows:
                row[RECORD_COLUMN] = position if event.atomic is not None else f"{JSON_SIGN}{position}"
        return Routed([*rows])

    def projection(self, sort: Sequence[str | None]) -> Projection | None:
        return None

    def shared(self) -> SharedNames:
        return {}

    def _event(self, record: Mapping[str, Any]) -> ShreddedEvent:
        return json_event(record, self.rules.paths) if _SCHEMA in record else enriched_event(record)

    def is_skipped(self, key: SchemaKey) -> bool:
        return any(criterion.matches(key) for criterion in self.rules.skipped)


def read_record(line: bytes) -> dict[str, Any]:
    """The record of a line: self-describing JSON, or the texts of an enriched event. Raises BadEvent."""
    if not line.lstrip().startswith(b"{"):
        return split_line(line)
    try:
        record = read_json(line, unique_keys=True)
    except RecursionError:
        raise BadEvent("loader_parsing_error", "the JSON is nested too deep to be read") from None
    except ValueError as error:
        raise BadEvent("loader_parsing_error", f"not JSON: {error}") from None
    assert isinstance(record, dict)
    if _SCHEMA not in record:
        raise BadEvent(
            "loader_parsing_error", "the JSON has no schema; expected an enriched event, or schema and data"
        )
    return record


def family_rows(families: Sequence[EntityRows]) -> dict[SchemaKey, EntityRows]:
    """The families by the keys of their schemas."""
    return {document.key: family for family in families for document in family.documents}
