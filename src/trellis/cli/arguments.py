"""The arguments that several commands share, each with its help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple, get_args

import typer

from trellis.destinations import DEFAULT_DESTINATION
from trellis.destinations import registrations as destinations
from trellis.dialects import DEFAULT_DIALECT, registrations
from trellis.dialects import names as dialects
from trellis.evolution.contract import MODES
from trellis.evolution.table_writes import Mode as MergeMode
from trellis.evolution.table_writes import Strategy as MergeStrategy

debug: set[str] = set()  # not empty: show tracebacks


def _debug(value: bool) -> bool:
    if value:
        debug.add("--debug")
    return value


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    panel: str | None = None,
    choices: Sequence[str] = (),
) -> typer.models.OptionInfo:
    """An option; `choices` are values that a shell completes."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    info: typer.models.OptionInfo = typer.Option(
        *names,
        help=help,
        metavar=metavar,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=complete if choices else None,
    )
    return info


WHERE = "Where to"
HOW = "How"
STREAM = "Stream"
ENGINE = "Engine"
OUTPUT = "Output"

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Files, folders or patterns, local or s3://, gs://, abfs://, hdfs://: JSON lines or arrays "
        "(also .gz, .zst, .bz2), Parquet, or what Spark reads: .csv, .tsv, .xml, .avro, .orc, table:NAME.",
    ),
]
Format = Annotated[
    str | None,
    option(
        "--format",
        metavar="NAME",
        panel=HOW,
        help="Format of the sources, where their names do not show it: csv, tsv, xml, avro, orc, text, "
        "delta, iceberg, table, jdbc, or any other format of Spark's.",
    ),
]
ReadOption = Annotated[
    list[str] | None,
    option(
        "--read-option",
        metavar="NAME=VALUE",
        panel=HOW,
        help="An option of Spark's reader for the format, such as sep=';' or inferSchema=true; repeatable.",
    ),
]
To = Annotated[
    str | None,
    option(
        "--to",
        metavar="DEST",
        panel=WHERE,
        help=f"Destination: {', '.join(destination.url_form for destination in destinations().values())}; "
        f"default {DEFAULT_DESTINATION}.",
    ),
]
Dataset = Annotated[
    str | None, option("--dataset", metavar="NAME", panel=WHERE, help="Dataset (schema) in the destination.")
]
Name = Annotated[
    str | None,
    option(
        "--name",
        metavar="NAME",
        panel=WHERE,
        help="Name of the schema, default after the destination: shop for duckdb:shop.duckdb.",
    ),
]
Table = Annotated[
    str | None,
    option("--table", metavar="NAME", panel=WHERE, help="Root table, default the name of the first file."),
]
OnlyTable = Annotated[
    list[str] | None,
    option(
        "--only-table",
        metavar="NAME",
        panel=HOW,
        help="Load the rows of this table alone, such as one that failed; repeatable.",
    ),
]
Dialect = Annotated[
    str | None,
    option(
        "--dialect",
        metavar="NAME",
        panel=HOW,
        help=f"Schema language: {', '.join(dialects())}; default {DEFAULT_DIALECT}.",
        choices=dialects(),
    ),
]
Mode = Annotated[
    str | None,
    option(
        "--mode",
        metavar="MODE",
        panel=HOW,
        help="append (default), replace or merge; applies until it is changed.",
        choices=get_args(MergeMode),
    ),
]
Strategy = Annotated[
    str | None,
    option(
        "--strategy",
        metavar="NAME",
        panel=HOW,
        help="How to merge: delete-insert (default), upsert, insert-only or scd2.",
        choices=get_args(MergeStrategy),
    ),
]
Key = Annotated[
    list[str] | None,
    option("--key", metavar="COLUMN", panel=HOW, help="Column of the primary key to merge by; repeatable."),
]
MergeKey = Annotated[
    list[str] | None,
    option(
        "--merge-key",
        metavar="COLUMN",
        panel=HOW,
        help="Column of the merge key: rows that share it are replaced together; repeatable.",
    ),
]
SchemaFile = Annotated[
    str | None,
    option("--schema", metavar="FILE", panel=HOW, help="Schema document (YAML or JSON) to start from."),
]
Contract = Annotated[
    str | None,
    option(
        "--contract",
        metavar="MODE|FILE",
        panel=HOW,
        help="What may change: evolve, freeze, discard_row or discard_value; "
        "'columns=freeze,data_type=discard_value'; or a YAML file.",
        choices=MODES,
    ),
]
_EXAMPLES = [
    f"{registration.option_example} ({name})"
    for name, registration in registrations().items()
    if registration.option_example
]
Setting = Annotated[
    list[str] | None,
    option(
        "--option",
        metavar="NAME=VALUE",
        panel=HOW,
        help=f"An option of the dialect{', such as ' if _EXAMPLES else ''}{' or '.join(_EXAMPLES)}; "
        "repeatable.",
    ),
]
ConfigFile = Annotated[
    str | None,
    option("--config", metavar="FILE", panel=HOW, help="Settings, default ./trellis.yaml if it is there."),
]
NewOnly = Annotated[
    bool,
    option(
        "--new-only",
        panel=HOW,
        help="Load only files that no load with this option brought into the table yet.",
    ),
]
ReloadChanged = Annotated[
    bool,
    option(
        "--reload-changed",
        panel=HOW,
        help="With --new-only: load files again that changed since they were loaded.",
    ),
]
MaxRejected = Annotated[
    str | None,
    option(
        "--max-rejected",
        metavar="N|N%",
        panel=HOW,
        help="Fail if more records than this are rejected, default only if all are.",
    ),
]
LoadId = Annotated[
    str | None,
    option(
        "--load-id",
        metavar="ID",
        panel=HOW,
        help="Id of this load; an id that was loaded before is not loaded again.",
    ),
]
Engine = Annotated[
    str | None,
    option(
        "--engine",
        metavar="NAME",
        panel=ENGINE,
        help="spark (default), or inline: in this process, without a JVM.",
        choices=("spark", "inline"),
    ),
]
Master = Annotated[
    str | None,
    option(
        "--master",
        metavar="URL",
        panel=ENGINE,
        help="Spark master, such as local[4] or yarn.",
    ),
]
Staging = Annotated[
    str | None,
    option(
        "--staging",
        metavar="DIR|URL",
        panel=ENGINE,
        help="Where rows wait for their commit, default beside the destination; all workers must reach it.",
    ),
]
Remote = Annotated[
    str | None,
    option("--remote", metavar="URL", panel=ENGINE, help="Spark Connect server, such as sc://host."),
]
Payload = Annotated[
    str | None,
    option(
        "--payload",
        metavar="COLUMN",
        panel=HOW,
        help="The column that holds the records as JSON; of a topic it is value.",
    ),
]
KafkaColumn = Annotated[
    list[str] | None,
    option(
        "--kafka-column",
        metavar="NAME",
        panel=HOW,
        help="What is loaded of a topic beside the values: topic, partition, offset, timestamp, key or "
        "headers; give it again for more.",
    ),
]
Trigger = Annotated[
    str | None,
    option(
        "--trigger",
        metavar="WHEN",
        panel=STREAM,
        help="available-now: load what is there and end; or the time between batches, default '10 seconds'.",
    ),
]
Checkpoint = Annotated[
    str | None,
    option(
        "--checkpoint",
        metavar="DIR|URL",
        panel=STREAM,
        help="Where Spark keeps how far the stream is, default beside the destination; the whole "
        "cluster must reach it.",
    ),
]
OnViolation = Annotated[
    str | None,
    option(
        "--on-violation",
        metavar="stop|quarantine",
        panel=STREAM,
        help="What a record does that breaks a contract: stop the stream (default), or go to the discards.",
    ),
]


class EngineArguments(NamedTuple):
    """Where the tasks of a command run."""

    engine: Engine = None
    master: Master = None
    remote: Remote = None


At = Annotated[
    str | None,
    option("--at", metavar="DEST", panel=WHERE, help="Destination, such as duckdb:shop.duckdb."),
]
Json = Annotated[bool, option("--json", panel=OUTPUT, help="Print one JSON object and nothing else.")]
ExitCode = Annotated[bool, option("--exit-code", panel=OUTPUT, help="End with 1 if there are differences.")]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_debug,
        is_eager=True,
        show_default=False,
        rich_help_panel=OUTPUT,
        help="Show the whole traceback of an error.",
    ),
]
