"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.snowplow.commands.registry import registry

    app.add_typer(registry, name="registry")


registration = Registration(dialect=None, add_commands=_add_commands)
