"""Names that a warehouse has no room for, kept in the overlay of their family once they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trellis.dialects.snowplow.client.registry import Registry, RegistryUnavailable
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.identity.keys import Family
from trellis.errors import SchemaError


def keep_short_names(registry: Registry, family: Family, warehouse: str, names: Mapping[str, str]) -> str:
    """Keep short names by long ones, so that loads go by them whatever the rule of shortening becomes.

    The reason where the registry does not take them, else empty: the rule gives the same names again.
    """
    if not names:
        return ""
    try:
        known = registry.overlay(family) or Overlay({})
        if (overlay := known.with_names(warehouse, names)) != known:
            registry.put_overlay(family, overlay)
    except (SchemaError, RegistryUnavailable) as error:
        return str(error)
    return ""


def short_name_notes(names: Mapping[str, str], refusal: str) -> Iterator[str]:
    """What a load says of the short names that it brings. `refusal`: why the registry does not keep them."""
    for name, short in names.items():
        yield f"{name} is {short} in the warehouse, which has no room for longer names"
    if names and refusal:
        yield f"the short names are not kept in an overlay: {refusal}"
