"""`trellis snowplow`: runs of enriched events shredded into files, and loaded from there."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import HOW, WHERE, Debug, Engine, Json, Master, Remote, Setting, option

snowplow = typer.Typer(
    name="snowplow",
    help="Runs of enriched events: shred them into files, load those, see what is loaded.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Registry = Annotated[
    str,
    option(
        "--schema",
        metavar="REGISTRY",
        panel=WHERE,
        help="URL, folder of schemas, or resolver configuration file.",
    ),
]

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
        help="What of a table is compared before a load: count (default), its columns; definition, also "
        "their types and places.",
    ),
]


@snowplow.command("shred")
def shred_runs(
    source: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A run=... folder, or a folder of them.", show_default=False),
    ],
    schema: Registry,
    out: Annotated[str, option("--out", metavar="DIR", panel=WHERE, help="Where run folders are written.")],
    format: Annotated[
        str, option("--format", metavar="NAME", panel=HOW, help="csv, parquet or orc; default csv.")
    ] = "csv",
    compression: Annotated[
        str, option("--compression", metavar="NAME", panel=HOW, help="none or gzip; default none.")
    ] = "none",
    profile: Annotated[
        str | None,
        option(
            "--profile",
            metavar="NAME",
            panel=HOW,
            help="Warehouse that the files are for: redshift, postgres, spark or duckdb; default redshift "
            "for csv, spark for others.",
        ),
    ] = None,
    dedup: Annotated[
        str,
        option(
            "--dedup",
            metavar="NAME",
            panel=HOW,
            help="all (default): drop copies of events, and give others that share an id new ones; natural: "
            "drop copies; none.",
        ),
    ] = "all",
    dedup_store: Annotated[
        str | None,
        option(
            "--dedup-store",
            metavar="FILE",
            panel=HOW,
            help="SQLite file with the events of earlier runs; their copies are dropped.",
        ),
    ] = None,
    settings: Setting = None,
    engine: Engine = None,
    master: Master = None,
    remote: Remote = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Shred runs of enriched events into files of rows, one folder for each run.

    A folder appears when it is complete. Runs that are there already are passed over.
    """
    from trellis.cli.output.console import console, print_json, progress
    from trellis.cli.output.load_report import show
    from trellis.dialects.snowplow.commands.shred import open_shredder

    with progress() as tell:
        spark = (engine, master, remote)
        shredder = open_shredder(
            schema, out, format, compression, profile, dedup, dedup_store, settings, spark, tell
        )
        reports = shredder.shred(source)
    if json:
        print_json({"runs": [report.to_dict() for report in reports]})
        return
    for report in reports:
        show(report, [source], console())


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
    from trellis.dialects.snowplow.commands.runs import open_loader, print_runs

    with open_loader(to, schema, dataset, verify, retries) as loader:
        print_runs(loader.load(place), json)


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
    from trellis.dialects.snowplow.commands.runs import open_loader, print_runs

    with open_loader(to, schema, dataset) as loader:
        print_runs(loader.status(place, since, until), json)
