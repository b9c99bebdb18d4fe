"""Routes an event to flat rows of its tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import scalar_text, to_plain
from trellis.dialects.rudderstack.events.envelope import Envelope
from trellis.dialects.rudderstack.events.event_transformer import EventTransformer
from trellis.dialects.rudderstack.events.event_types import TRANSFORMERS
from trellis.dialects.rudderstack.events.projections import projection_of
from trellis.dialects.rudderstack.events.timestamps import Parse, parse, parse_legacy, parse_strict
from trellis.dialects.rudderstack.options import EVERY_WAREHOUSE, EventOverrides, Options
from trellis.evolution.dialect.transforms import Routed, SharedNames
from trellis.evolution.projection import Projection
from trellis.evolution.record_outcome import LostValue, Rejected

EARLY: Final = "sentAt is before originalTimestamp, so the client's clock was changed in between"
MAX_OVERRIDES: Final = 64
"""The overrides whose transformers are kept."""


class EventRouter:
    """Called with an event and its position in the input as text. Raises Rejected.

    `envelope.early` counts the events that were sent before they happened.

    >>> from trellis.dialects.rudderstack.events.timestamps import UTC
    >>> explode = EventRouter(Options(), datetime(2024, 2, 29, tzinfo=UTC))
    >>> routed = explode({"type": "track", "event": "Big Sale", "properties": {"percentOff": 5}}, "1")
    >>> [(table, list(row)[-3:]) for table, row in routed.rows]
    [('tracks', ['original_timestamp', 'event', 'event_text']),
     ('big_sale', ['event', 'event_text', 'percent_off'])]
    """

    sorts: tuple[str, ...] = ("type", "event")

    def __init__(self, options: Options, now: datetime, closed: Collection[str] = ()) -> None:
        self.options = options
        self._name = options.provider
        self.envelope = Envelope(now, _time_parser(options))
        self._closed = frozenset(closed)
        self._transformers = self._create_transformers(options)
        self._by_overrides: dict[EventOverrides, Mapping[str, EventTransformer]] = {}

    def __call__(self, event: Mapping[str, Any], position: str) -> Routed:
        transformers = self._transformers
        integrations = event.get("integrations")
        if integrations.__class__ is dict and (self._name in integrations or EVERY_WAREHOUSE in integrations):
            overrides = self.options.overrides_of(event)
            if overrides is not None:
                transformers = self._by_overrides.get(overrides) or self._transformers_for(overrides)
        context = event.get("context")
        if context is None:
            context = {}
        elif context.__class__ is not dict:
            context = to_plain(context)
            if context.__class__ is not dict:
                raise Rejected("context is not a map")
        kind = event.get("type")
        transformer = transformers.get(kind) if kind.__class__ is str else None
        if transformer is None:
            kind = scalar_text(kind).lower()
            transformer = transformers.get(kind)
            if transformer is None:
                raise Rejected(f'Unknown event type: "{kind}"')
        lost: list[LostValue] = []
        early = self.envelope.early
        rows = transformer(event, context, position, lost)
        if not rows:
            lost = [LostValue("", "", "", event, f"no table: {transformer.empty_reason}")]
        return Routed(rows, lost, None if self.envelope.early == early else EARLY)

    def projection(self, sort: Sequence[str | None]) -> Projection | None:
        kind, event = sort
        transformer = self._transformers.get(kind or "")
        return None if transformer is None else projection_of(transformer, event, EARLY)

    def shared(self) -> SharedNames:
        """Tables of several events, columns of several keys."""
        keys_by_name: dict[str, set[str]] = {}
        for transformers in (self._transformers, *self._by_overrides.values()):
            for transformer in transformers.values():
                for name, raws in transformer.shared().items():
                    keys_by_name.setdefault(name, set()).update(raws)
        return keys_by_name

    def _transformers_for(self, overrides: EventOverrides) -> Mapping[str, EventTransformer]:
        """The transformers under the overrides of an event."""
        if len(self._by_overrides) >= MAX_OVERRIDES:
            self._by_overrides.clear()
        options = self.options.with_overrides(overrides)
        transformers = self._transformers if options is self.options else self._create_transformers(options)
        self._by_overrides[overrides] = transformers
        return transformers

    def _create_transformers(self, options: Options) -> Mapping[str, EventTransformer]:
        return {
            kind: transformer(kind, options, self.envelope, self._closed)
            for kind, transformer in TRANSFORMERS.items()
        }


def _time_parser(options: Options) -> Parse:
    if options.strict_timestamps:
        return parse_strict
    return parse_legacy if options.legacy_timestamps else parse
