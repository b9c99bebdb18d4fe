"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer

    from trellis.dialects.registration import ReferenceResolver, RowRevision
    from trellis.evolution.dialect import Dialect


def _dialect() -> Dialect:
    from trellis.dialects.snowplow.dialect import Snowplow

    return Snowplow()


def _open_registry(text: str) -> ReferenceResolver:
    from trellis.dialects.snowplow.client.references import RegistryReferences

    return RegistryReferences.open(text)


def _open_revision(settings: Mapping[str, Any]) -> RowRevision | None:
    if not {"dedup", "dedup_store"} & settings.keys():
        return None
    from trellis.dialects.snowplow.runs.revision import EventRevision

    return EventRevision.of(settings)


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.snowplow.commands.loaded import snowplow
    from trellis.dialects.snowplow.commands.registry import registry

    app.add_typer(registry, name="registry")
    app.add_typer(snowplow, name="snowplow")


registration = Registration(
    dialect=_dialect,
    option_example="validate=false",
    add_commands=_add_commands,
    open_registry=_open_registry,
    open_revision=_open_revision,
)
