"""`trellis pinot`: schema documents of Pinot, and what Trellis loaded brought into a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.arguments import HOW, OUTPUT, Debug, Json, option
from trellis.dialects.pinot.commands.arguments import TableConfig, Url
from trellis.dialects.pinot.commands.deliver import deliver_dataset
from trellis.dialects.pinot.commands.infer import infer_schema
from trellis.dialects.pinot.commands.segments import build_delivered_segments, fetch_jars

pinot = typer.Typer(
    name="pinot",
    help="Check and compare schemas of Apache Pinot, and deliver data and schemas to a cluster.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
pinot.command("infer")(infer_schema)
pinot.command("deliver")(deliver_dataset)
pinot.command("segments")(build_delivered_segments)
pinot.command("jars")(fetch_jars)
File = Annotated[
    str, typer.Argument(metavar="FILE", help="Schema document of Pinot, JSON.", show_default=False)
]


@pinot.command("validate")
def validate_schema(
    file: File,
    table_config: TableConfig = None,
    pinot_jars: Annotated[
        bool,
        option("--pinot-jars", panel=HOW, help="Check by Pinot's own classes too; see `trellis pinot jars`."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a schema document: all faults, ignored keys and surprises at once.

    Ends with 2 if Pinot would refuse it. What Trellis does not implement is "unchecked": neither accepted nor
    refused; --pinot-jars leaves no transform or filter so.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.pinot.cluster.document_check import check
    from trellis.dialects.pinot.commands.inputs import table_document
    from trellis.dialects.pinot.commands.output import check_result_dict, show_check_result
    from trellis.pipelines.config import read_text

    result = check(read_text(Path(file)), file, [*map(table_document, table_config or ())], pinot_jars)
    if json:
        print_json(check_result_dict(result))
    else:
        show_check_result(result, file, console())
    if result.valid is False:
        raise typer.Exit(2)


@pinot.command("plan")
def plan_change(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Old schema document.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="New schema document.", show_default=False)],
    table_config: TableConfig = None,
    controller: Url = None,
    exit_code: Annotated[
        bool, option("--exit-code", help="End with 1 if it needs a new table.", panel=OUTPUT)
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what changes between two schemas, whether Pinot accepts it, and the commands in their order."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.pinot.cluster.http import Http
    from trellis.dialects.pinot.commands.inputs import schema_document, table_document
    from trellis.dialects.pinot.commands.output import plan_dict, show_plan
    from trellis.dialects.pinot.schema_changes.migration_plan import plan
    from trellis.dialects.pinot.table.ingestion_job import CONTROLLER

    url = Http.of(controller or CONTROLLER).url
    migration = plan(schema_document(old), schema_document(new), [*map(table_document, table_config or ())])
    if json:
        print_json(plan_dict(migration, url))
    else:
        show_plan(migration, url, console())
    if exit_code and not migration.in_place:
        raise typer.Exit(1)
