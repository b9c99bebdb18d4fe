"""What events and properties would be called, before they are sent (spec rudderstack.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trellis.dialects.rudderstack.naming.names import Names
from trellis.dialects.rudderstack.naming.standard import DEFAULT, OWN, STAMPS
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.warehouse.providers import PROVIDERS


@dataclass(frozen=True)
class Preview:
    """One name as a warehouse has it; an empty `name` means that the key or table is left out."""

    provider: str
    kind: str
    raw: str
    name: str
    event: str | None = None
    """What column `event` holds, for an event."""
    reserved: bool = False
    """Whether RudderStack sets the column itself, so that the property is left out."""
    shared_with: tuple[str, ...] = ()
    """Other names given that come out the same."""


def preview(
    options: Options, events: Iterable[str], properties: Iterable[str], everywhere: bool = False
) -> list[Preview]:
    """The table of each event and the column of each property (`a.b` is key b of object a).

    >>> [found.name for found in preview(Options(), ["Add to Cart", "Users"], ["seatNo", "meal.type"])]
    ['add_to_cart', '_users', 'seat_no', 'meal_type']
    """
    asked = [("event", each) for each in events] + [("property", each) for each in properties]
    providers = list(PROVIDERS) if everywhere else [options.provider]
    return [
        found
        for provider in providers
        for found in _shared(list(_named(replace(options, provider=provider), asked)))
    ]


def _named(options: Options, asked: Iterable[tuple[str, str]]) -> Iterator[Preview]:
    names = Names(
        options.warehouse,
        options.underscore_divide_numbers,
        options.use_blendo_casing,
        options.skip_reserved_keywords_escaping,
    )
    own = {*map(names.standard, (*DEFAULT, *OWN["track"], *STAMPS))}
    for kind, raw in asked:
        if kind == "event":
            yield Preview(options.provider, kind, raw, names.table(raw), names.event(raw))
        else:
            column = names.column("_".join(raw.split(".")))
            yield Preview(options.provider, kind, raw, column, reserved=column in own)


def _shared(found: list[Preview]) -> Iterator[Preview]:
    for each in found:
        others = (
            other.raw
            for other in found
            if other.kind == each.kind and other.name == each.name and other.raw != each.raw
        )
        yield replace(each, shared_with=tuple(dict.fromkeys(others))) if each.name else each
