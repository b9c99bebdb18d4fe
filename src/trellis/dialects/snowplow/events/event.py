"""An event and its entities, from the line of an enriched event or from self-describing JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.document.schema_document import SelfDescribingData
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.enriched.line import atomic_values, read_time
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Criterion, SchemaKey

EntityKind = Literal["SELF_DESCRIBING_EVENT", "CONTEXT"]
"""What an entity is of its event: what happened, of which there is one; or what was around it."""

_VENDOR: Final = "com.snowplowanalytics.snowplow"
_CONTEXTS: Final = Criterion(_VENDOR, "contexts", "jsonschema")
ENVELOPES: Final[Mapping[str, Criterion]] = {
    "contexts": _CONTEXTS,
    "unstruct_event": Criterion(_VENDOR, "unstruct_event", "jsonschema"),
    "derived_contexts": _CONTEXTS,
}
"""The fields with entities, in the order of these, and the schemas of what is around them."""


@dataclass(frozen=True)
class Entity:
    """A part of an event that has a schema, and so a table, of its own."""

    key: SchemaKey
    data: Any
    kind: EntityKind


@dataclass(frozen=True)
class ShreddedEvent:
    """An event in its parts. `atomic` are the values of its row of `events`; it may have none."""

    id: str
    collected_at: datetime
    atomic: Mapping[str, Any] | None
    entities: tuple[Entity, ...]

    @property
    def keys(self) -> dict[SchemaKey, None]:
        """The schemas of its entities, each once, in their order."""
        return dict.fromkeys(entity.key for entity in self.entities)


@dataclass(frozen=True)
class JsonPaths:
    """Where self-describing JSON has the id and the time of its event."""

    id: tuple[str, ...]
    time: tuple[str, ...]


def enriched_event(texts: Mapping[str, str]) -> ShreddedEvent:
    """The event of the texts of a line. Raises BadEvent."""
    atomic = atomic_values(texts)
    entities = tuple(entity for name in ENVELOPES if name in texts for entity in _unpack(name, texts[name]))
    return ShreddedEvent(atomic["event_id"], atomic["collector_tstamp"], atomic, entities)


def json_event(document: object, paths: JsonPaths) -> ShreddedEvent:
    """The event of self-describing JSON, which has no row of `events`. Raises BadEvent."""
    entity = _entity("the line", document, "SELF_DESCRIBING_EVENT")
    event_id, time = _value_at(document, paths.id), _value_at(document, paths.time)
    if not isinstance(event_id, str) or not event_id:
        raise BadEvent(
            "loader_parsing_error", f"{'.'.join(paths.id)} is not a text: an event has an id there"
        )
    try:
        collected_at = read_time(time if isinstance(time, str) else "")
    except ValueError:
        raise BadEvent(
            "loader_parsing_error",
            f"{'.'.join(paths.time)} is not a time such as 2031-04-05T06:00:00.123Z",
        ) from None
    return ShreddedEvent(event_id, collected_at, None, (entity,))


def _unpack(name: str, text: str) -> Iterator[Entity]:
    """The entities in an envelope of the line."""
    try:
        document = read_json(text, unique_keys=True)
    except RecursionError:
        raise BadEvent("loader_parsing_error", f"{name}: the JSON is nested too deep to be read") from None
    except ValueError as error:
        raise BadEvent("loader_parsing_error", f"{name}: not JSON: {error}") from None
    envelope = _entity(name, document, "CONTEXT")
    if not ENVELOPES[name].matches(envelope.key):
        expected = ENVELOPES[name]
        raise BadEvent(
            "loader_parsing_error",
            f"{name} holds {envelope.key}; expected iglu:{expected.vendor}/{expected.name}/jsonschema",
        )
    if name == "unstruct_event":
        yield _entity(name, envelope.data, "SELF_DESCRIBING_EVENT")
        return
    if not isinstance(envelope.data, list):
        raise BadEvent("loader_parsing_error", f"{name}: data is not a list of entities")
    for index, item in enumerate(envelope.data):
        yield _entity(f"{name}/{index}", item, "CONTEXT")


def _entity(place: str, document: object, kind: EntityKind) -> Entity:
    try:
        parsed = SelfDescribingData.parse(document)
    except IgluError as error:
        raise BadEvent("loader_parsing_error", f"{place}: {error}") from None
    return Entity(parsed.key, parsed.data, kind)


def _value_at(document: object, path: tuple[str, ...]) -> object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document
