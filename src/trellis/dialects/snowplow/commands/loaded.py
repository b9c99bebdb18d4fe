"""`trellis snowplow verify`, `adopt`, `replay`, `archive` and `script`: what is loaded, and its tables."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import HOW, WHERE, Debug, Json, option
from trellis.dialects.snowplow.commands.arguments import Registry, ReplayArguments
from trellis.dialects.snowplow.commands.snowplow import Dataset, Runs, To, Verify, snowplow

__all__ = ["snowplow"]

TableName = Annotated[str, typer.Argument(metavar="TABLE", help="A table.", show_default=False)]


@snowplow.command("verify")
def verify_tables(
    schema: Registry,
    to: To,
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="TABLE", help="Tables; default all that are of schemas.", show_default=False),
    ] = None,
    dataset: Dataset = "atomic",
    compat: Annotated[
        bool,
        option("--compat", panel=HOW, help="Expect columns as Snowplow's own code makes them."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare tables with their schemas: names, types and places of columns, and the version.

    Ends with 1 if a table was altered, or its version is not known.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.runs import open_loader
    from trellis.dialects.snowplow.commands.tables import show_statuses
    from trellis.dialects.snowplow.runs.loading.inspection import TableInspector, altered_tables

    with open_loader(to, schema, dataset, read_only=True) as loader:
        inspector = TableInspector(loader.warehouse, loader.registry, dataset, compat)
        statuses = inspector.inspect(tables or ())
    if json:
        print_json({"tables": [status.to_dict() for status in statuses]})
    else:
        show_statuses(statuses, console())
    if altered_tables(statuses):
        raise typer.Exit(1)


@snowplow.command("adopt")
def adopt_table(
    table: TableName,
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    version: Annotated[
        str,
        option("--version", metavar="VERSION", panel=HOW, help="The last version whose columns it has."),
    ] = "",
    column: Annotated[
        list[str] | None,
        option(
            "--column",
            metavar="POINTER=NAME",
            panel=HOW,
            help="The column of a property, such as /berth=dock; again for more.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, option("--dry-run", panel=HOW, help="Show the overlay and the comment; change nothing.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Let loads go on with a table that was made by hand or by another generator.

    Stores in the registry how its columns differ, and sets its comment. Ends with 1, and changes nothing,
    where a column cannot be adopted.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.tables import adopt, show_adoption

    adoption = adopt(table, schema, to, dataset, version, column or (), dry_run=dry_run)
    if json:
        print_json(adoption.to_dict())
    else:
        show_adoption(adoption, console(), dry_run=dry_run)
    if adoption.obstacles:
        raise typer.Exit(1)


@snowplow.command("replay")
@expand_groups
def replay_events(
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    reason: Annotated[
        str, option("--reason", metavar="NAME", panel=HOW, help="Events of one reason alone.")
    ] = "",
    of_schema: Annotated[
        str, option("--of-schema", metavar="URI", panel=HOW, help="Events of one schema alone.")
    ] = "",
    *,
    arguments: ReplayArguments,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Load the events that failed before and are good now, each once.

    They are in the table failed_events, with the reason and the schema.
    """
    from trellis.cli.output.console import console, print_json, quiet_children
    from trellis.dialects.snowplow.commands.runs import open_loader
    from trellis.dialects.snowplow.commands.tables import open_replayer, show_replay

    with quiet_children(debug), open_loader(to, schema, dataset) as loader:
        replayer = open_replayer(loader, schema, arguments)
        report = replayer.replay(reason, of_schema)
    if json:
        print_json(report.to_dict())
    else:
        show_replay(report, console())


@snowplow.command("archive")
def archive_loaded_runs(
    place: Runs,
    into: Annotated[str, option("--into", metavar="DIR", panel=WHERE, help="Where runs are moved.")],
    schema: Registry,
    to: To,
    dataset: Dataset = "atomic",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Move the runs that are loaded into another folder, from which they load again elsewhere."""
    from pathlib import Path

    from trellis.cli.output.console import print_reports
    from trellis.dialects.snowplow.commands.runs import open_loader
    from trellis.dialects.snowplow.commands.tables import show_archived
    from trellis.dialects.snowplow.runs.loading.archive import archive_runs

    with open_loader(to, schema, dataset, read_only=True) as loader:
        print_reports("runs", archive_runs(loader, place, Path(into)), json, show_archived)


@snowplow.command("script")
def write_script(
    place: Runs,
    schema: Registry,
    stage: Annotated[
        str, option("--stage", metavar="URL", panel=WHERE, help="Where the runs are in S3: s3://BUCKET/PATH.")
    ],
    role: Annotated[
        str, option("--iam-role", metavar="ARN", panel=WHERE, help="Role that may read the files.")
    ],
    catalog: Annotated[
        str | None,
        option(
            "--catalog",
            metavar="FILE",
            panel=HOW,
            help="The tables that are there, as CSV (see docs/snowplow-warehouse.md); default none.",
        ),
    ] = None,
    dataset: Dataset = "atomic",
    verify: Verify = "count",
    max_errors: Annotated[
        int, option("--max-errors", metavar="N", panel=HOW, help="Rows that COPY may leave out, default 10.")
    ] = 10,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the statements that load runs into Redshift. Nothing is run."""
    from trellis.cli.output.console import print_json
    from trellis.dialects.snowplow.commands.tables import redshift_scripts

    scripts = redshift_scripts(place, schema, stage, role, catalog, dataset, verify, max_errors)
    if json:
        print_json({"runs": [{"run": run, "sql": sql} for run, sql in scripts.items()]})
    else:
        typer.echo("\n".join(scripts.values()), nl=False)
