"""`trellis pinot deliver`: the folder, then the cluster, and a report of both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.arguments import HOW, OUTPUT, WHERE, At, Dataset, Debug, Json, Name, option
from trellis.dialects.pinot.commands.arguments import TableConfig, Url
from trellis.errors import UsageError


def deliver_dataset(
    out: Annotated[str, option("--out", metavar="DIR", panel=WHERE, help="Folder of the delivery.")],
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    format: Annotated[
        str, option("--format", metavar="NAME", panel=HOW, help="Data files: parquet (default) or json.")
    ] = "parquet",
    rows: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", rich_help_panel=HOW, help="Rows of a file, of which Pinot makes a segment."
        ),
    ] = 1_000_000,
    time_column: Annotated[
        str | None,
        option("--time-column", metavar="NAME", panel=HOW, help="Main time column of the tables, or none."),
    ] = None,
    schema: Annotated[
        str | None,
        option("--schema", metavar="FILE", panel=HOW, help="Pinot schema of what another dialect loaded."),
    ] = None,
    table_config: TableConfig = None,
    data: Annotated[
        str | None,
        option("--data", metavar="URI", panel=HOW, help="Where the files will be: s3://, gs://, hdfs://."),
    ] = None,
    controller: Url = None,
    dry_run: Annotated[
        bool, option("--dry-run", panel=OUTPUT, help="Write nothing; show what would be done.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the loaded rows as files for Pinot, with schema, table configs and the ingestion job.

    With --controller the schema and its tables are added or updated too, in the right order.
    """
    from trellis.cli.output.console import console, print_json, progress
    from trellis.cli.schema_store import StoredSchema
    from trellis.dialects.pinot.cluster.data_files import DataFile
    from trellis.dialects.pinot.cluster.delivery import (
        DeliverySettings,
        check_target_folder,
        delivery_of,
        table_for,
        write,
    )
    from trellis.dialects.pinot.cluster.rollout import Rollout, RolloutFailed, StepResult
    from trellis.dialects.pinot.commands.inputs import authored_files, connection
    from trellis.dialects.pinot.commands.output import delivery_dict, show_delivery, show_steps
    from trellis.dialects.pinot.stored_schema import authored_of
    from trellis.dialects.pinot.table.ingestion_job import CONTROLLER

    client, folder = connection(controller), Path(out)
    settings = DeliverySettings(format, rows, time_column, data, client.url if client else CONTROLLER)
    documents = authored_files(schema, table_config or ())
    check_target_folder(folder)
    store = StoredSchema.open(at, dataset, name)
    authored, pipeline = authored_of(store.newest), store.pipeline
    if documents is not None and authored.schema is not None:
        raise UsageError(f"--schema: {pipeline.where} holds a Pinot schema already; leave --schema out")
    table = None if documents is None else table_for(documents, store.newest)
    destination = pipeline.destination
    delivery = delivery_of(documents or authored, folder, settings, at or destination.url, table)
    count = destination.row_counts(pipeline.dataset).get(delivery.table, 0)
    files: list[DataFile] | None = None
    if not dry_run:
        with progress() as tell:
            files = write(
                delivery,
                destination,
                pipeline.dataset,
                folder,
                settings,
                lambda done: tell("writing", done, count),
            )
        count = sum(data_file.rows for data_file in files)
    if not json:
        show_delivery(delivery, folder, format, count, pipeline.where, files, console())
    steps: tuple[StepResult, ...] = ()
    try:
        if client is not None:
            rollout = Rollout(client, delivery.schema, delivery.tables, dry_run)
            steps = tuple(rollout.run())
    except RolloutFailed as failure:
        steps = failure.steps
        raise
    finally:
        if json:
            print_json(delivery_dict(delivery, folder, count, files, steps))
        elif client is not None and steps:
            show_steps(steps, client.url, console())
