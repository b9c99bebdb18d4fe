"""`trellis schema plan` and `apply`: from the stored schema to one that a person edited or imported."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from trellis.cli.arguments import At, Dataset, Debug, ExitCodeIf, Json, Name, end_with, option
from trellis.cli.verbosity import is_quiet

File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="The schema as it is to be, of any format.", show_default=False),
]
Rename = Annotated[
    list[str] | None,
    option(
        "--rename",
        metavar="OLD=NEW",
        help="TABLE.COLUMN=NAME or TABLE=NAME: a new name, where the file would show one gone and one new; "
        "repeatable.",
    ),
]
Fill = Annotated[
    list[str] | None,
    option(
        "--fill",
        metavar="TABLE.COLUMN=VALUE",
        help="What rows get that have no value where the column becomes NOT NULL; repeatable.",
    ),
]


class Changes(NamedTuple):
    """What the file does not say."""

    rename: list[str]
    fill: list[str]


def plan_schema(
    file: File,
    to: At = None,
    rename: Rename = None,
    fill: Fill = None,
    sql: Annotated[bool, option("--sql", panel="Output", help="Print the statements as a script.")] = False,
    warehouse: Annotated[
        str | None,
        option(
            "--warehouse", metavar="NAME", help="Statements and costs of this warehouse; nothing is tried."
        ),
    ] = None,
    dataset: Dataset = None,
    name: Name = None,
    exit_code: ExitCodeIf = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what makes the stored schema that of FILE: each change, its statements and what they cost.

    The plan is tried on the real tables and taken back, so that it fails where `apply` would.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.cli.output.migration_report import plan_dict, script_of, show_plan
    from trellis.cli.schema_migration import SchemaMigration

    migration = SchemaMigration.of(file, to, dataset, name, Changes(rename or [], fill or []), warehouse)
    if sql:
        typer.echo(script_of(migration.plan), nl=False)
        return
    if json:
        print_json(plan_dict(migration.plan))
    else:
        show_plan(migration.plan, console())
    if warehouse is None and migration.plan.steps:
        migration.apply(dry_run=True)
    end_with(exit_code, migration.plan.steps)


def apply_schema(
    file: File,
    to: At = None,
    rename: Rename = None,
    fill: Fill = None,
    dataset: Dataset = None,
    name: Name = None,
    force: Annotated[bool, option("--force", help="Apply it although changes are breaking.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Make the stored schema and the tables what FILE says, in one commit: all of it or nothing.

    Breaking changes need --force. Columns that are gone from FILE are dropped, with their values.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.cli.output.migration_report import plan_dict, show_plan
    from trellis.cli.schema_migration import SchemaMigration

    migration = SchemaMigration.of(file, to, dataset, name, Changes(rename or [], fill or []))
    if not (json or is_quiet()):
        show_plan(migration.plan, console())
    if not force:
        migration.refuse_breaking()
    saved = migration.apply() if migration.changed else migration.plan.before
    if json:
        version = {"version": saved.stored_version, "version_hash": saved.stored_hash}
        print_json({**plan_dict(migration.plan), "schema": version})
    elif migration.changed and not is_quiet():
        typer.echo(f"\nschema {saved.name} is at version {saved.stored_version} in {migration.place} now")
