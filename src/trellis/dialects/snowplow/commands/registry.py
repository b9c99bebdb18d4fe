"""`trellis registry`: check schemas, show their tables, suggest the number of a new version."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import HOW, OUTPUT, WHERE, Debug, Json, option

registry = typer.Typer(
    name="registry",
    help="Schemas of Snowplow: check them, see the tables they make, find the version of a change.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
At = Annotated[
    str,
    option(
        "--at",
        metavar="REGISTRY",
        panel=WHERE,
        help="URL, folder of schemas (VENDOR/NAME/FORMAT/VERSION), or resolver configuration file.",
    ),
]
Folder = Annotated[
    str, option("--at", metavar="FOLDER", panel=WHERE, help="Folder of schemas, VENDOR/NAME/FORMAT/VERSION.")
]
AssumeOrder = Annotated[
    bool,
    option(
        "--assume-schemaver-order",
        panel=HOW,
        help="Order versions by number where their order is not known; columns may then be in another order "
        "than in your tables.",
    ),
]


@registry.command("lint")
def lint_schemas(
    at: Folder,
    skip: Annotated[
        list[str] | None,
        option(
            "--skip", metavar="LINTER", panel=HOW, help="A linter of warnings to leave out; again for more."
        ),
    ] = None,
    info: Annotated[bool, option("--info", panel=OUTPUT, help="List remarks of level INFO, too.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Check every schema of a folder. Ends with 1 if one has an error that keeps it from being published."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.client.folder import FolderRegistry
    from trellis.dialects.snowplow.commands.lint import lint_folder

    report = lint_folder(FolderRegistry.open(at), skip or ())
    if json:
        print_json(report.to_dict())
    else:
        report.show(console(), with_info=info)
    if report.count("ERROR"):
        raise typer.Exit(1)


@registry.command("ddl")
def show_ddl(
    at: At,
    target: Annotated[
        str, option("--target", metavar="NAME", panel=HOW, help="Warehouse: redshift, postgres or spark.")
    ],
    schemas: Annotated[
        str | None,
        typer.Argument(
            metavar="SCHEMA",
            help="com.acme/event, or com.acme/event/1-1-0 for its versions until that one; default all.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        option("--from", metavar="VERSION", panel=HOW, help="Show the scripts from this version instead."),
    ] = None,
    dataset: Annotated[
        str, option("--dataset", metavar="NAME", panel=HOW, help="Schema of the tables, default atomic.")
    ] = "atomic",
    compat: Annotated[
        bool, option("--compat", panel=HOW, help="Repeat what Snowplow's own tools do wrong.")
    ] = False,
    assume_order: AssumeOrder = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the statements that create the tables of schemas, or bring them to a later version."""
    from trellis.cli.output.console import print_json
    from trellis.dialects.snowplow.client.locator import open_registry
    from trellis.dialects.snowplow.client.selection import Selection, parse_version
    from trellis.dialects.snowplow.columns.profiles import get_profile
    from trellis.dialects.snowplow.commands.ddl import Rendering
    from trellis.errors import UsageError

    source = open_registry(at, assume_order=assume_order)
    rendering = Rendering(get_profile(target), dataset, compat)
    selection = Selection.parse(schemas) if schemas else Selection()
    families = selection.read(source)
    if schemas and not families:
        raise selection.unknown(source)
    tables = rendering.tables(families)
    scripts = [*rendering.scripts(families.values(), parse_version(start))] if start else []
    if start and not scripts:
        raise UsageError(f"--from: none of these schemas has a version {start}")
    if json:
        print_json(rendering.to_dict(tables, scripts))
    else:
        typer.echo("\n".join(report.sql for report in (scripts if start else tables)), nl=False)


@registry.command("suggest")
def suggest_number(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The new schema.", show_default=False)],
    at: At,
    profile: Annotated[
        list[str] | None,
        option(
            "--profile",
            metavar="NAME",
            panel=HOW,
            help="Warehouse whose tables count: redshift, postgres or spark; again for more; default "
            "redshift and spark.",
        ),
    ] = None,
    base: Annotated[
        str | None,
        option("--from", metavar="VERSION", panel=HOW, help="Version to compare with, default the greatest."),
    ] = None,
    assume_order: AssumeOrder = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the smallest version that the changes of a schema may have, and say why."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.suggest import SuggestionReport

    report = SuggestionReport.of(file, at, profile, base, assume_order=assume_order)
    if json:
        print_json(report.to_dict())
    else:
        report.show(console())
