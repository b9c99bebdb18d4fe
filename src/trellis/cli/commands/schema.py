"""`trellis schema`: look at schemas, compare them, carry them from place to place."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import (
    At,
    Dataset,
    Debug,
    ExitCode,
    ExitCodeCommand,
    ExitCodeIf,
    Json,
    Name,
    end_with,
    option,
)
from trellis.cli.commands.schema_documents import convert_schema, export_schema, import_schema
from trellis.cli.commands.schema_migration import apply_schema, plan_schema

schemas = typer.Typer(
    name="schema",
    help="Show, compare, export, import, convert and check schemas, in a destination or in a file.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
File = Annotated[
    str | None, typer.Argument(metavar="FILE", help="Schema document; or use --to.", show_default=False)
]
Side = Annotated[
    str | None,
    typer.Argument(
        metavar="B", help="File or version number; default the newest at --to.", show_default=False
    ),
]


@schemas.command("show")
def show_schema(
    file: File = None,
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    table: Annotated[
        list[str] | None, option("--table", metavar="NAME", help="Only this table; repeatable.")
    ] = None,
    yaml: Annotated[bool, option("--yaml", help="Print the document as YAML.", panel="Output")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the tables of a schema with their columns, types and hints."""
    from trellis.cli.output.console import console
    from trellis.cli.output.schema_report import show
    from trellis.cli.schema_store import schema_at
    from trellis.schema.documents.document import to_json, to_yaml

    schema = schema_at(file, at, dataset, name)
    if table:
        from trellis.exchange.export import user_tables

        schema = user_tables(schema, table)
    if json:
        typer.echo(to_json(schema))
    elif yaml:
        typer.echo(to_yaml(schema), nl=False)
    else:
        show(schema, console())


@schemas.command("history")
def show_history(
    at: At = None,
    table: Annotated[
        str | None, option("--table", metavar="NAME", help="Only changes of this table.")
    ] = None,
    column: Annotated[
        str | None, option("--column", metavar="NAME", help="Only changes of columns of this name.")
    ] = None,
    dataset: Dataset = None,
    name: Name = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what changed a schema: version, time, load, and the file and line that each change came from."""
    from trellis.cli.output.console import console, print_json
    from trellis.cli.output.schema_report import show_versions
    from trellis.cli.schema_store import StoredSchema

    store = StoredSchema.open(at, dataset, name)
    versions = [version.about(table, column) for version in store.versions()]
    if table or column:
        versions = [version for version in versions if version.changes]
    if json:
        print_json({"schema": store.name, "versions": [version.to_dict() for version in versions]})
    else:
        show_versions(store.name, versions, console())


@schemas.command("diff", cls=ExitCodeCommand)
def diff_schemas(
    a: Annotated[
        str, typer.Argument(metavar="A", help="File, or version number at --to.", show_default=False)
    ],
    b: Side = None,
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    exit_code: ExitCodeIf = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what changes from A to B, and which changes are breaking.

    A change is breaking if data or readers that were right before may not be any more.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.cli.output.schema_report import change_dict, show_difference
    from trellis.cli.schema_store import sides
    from trellis.pipelines.datasets.schema_history import difference

    before, after = sides(a, b, at, dataset, name)
    changes = difference(before, after)
    if json:
        print_json({"changes": [change_dict(change) for change in changes]})
    else:
        show_difference(changes, console())
    end_with(exit_code, changes)


@schemas.command("drift")
def show_drift(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Document to compare with too, default the stored schema.",
            show_default=False,
        ),
    ] = None,
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    exit_code: ExitCode = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show where the tables of a destination are not what the schema says.

    Each difference comes with what the next load does about it. Nothing is changed.
    """
    from trellis.cli.commands.drift_report import SchemaDrift
    from trellis.cli.output.console import console, print_json

    compared = SchemaDrift.of(file, at, dataset, name)
    if json:
        print_json(compared.to_dict())
    else:
        compared.show(file, console())
    if compared and exit_code:
        raise typer.Exit(1)


schemas.command("export")(export_schema)
schemas.command("import")(import_schema)
schemas.command("convert")(convert_schema)
schemas.command("plan", cls=ExitCodeCommand)(plan_schema)
schemas.command("apply")(apply_schema)


@schemas.command("lint")
def lint_schemas(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Schema documents.", show_default=False)],
    debug: Debug = False,
) -> None:
    """Check schema documents: every fault with its file, line and key, and the nearest right key."""
    from trellis.cli.schema_store import lint

    if not lint(files):
        raise typer.Exit(2)
