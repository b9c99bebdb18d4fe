"""`trellis table`: commands with the names, options and printed forms of `yt`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import HOW, Debug, EngineArguments, Json, option
from trellis.dialects.ytsaurus.commands.arguments import (
    At,
    RowsPath,
    Source,
    SourcesCommand,
    Spec,
    TablePath,
    Target,
    parse_assignment,
    parse_map,
    parse_yson,
)
from trellis.dialects.ytsaurus.commands.nodes import add_node_commands
from trellis.dialects.ytsaurus.commands.reports import (
    open_store,
    print_blocks,
    print_report,
    standard_input,
)

tables = typer.Typer(
    name="table",
    help="Tables of YTsaurus in a folder: create, write, read, merge, sort, erase and alter them.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
add_node_commands(tables)
RowFormat = Annotated[
    str,
    option(
        "--format",
        metavar="NAME",
        panel=HOW,
        help="yson, json, dsv, schemaful_dsv, yaml, arrow, parquet or skiff.",
    ),
]


@tables.command("write-table", hidden=True)
@tables.command("write")
def write_table(
    path: RowsPath, at: At, format: RowFormat = "yson", json: Json = False, debug: Debug = False
) -> None:
    """Write the rows of standard input into a table, instead of its rows or after them."""
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.formats.row import ReadingNotes
    from trellis.dialects.ytsaurus.paths.parser import plain_path
    from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows

    parsed, notes = Format.parse(format), ReadingNotes()
    with open_store(at) as store:
        count = write_rows(store, path, parse_rows(parsed, standard_input(), notes), parsed.forms)
    print_report({"path": path, "rows": count}, "", json, notes.tell(plain_path(path)))


@tables.command("insert-rows")
def insert_rows(
    path: TablePath,
    at: At,
    format: RowFormat = "yson",
    update: Annotated[
        bool, option("--update", panel=HOW, help="Keep the columns that an inserted row does not have.")
    ] = False,
    aggregate: Annotated[
        bool, option("--aggregate", panel=HOW, help="Add to the values of columns with an aggregate.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Insert the rows of standard input by their keys, instead of the rows that have these."""
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.formats.row import ReadingNotes
    from trellis.dialects.ytsaurus.paths.parser import plain_path
    from trellis.dialects.ytsaurus.store import inserting
    from trellis.dialects.ytsaurus.store.writing import parse_rows

    parsed, notes = Format.parse(format), ReadingNotes()
    rows = parse_rows(parsed, standard_input(), notes)
    with open_store(at) as store:
        count = inserting.insert_rows(store, path, rows, parsed.forms, update=update, aggregate=aggregate)
    print_report({"path": path, "rows": count}, "", json, notes.tell(plain_path(path)))


@tables.command("read-table", hidden=True)
@tables.command("read")
def read_table(
    path: RowsPath,
    at: At,
    format: RowFormat = "<format=text>yson",
    control_attributes: Annotated[
        str | None,
        option(
            "--control-attributes",
            metavar="YSON",
            panel=HOW,
            help="Marks between rows: '{enable_row_index=%true}', enable_range_index, enable_table_index.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Print the rows of a table, or the columns and ranges that the path names."""
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.store.reading import open_source
    from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows

    parsed = Format.parse(format)
    controls = parse_map(control_attributes, "--control-attributes")
    with open_store(at) as store:
        print_blocks(format_rows(open_source(store, path), parsed, controls))


@tables.command("alter-table")
def alter_schema(
    path: TablePath,
    at: At,
    schema: Annotated[str, option("--schema", metavar="YSON", panel=HOW, help="The whole new schema.")],
    dry_run: Annotated[
        bool,
        option("--dry-run", panel=HOW, help="Print what would change, column by column; change nothing."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Change the schema of a table without its data."""
    from trellis.dialects.ytsaurus.commands.alter_report import show_plan
    from trellis.dialects.ytsaurus.store.altering import alter_table, plan_alter

    document = parse_yson(schema, "--schema")
    with open_store(at) as store:
        plan = plan_alter(store, path, document)
        if dry_run or not plan.allowed:
            show_plan(plan, json)
            if not dry_run:
                raise typer.Exit(2)
            return
        alter_table(store, path, document)
    print_report(plan.to_dict(), "", json)


@tables.command("merge", cls=SourcesCommand)
@expand_groups
def merge_tables(
    source: Source,
    target: Target,
    at: At,
    engine: EngineArguments,
    mode: Annotated[
        Literal["unordered", "ordered", "sorted", "auto"],
        option(
            "--mode",
            metavar="MODE",
            panel=HOW,
            help="unordered, ordered, sorted, or auto (default): sorted if all inputs are.",
        ),
    ] = "auto",
    spec: Spec = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Merge tables into one: one after the other, or by their keys."""
    from trellis.dialects.ytsaurus.store.operations import OperationSpec, merge
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice

    settings = OperationSpec.parse(parse_map(spec, "--spec"))
    with open_store(at) as store:
        merge(store, source, target, mode, settings, EngineChoice(*engine))
    print_report({"path": target}, "", json)


@tables.command("sort", cls=SourcesCommand)
@expand_groups
def sort_tables(
    source: Source,
    target: Target,
    at: At,
    engine: EngineArguments,
    sort_by: Annotated[
        list[str],
        option(
            "--sort-by",
            metavar="COLUMN",
            panel=HOW,
            help="A column, or '{name=k;sort_order=descending}'; again for more.",
        ),
    ],
    spec: Spec = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Sort the rows of tables."""
    from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
    from trellis.dialects.ytsaurus.store.operations import OperationSpec, sort
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice

    settings = OperationSpec.parse(parse_map(spec, "--spec"))
    items = [parse_yson(item, "--sort-by") if item.startswith("{") else item for item in sort_by]
    with open_store(at) as store:
        keys = parse_sort_columns(items, "--sort-by")
        sort(store, source, target, keys, settings, EngineChoice(*engine))
    print_report({"path": target}, "", json)


@tables.command("remote-copy")
@expand_groups
def copy_from_store(
    source: Annotated[
        list[str], option("--src", metavar="PATH", panel=HOW, help="The table that is copied.")
    ],
    target: Target,
    cluster: Annotated[
        str, option("--cluster", metavar="URL", panel=HOW, help="The store of --src, yt:FOLDER.")
    ],
    at: At,
    engine: EngineArguments,
    copy_attributes: Annotated[
        bool, option("--copy-attributes", panel=HOW, help="Copy the attributes that users set, too.")
    ] = False,
    spec: Spec = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Copy a table of another store."""
    from trellis.dialects.ytsaurus.errors import YtError
    from trellis.dialects.ytsaurus.store.operations import OperationSpec, remote_copy
    from trellis.dialects.ytsaurus.store.rewriting.engines import EngineChoice
    from trellis.dialects.ytsaurus.store.store import Store

    if len(source) != 1:
        raise YtError(f"remote copy takes exactly one table, not {len(source)}; copy one after the other")
    settings = OperationSpec.parse(parse_map(spec, "--spec"))
    with Store.open(cluster, create=False) as other, open_store(at) as store:
        remote_copy(
            store, other, source[0], target, settings, EngineChoice(*engine), copy_attributes=copy_attributes
        )
    print_report({"path": target}, "", json)


@tables.command("erase")
def erase_rows(path: RowsPath, at: At, spec: Spec = None, json: Json = False, debug: Debug = False) -> None:
    """Remove the rows of the range that the path names, or all rows."""
    from trellis.dialects.ytsaurus.store.operations import OperationSpec, erase

    with open_store(at) as store:
        erase(store, path, OperationSpec.parse(parse_map(spec, "--spec")))
    print_report({"path": path}, "", json)


@tables.command("infer")
def infer_schema(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file of rows, - for standard input; of JSON also a folder, a pattern or a URL.",
            show_default=False,
        ),
    ],
    format: RowFormat = "json",
    promote_integers: Annotated[
        bool, option("--promote-integers", panel=HOW, help="Integers beside doubles are doubles, not any.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Print a schema for rows, all of which are read, and why each column has its type."""
    from trellis.dialects.ytsaurus.commands.infer_report import open_rows, show_schema
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.formats.row import ReadingNotes
    from trellis.dialects.ytsaurus.inference.learning import learn_schema
    from trellis.dialects.ytsaurus.store.writing import errors_in_table, parse_rows

    notes, place = ReadingNotes(), "standard input" if source == "-" else source
    if format == "json" and source != "-":
        from trellis.dialects.ytsaurus.destination.proposal import survey_schema

        learned = survey_schema([source], promote_integers=promote_integers)
    else:
        with open_rows(source) as stream, errors_in_table(place):
            rows = parse_rows(Format.parse(format), stream, notes)
            learned = learn_schema(rows, promote_integers=promote_integers)
    show_schema(learned, notes.tell(place), json)


@tables.command("gc")
def collect_garbage(at: At, json: Json = False, debug: Debug = False) -> None:
    """Delete the files that no table has, such as those of writes that were killed."""
    with open_store(at) as store:
        deleted = store.collect_garbage()
    print_report({"deleted": deleted}, f"{len(deleted)} chunks deleted", json)


@tables.command("serve")
def serve_store(
    at: At,
    host: Annotated[str, option("--host", metavar="HOST", panel=HOW, help="The address to listen at.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int, option("--port", metavar="PORT", panel=HOW, help="The port to listen at; 0 is any free one.")
    ] = 8000,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            metavar="TEXT",
            envvar="TRELLIS_YT_TOKEN",
            help="What clients must send; needed where others can reach the server.",
            rich_help_panel=HOW,
            show_default=False,
        ),
    ] = "",
    cluster: Annotated[
        list[str] | None,
        option(
            "--cluster",
            metavar="NAME=URL",
            panel=HOW,
            help="A store that clients may copy tables from, by the name they call it. Repeatable.",
        ),
    ] = None,
    allow_jobs: Annotated[
        bool,
        option("--allow-jobs", panel=HOW, help="Let clients run commands here: map, reduce, map-reduce."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Serve the store to clients of YTsaurus: yt --proxy localhost:8000 ..."""
    from trellis.dialects.ytsaurus.server.http import Server

    clusters = dict(parse_assignment(item, "--cluster") for item in cluster or ())
    with Server(at, host, port, token=token, clusters=clusters, allow_jobs=allow_jobs) as server:
        server.stop_on_signals()
        typer.echo(f"{at} is served at {server.address}; use it with yt --proxy {server.address}")
        sys.stdout.flush()
        server.serve_forever()
        typer.echo("stopped")
