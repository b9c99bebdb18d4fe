"""`trellis names`: what events and properties of RudderStack will be called."""

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

    Names that come out the same are marked: their rows or values would share one table or column.
    """
    from dataclasses import asdict

    from trellis.cli.commands.load import settings_of
    from trellis.cli.output.console import console, grid, indented, print_json
    from trellis.dialects.rudderstack.options import Options
    from trellis.dialects.rudderstack.preview import preview
    from trellis.errors import UsageError
    from trellis.pipelines.config import find_config

    if not events and not properties:
        raise UsageError("which names? give events, such as 'Add to Cart', or keys with --property")
    options = Options.of({**find_config(config).options, **settings_of(setting)})
    found = preview(options, events or (), properties or (), everywhere)
    if json:
        print_json({"names": [asdict(each) for each in found]})
        return
    table = grid("Warehouse", "Kind", "Given", "Name", "Column event", "Shared with", whole=("Name",))
    for each in found:
        table.add_row(
            each.provider,
            each.kind,
            repr(each.raw),
            f"{each.name} (reserved, left out)" if each.reserved else each.name or "(left out)",
            "" if each.event is None else repr(each.event),
            ", ".join(map(repr, each.shared_with)),
        )
    console().print(indented(table))
