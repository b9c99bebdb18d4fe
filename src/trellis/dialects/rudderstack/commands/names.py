"""`trellis names`: the names of tables and columns for events and properties of RudderStack."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import ConfigFile, Debug, Json, Setting, option


def preview_names(
    events: Annotated[
        list[str] | None, typer.Argument(metavar="EVENT", help="Names of track events.", show_default=False)
    ] = None,
    properties: Annotated[
        list[str] | None,
        option("--property", metavar="KEY", help="A property; a.b is key b of object a. May be given again."),
    ] = None,
    everywhere: Annotated[
        bool, option("--all", help="In every warehouse, not just in that of --option provider=NAME.")
    ] = False,
    setting: Setting = None,
    config: ConfigFile = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Preview the tables of events and the columns of properties, before anything is sent.

    Equal names are marked: their rows or values would share one table or column.
    """
    from dataclasses import asdict

    from trellis.cli.commands.load import settings_of
    from trellis.cli.output.console import console, grid, indented, print_json
    from trellis.dialects.rudderstack.identifiers.preview import preview
    from trellis.dialects.rudderstack.options import Options
    from trellis.errors import UsageError
    from trellis.pipelines.config import find_config

    if not events and not properties:
        raise UsageError("missing names: give events, such as 'Add to Cart', or keys with --property")
    options = Options.of({**find_config(config).options, **settings_of(setting)})
    previews = preview(options, events or (), properties or (), everywhere)
    if json:
        print_json({"names": [asdict(entry) for entry in previews]})
        return
    table = grid("Warehouse", "Kind", "Given", "Name", "Column event", "Shared with", whole=("Name",))
    for entry in previews:
        table.add_row(
            entry.provider,
            entry.kind,
            repr(entry.raw),
            f"{entry.name} (reserved, left out)" if entry.reserved else entry.name or "(left out)",
            "" if entry.event is None else repr(entry.event),
            ", ".join(map(repr, entry.shared_with)),
        )
    console().print(indented(table))
