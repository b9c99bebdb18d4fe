"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    import typer

    from trellis.evolution.dialect import Dialect
    from trellis.schema.documents.schema_format import SchemaFormat


def _dialect() -> Dialect:
    from trellis.dialects.rudderstack.dialect import RudderStack

    return RudderStack()


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.rudderstack.commands.names import preview_names

    app.command("names")(preview_names)


def _events(rows: int, random: Random, columns: int) -> Iterator[bytes]:
    from trellis.dialects.rudderstack.profiles.events import events

    return events(rows, random, columns)


def _many_events(rows: int, random: Random, columns: int) -> Iterator[bytes]:
    from trellis.dialects.rudderstack.profiles.events import events

    return events(rows, random, columns, names=500)


def _schema_formats() -> Sequence[SchemaFormat]:
    from trellis.dialects.rudderstack.exchange.warehouse_schema import RUDDERSTACK

    return (RUDDERSTACK,)


registration = Registration(
    dialect=_dialect,
    option_example="provider=SNOWFLAKE",
    add_commands=_add_commands,
    schema_formats=_schema_formats,
    profiles={"events": _events, "events-500": _many_events},
)
