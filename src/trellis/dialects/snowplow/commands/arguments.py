"""Arguments of several commands."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from trellis.cli.arguments import HOW, WHERE, EngineArguments, Setting, Staging, option

Registry = Annotated[
    str,
    option(
        "--schema",
        metavar="REGISTRY",
        panel=WHERE,
        help="URL, store (sqlite:FILE, postgresql://...), folder of schemas, or resolver configuration file.",
    ),
]


class ShredArguments(NamedTuple):
    """Which files are written, and where."""

    schema: Registry
    out: Annotated[str, option("--out", metavar="DIR", panel=WHERE, help="Where run folders are written.")]
    format: Annotated[
        str, option("--format", metavar="NAME", panel=HOW, help="csv, parquet, orc or json; default csv.")
    ] = "csv"
    layout: Annotated[
        str,
        option(
            "--layout",
            metavar="NAME",
            panel=HOW,
            help="model (default): a table for each family, with its merged columns; version: one for each "
            "version; wide: events with their entities as columns.",
        ),
    ] = "model"
    compat: Annotated[
        bool, option("--compat", panel=HOW, help="Columns and rows as Snowplow's own code makes them.")
    ] = False
    compression: Annotated[
        str, option("--compression", metavar="NAME", panel=HOW, help="none or gzip; default none.")
    ] = "none"
    profile: Annotated[
        str | None,
        option(
            "--profile",
            metavar="NAME",
            panel=HOW,
            help="Warehouse that the files are for: redshift, postgres, spark or duckdb; default redshift "
            "for csv and for json in layout version, spark for others.",
        ),
    ] = None
    dedup: Annotated[
        str,
        option(
            "--dedup",
            metavar="NAME",
            panel=HOW,
            help="all (default): drop copies of events, and give others that share an id new ones; natural: "
            "drop copies; none.",
        ),
    ] = "all"
    dedup_store: Annotated[
        str | None,
        option(
            "--dedup-store",
            metavar="FILE|URL",
            panel=HOW,
            help="SQLite file or postgresql://... with the events of earlier runs; their copies are dropped.",
        ),
    ] = None
    option: Setting = None
    engine: EngineArguments = EngineArguments()
    staging: Staging = None


class ReplayArguments(NamedTuple):
    """How events that failed are shredded again."""

    option: Setting = None
    engine: EngineArguments = EngineArguments()
    staging: Staging = None
