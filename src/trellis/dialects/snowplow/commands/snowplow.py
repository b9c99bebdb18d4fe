"""`trellis snowplow`: runs of enriched events shredded into files, and loaded from there."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import WHERE, Debug, Json, option
from trellis.dialects.snowplow.commands.arguments import Registry
from trellis.dialects.snowplow.commands.shred import shred_runs, stream_runs

snowplow = typer.Typer(
    name="snowplow",
    help="Runs of enriched events: shred them into files, load those, see what is loaded.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Runs = Annotated[
    str,
    typer.Argument(metavar="DIR", help="Shredded runs: a folder of them, or one.", show_default=False),
]
To = Annotated[
    str, option("--to", metavar="DEST", panel=WHERE, help="duckdb:PATH or postgresql://USER@HOST/DATABASE.")
]
Dataset = Annotated[
    str, option("--dataset", metavar="NAME", panel=WHERE, help="Schema of the tables, default atomic.")
]


snowplow.command("shred")(shred_runs)
snowplow.command("stream")(stream_runs)


@snowplow.command("load")
def load_runs(
    place: Runs,
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Load shredded runs: tables migrate up to the versions of the run, and all its rows go in at once.

    A run that is loaded already is passed over. Ends with an error at the first run that cannot be loaded.
    """
    from trellis.dialects.snowplow.commands.runs import open_loader, print_runs

    with open_loader(to, schema, dataset) as loader:
        print_runs(loader.load(place), json)


@snowplow.command("status")
def show_status(
    place: Runs,
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show which shredded runs are loaded, which are not, and which are incomplete."""
    from trellis.dialects.snowplow.commands.runs import open_loader, print_runs

    with open_loader(to, schema, dataset) as loader:
        print_runs(loader.status(place), json)
