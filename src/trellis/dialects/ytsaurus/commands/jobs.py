"""`trellis table map|reduce|map-reduce`: rows through commands of the shell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import HOW, Debug, EngineArguments, Json, option
from trellis.dialects.ytsaurus.commands.arguments import At, Source, SourcesCommand

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.schema.model import SortColumn
    from trellis.dialects.ytsaurus.store.jobs.job import Command

_FORMAT_HELP = "yson, json, dsv, schemaful_dsv or yaml: of the rows that commands read and write."
Targets = Annotated[
    list[str],
    option(
        "--dst", metavar="PATH", panel=HOW, help="The table that is written; again for descriptors 4 and 7."
    ),
]
JobFormat = Annotated[str, option("--format", metavar="NAME", panel=HOW, help=_FORMAT_HELP)]
ReduceBy = Annotated[
    list[str], option("--reduce-by", metavar="COLUMN", panel=HOW, help="Group rows by it; again for more.")
]
SortBy = Annotated[
    list[str] | None,
    option(
        "--sort-by", metavar="COLUMN", panel=HOW, help="Sort the rows of groups; begins with --reduce-by."
    ),
]
JoinBy = Annotated[
    list[str] | None,
    option(
        "--join-by",
        metavar="COLUMN",
        panel=HOW,
        help="Group by it, and add the rows of tables marked <foreign=%true>; again for more.",
    ),
]
JobCommand = Annotated[
    str, typer.Argument(metavar="COMMAND", help="A command of the shell.", show_default=False)
]
LocalFiles = Annotated[
    list[str] | None,
    option("--local-file", metavar="FILE", panel=HOW, help="A file that the command needs; again for more."),
]
_DEFAULT_FORMAT = "<format=text>yson"


def add_job_commands(tables: typer.Typer) -> None:
    """The commands below `trellis table`."""
    tables.command("map", cls=SourcesCommand)(map_tables)
    tables.command("reduce", cls=SourcesCommand)(reduce_tables)
    tables.command("map-reduce", cls=SourcesCommand)(map_reduce_tables)


@expand_groups
def map_tables(
    command: JobCommand,
    source: Source,
    target: Targets,
    at: At,
    engine: EngineArguments,
    format: JobFormat = _DEFAULT_FORMAT,
    local_file: LocalFiles = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Send the rows of tables through a command, in several tasks."""
    from trellis.dialects.ytsaurus.store.jobs.operations import map_rows
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
    from trellis.dialects.ytsaurus.store.store import Store

    with Store.open(at) as store:
        map_rows(store, _job(command, format, local_file), source, target, EngineChoice(*engine))
    _print_targets(target, json)


@expand_groups
def reduce_tables(
    command: JobCommand,
    source: Source,
    target: Targets,
    at: At,
    engine: EngineArguments,
    reduce_by: ReduceBy,
    sort_by: SortBy = None,
    join_by: JoinBy = None,
    format: JobFormat = _DEFAULT_FORMAT,
    local_file: LocalFiles = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Send the rows of sorted tables through a command; one task has all rows of a key, side by side."""
    from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
    from trellis.dialects.ytsaurus.store.jobs.operations import reduce_rows
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
    from trellis.dialects.ytsaurus.store.store import Store

    job, keys = _job(command, format, local_file), _keys(reduce_by, sort_by)
    joined = parse_sort_columns(join_by, "--join-by") if join_by else ()
    with Store.open(at) as store:
        reduce_rows(store, job, source, target, *keys, EngineChoice(*engine), join_by=joined)
    _print_targets(target, json)


@expand_groups
def map_reduce_tables(
    source: Source,
    target: Targets,
    at: At,
    engine: EngineArguments,
    reducer: Annotated[
        str, option("--reducer", metavar="COMMAND", panel=HOW, help="The command of the reduce.")
    ],
    reduce_by: ReduceBy,
    mapper: Annotated[
        str | None, option("--mapper", metavar="COMMAND", panel=HOW, help="The command of the map.")
    ] = None,
    sort_by: SortBy = None,
    combiner: Annotated[
        str | None,
        option("--reduce-combiner", metavar="COMMAND", panel=HOW, help="A command before the reducer."),
    ] = None,
    format: JobFormat = _DEFAULT_FORMAT,
    local_file: LocalFiles = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Send the rows of tables through a command, sort what it gives, and send that through another."""
    from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
    from trellis.dialects.ytsaurus.store.store import Store

    map_step = None if mapper is None else _job(mapper, format, local_file)
    reduce_step, keys = _job(reducer, format, local_file), _keys(reduce_by, sort_by)
    combine_step = None if combiner is None else _job(combiner, format, local_file)
    steps = map_step, reduce_step
    with Store.open(at) as store:
        map_reduce_rows(*(store, *steps, source, target, *keys, EngineChoice(*engine)), combiner=combine_step)
    _print_targets(target, json)


def _job(command: str, format: str, local_files: list[str] | None) -> Command:
    from trellis.dialects.ytsaurus.client.jobs import read_files
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.store.jobs.job import Command

    parsed = Format.parse(format)
    return Command(command, parsed, parsed, read_files(local_files))


def _keys(
    reduce_by: list[str], sort_by: list[str] | None
) -> tuple[Sequence[SortColumn], Sequence[SortColumn]]:
    from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns

    sorted_by = parse_sort_columns(sort_by, "--sort-by") if sort_by else ()
    return parse_sort_columns(reduce_by, "--reduce-by"), sorted_by


def _print_targets(targets: list[str], json: bool) -> None:
    from trellis.cli.output.console import print_json

    if json:
        print_json({"paths": targets})
