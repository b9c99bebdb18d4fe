"""Enriched events as ordinary lines: what the engine makes rows of many at a time.

Everything here allows less than the router does: Snowplow's enrichment writes compact JSON, and texts of few
forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS, FIELDS, AtomicField, Kind
from trellis.dialects.snowplow.events.event import ENVELOPES, EntityKind
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, RECORD_COLUMN
from trellis.dialects.snowplow.events.router import EventRouter
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.evolution.line_projection import EntityField, EntityProjection, LineProjection, TextField

_PATTERNS: Final[Mapping[Kind, str]] = {
    "t": r"^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?$",
    "i": "^-?[0-9]{1,9}$",
    "d": r"^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$",
    "b": "^[01]$",
    "u": "^(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
}
_MONEY: Final = r"^-?[0-9]{1,15}(?:\.[0-9]{1,2})?$"
_VERSIONS: Final = ("1-0-0", "1-0-1")
"""Those that enrichment writes of the schemas of envelopes."""
_ENTITY: Final = '{"schema":"'
_DATA: Final = '","data":'
_LABELS: Final[Mapping[str, EntityKind]] = {"unstruct_event": "SELF_DESCRIBING_EVENT"}


def line_projection(router: EventRouter) -> LineProjection:
    """How ordinary lines become the rows that the router makes of them."""
    return LineProjection(
        table=EVENTS,
        separator="\t",
        names=tuple(field.name for field in FIELDS),
        fields=tuple(map(_text_field, ATOMIC_FIELDS)),
        entity_fields=tuple(map(_entity_field, ENVELOPES)),
        entity_separator=f",{_ENTITY}",
        data_start=_DATA,
        project_entity=lambda address: _entity_projection(router, address),
        reference_of=lambda address: _reference(router, address),
        inherited={"root_id": "event_id", "root_tstamp": "collector_tstamp"},
        label_column=ENTITY_COLUMN if router.marked else None,
        position_column=RECORD_COLUMN if router.marked else None,
        time_column="collector_tstamp",
        earliest=router.rules.earliest,
    )


def _text_field(field: AtomicField) -> TextField:
    pattern = _MONEY if field.type.name == "DECIMAL" else _PATTERNS.get(field.kind)
    return TextField(field.name, pattern, field.is_required, field.kind == "u")


def _entity_field(name: str) -> EntityField:
    envelope, has_list = ENVELOPES[name], name != "unstruct_event"
    opening, ending = ("[", "]}") if has_list else ("", "}")
    beginnings = tuple(
        f"{_ENTITY}iglu:{envelope.vendor}/{envelope.name}/jsonschema/{version}{_DATA}{opening}{_ENTITY}"
        for version in _VERSIONS
    )
    return EntityField(name, _LABELS.get(name, "CONTEXT"), beginnings, ending, has_list)


def _entity_projection(router: EventRouter, address: str) -> EntityProjection | None:
    key = _key_of(address)
    family = None if key is None else router.families.get(key)
    if key is None or family is None or router.is_skipped(key):
        return None
    return family.projection(key, router.rules.validate)


def _reference(router: EventRouter, address: str) -> str | None:
    key = _key_of(address)
    if key is None or key in router.families or router.is_skipped(key) or str(key) in router.unresolved:
        return None
    return str(key)


def _key_of(address: str) -> SchemaKey | None:
    try:
        return SchemaKey.parse(address)
    except IgluError:
        return None
