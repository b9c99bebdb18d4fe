"""An event becomes flat rows of its tables (spec rudderstack.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from trellis.dialects.rudderstack.call import Call
from trellis.dialects.rudderstack.calls import CALLS
from trellis.dialects.rudderstack.envelope import Envelope
from trellis.dialects.rudderstack.options import EVERY_WAREHOUSE, Options, Wish
from trellis.dialects.rudderstack.recipes import recipe_of
from trellis.dialects.rudderstack.times import parse, parse_strict
from trellis.dialects.rudderstack.values import plain, scalar_text
from trellis.evolution.dialect.transforms import Routed, SharedNames
from trellis.evolution.recipe import Recipe
from trellis.evolution.record import Lost, Rejected

EARLY: Final = "sentAt is before originalTimestamp, so the client's clock was changed in between"
MEMORY: Final = 64
"""Wishes of events that are remembered."""


def exploder(options: Options, now: datetime, closed: Collection[str] = ()) -> Exploder:
    """What spreads the events of a load over tables; `closed` are event tables that there is no room for."""
    return Exploder(options, now, closed)


class Exploder:
    """Called with an event and its position in the input as text. Raises Rejected.

    `envelope.early` counts the events that were sent before they happened.

    >>> from trellis.dialects.rudderstack.times import UTC
    >>> explode = exploder(Options(), datetime(2024, 2, 29, tzinfo=UTC))
    >>> routed = explode({"type": "track", "event": "Big Sale", "properties": {"percentOff": 5}}, "1")
    >>> [(table, list(row)[-3:]) for table, row in routed.rows]
    [('tracks', ['original_timestamp', 'event', 'event_text']),
     ('big_sale', ['event', 'event_text', 'percent_off'])]
    """

    sorts: tuple[str, ...] = ("type", "event")

    def __init__(self, options: Options, now: datetime, closed: Collection[str] = ()) -> None:
        self.options = options
        self._name = options.provider
        self.envelope = Envelope(now, parse_strict if options.strict_timestamps else parse)
        self._closed = frozenset(closed)
        self._calls = self._made(options)
        self._others: dict[Wish, Mapping[str, Call]] = {}

    def __call__(self, event: Mapping[str, Any], position: str) -> Routed:
        calls = self._calls
        asked = event.get("integrations")
        if asked.__class__ is dict and (self._name in asked or EVERY_WAREHOUSE in asked):
            wish = self.options.wish_of(event)
            if wish is not None:
                calls = self._others.get(wish) or self._remembered(wish)
        context = event.get("context")
        if context is None:
            context = {}
        elif context.__class__ is not dict:
            context = plain(context)
            if context.__class__ is not dict:
                raise Rejected("context is not a map")
        said = event.get("type")
        call = calls.get(said) if said.__class__ is str else None
        if call is None:
            kind = scalar_text(said).lower()
            call = calls.get(kind)
            if call is None:
                raise Rejected(f'Unknown event type: "{kind}"')
        lost: list[Lost] = []
        early = self.envelope.early
        rows = call(event, context, position, lost)
        if not rows:
            lost = [Lost("", "", "", event, f"no table: {call.nothing}")]
        return Routed(rows, lost, None if self.envelope.early == early else EARLY)

    def recipe(self, sort: Sequence[str | None]) -> Recipe | None:
        kind, event = sort
        call = self._calls.get(kind or "")
        return None if call is None else recipe_of(call, event, EARLY)

    def shared(self) -> SharedNames:
        """Tables of several events, columns of several keys."""
        found: dict[str, set[str]] = {}
        for calls in (self._calls, *self._others.values()):
            for call in calls.values():
                for name, raws in call.shared().items():
                    found.setdefault(name, set()).update(raws)
        return found

    def _remembered(self, wish: Wish) -> Mapping[str, Call]:
        """The calls under what an event asks for itself."""
        if len(self._others) >= MEMORY:
            self._others.clear()
        options = self.options.with_wish(wish)
        made = self._calls if options is self.options else self._made(options)
        self._others[wish] = made
        return made

    def _made(self, options: Options) -> Mapping[str, Call]:
        return {kind: made(kind, options, self.envelope, self._closed) for kind, made in CALLS.items()}
