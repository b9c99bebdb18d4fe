"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer

    from trellis.evolution.dialect import Dialect


def _dialect() -> Dialect:
    from trellis.dialects.rudderstack.dialect import RudderStack

    return RudderStack()


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.rudderstack.commands.names import preview_names

    app.command("names")(preview_names)


registration = Registration(
    dialect=_dialect,
    option_example="provider=SNOWFLAKE",
    add_commands=_add_commands,
)
