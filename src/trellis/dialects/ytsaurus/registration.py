"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer

    from trellis.schema.documents.schema_format import SchemaFormat


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.ytsaurus.commands.table import tables

    app.add_typer(tables, name="table")


def _schema_formats() -> Sequence[SchemaFormat]:
    from trellis.dialects.ytsaurus.exchange import YTSAURUS

    return (YTSAURUS,)


registration = Registration(dialect=None, add_commands=_add_commands, schema_formats=_schema_formats)
"""The YTsaurus dialect: tables with schemas, and their operations."""
