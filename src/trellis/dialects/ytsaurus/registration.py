"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.ytsaurus.commands.table import tables

    app.add_typer(tables, name="table")


registration = Registration(dialect=None, add_commands=_add_commands)
"""The YTsaurus dialect: tables with schemas, and their operations."""
