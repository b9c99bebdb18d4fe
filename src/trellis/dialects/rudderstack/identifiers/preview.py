"""The names that events and properties would get, before they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trellis.dialects.rudderstack.identifiers.names import Names
from trellis.dialects.rudderstack.identifiers.standard import DEFAULT_COLUMNS, LOAD_TIME_COLUMNS, TYPE_COLUMNS
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import PROVIDERS


@dataclass(frozen=True)
class Preview:
    """One name as a warehouse has it; an empty `name` means that the key or table is left out."""

    provider: str
    kind: str
    raw: str
    name: str
    event: str | None = None
    """The value of column `event`, for an event."""
    reserved: bool = False
    """Whether RudderStack sets the column itself, so that the property is left out."""
    shared_with: tuple[str, ...] = ()
    """Other raw names with the same result."""


def preview(
    options: Options, events: Iterable[str], properties: Iterable[str], everywhere: bool = False
) -> list[Preview]:
    """The table of each event and the column of each property (`a.b` is key b of object a).

    >>> [found.name for found in preview(Options(), ["Add to Cart", "Users"], ["seatNo", "meal.type"])]
    ['add_to_cart', '_users', 'seat_no', 'meal_type']
    """
    raw_names = [("event", raw) for raw in events] + [("property", raw) for raw in properties]
    providers = list(PROVIDERS) if everywhere else [options.provider]
    return [
        entry
        for provider in providers
        for entry in _with_shared_names(list(_previews(replace(options, provider=provider), raw_names)))
    ]


def _previews(options: Options, raw_names: Iterable[tuple[str, str]]) -> Iterator[Preview]:
    names = Names(
        options.warehouse,
        options.underscore_divide_numbers,
        options.use_blendo_casing,
        options.skip_reserved_keywords_escaping,
    )
    standard_columns = {*map(names.standard, (*DEFAULT_COLUMNS, *TYPE_COLUMNS["track"], *LOAD_TIME_COLUMNS))}
    for kind, raw in raw_names:
        if kind == "event":
            yield Preview(options.provider, kind, raw, names.table(raw), names.event(raw))
        else:
            column = names.column("_".join(raw.split(".")))
            yield Preview(options.provider, kind, raw, column, reserved=column in standard_columns)


def _with_shared_names(previews: list[Preview]) -> Iterator[Preview]:
    for entry in previews:
        others = (
            other.raw
            for other in previews
            if other.kind == entry.kind and other.name == entry.name and other.raw != entry.raw
        )
        yield replace(entry, shared_with=tuple(dict.fromkeys(others))) if entry.name else entry
