"""`trellis snowplow`: runs of enriched events shredded into files, and loaded from there."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import HOW, WHERE, Debug, Json, option
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
    str,
    option(
        "--to",
        metavar="DEST",
        panel=WHERE,
        help="duckdb:PATH, delta:PATH or postgresql://USER@HOST/DATABASE.",
    ),
]
Dataset = Annotated[
    str, option("--dataset", metavar="NAME", panel=WHERE, help="Schema of the tables, default atomic.")
]
Verify = Annotated[
    str,
    option(
        "--verify",
        metavar="NAME",
        panel=HOW,
        help="What of a table is compared before a load: count (default), its columns, and that they keep "
        "all values; definition, also their types and places.",
    ),
]


snowplow.command("shred")(shred_runs)
snowplow.command("stream")(stream_runs)


@snowplow.command("load")
def load_runs(
    place: Runs,
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    verify: Verify = "count",
    retries: Annotated[
        int,
        option(
            "--retries",
            metavar="N",
            panel=HOW,
            help="Attempts after the first where the warehouse is out of reach or locked, after 30 s, 60 s "
            "and so on; default 3.",
        ),
    ] = 3,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Load shredded runs: tables migrate up to the versions of the run, and all its rows go in at once.

    A run that is loaded already is passed over. Ends with an error at the first run that cannot be loaded.
    """
    from trellis.cli.output.console import print_reports
    from trellis.dialects.snowplow.commands.runs import open_loader, show_loaded
    from trellis.dialects.snowplow.runs.manifest import find_runs

    find_runs(place)  # before a warehouse is made, or waited for
    with open_loader(to, schema, dataset, verify, retries, missing="make") as loader:
        print_reports("runs", loader.load(place), json, show_loaded)


@snowplow.command("status")
def show_status(
    place: Runs,
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    since: Annotated[
        str, option("--since", metavar="TIME", panel=HOW, help="Runs that are later, such as 2031-04-05.")
    ] = "",
    until: Annotated[str, option("--until", metavar="TIME", panel=HOW, help="Runs that are earlier.")] = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show which shredded runs are loaded, which are not, and which are incomplete."""
    from trellis.cli.output.console import print_reports
    from trellis.dialects.snowplow.commands.runs import open_loader, show_states
    from trellis.dialects.snowplow.runs.manifest import find_runs

    find_runs(place)
    with open_loader(to, schema, dataset, read_only=True, missing="empty") as loader:
        print_reports("runs", loader.status(place, since, until), json, show_states)
