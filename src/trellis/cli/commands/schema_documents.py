"""`trellis schema export`, `import` and `convert`: schemas as documents, of Trellis and of other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import At, Dataset, Debug, Json, Name, option
from trellis.cli.verbosity import is_quiet, tell

Out = Annotated[
    str | None,
    option("--out", metavar="FILE|DIR/", panel="Output", help="File or folder to write, default stdout."),
]
Tables = Annotated[
    list[str] | None, option("--table", metavar="NAME", help="Only this table; repeatable. Default all.")
]
FORMAT_HELP = (
    "yaml, json, json-schema, spark, spark-ddl, avro, arrow, iceberg, sql:WAREHOUSE, dbt, odcs, mermaid, dbml"
)


def export_schema(
    to: At = None,
    format: Annotated[
        str | None,
        option("--format", metavar="NAME", help=f"{FORMAT_HELP}; default as FILE ends, else yaml."),
    ] = None,
    out: Out = None,
    table: Tables = None,
    declared_only: Annotated[
        bool, option("--declared-only", help="Leave out variant columns and processing hints (x-normalizer).")
    ] = False,
    version: Annotated[
        int | None, option("--version", metavar="N", help="This stored version; default the newest.")
    ] = None,
    dataset: Dataset = None,
    name: Name = None,
    debug: Debug = False,
) -> None:
    """Write the schema of a destination: as YAML, to be edited and imported again, or for another program.

    What the format does not say of the schema is listed by `trellis schema convert --at DEST --to NAME`.
    """
    from trellis.cli.schema_files import output_format, write_documents
    from trellis.cli.schema_store import StoredSchema
    from trellis.exchange.export import documents_of, user_tables
    from trellis.schema.documents.document import declared

    target = output_format(format, out)
    store = StoredSchema.open(to, dataset, name)
    schema = store.newest if version is None else store.version(version)
    store.refuse_unknown_tables(schema, table or ())
    chosen = schema if target.bookkeeping and not table else user_tables(schema, table or ())
    documents = documents_of(declared(chosen) if declared_only else chosen, target)
    for path in write_documents(documents, out, target):
        tell(f"schema {schema.name}, version {schema.stored_version}, is in {path}")


def convert_schema(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Schema document; or use --at.", show_default=False)
    ] = None,
    source: Annotated[
        str | None,
        option("--from", metavar="FORMAT", help="Format of FILE, where it does not show it."),
    ] = None,
    to: Annotated[
        str | None,
        option(
            "--to", metavar="FORMAT", help=f"{FORMAT_HELP}, or a dialect; default as the --out file ends."
        ),
    ] = None,
    at: Annotated[
        str | None, option("--at", metavar="DEST", help="Convert the stored schema of this destination.")
    ] = None,
    out: Out = None,
    table: Tables = None,
    dataset: Dataset = None,
    name: Name = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a schema in another language, and list what that language does not say, with the reason.

    Columns that a dialect keeps for itself are left out.
    """
    from trellis.cli.output.console import error_console, print_json
    from trellis.cli.output.schema_report import show_losses
    from trellis.cli.schema_files import output_format, read_schema, write_documents
    from trellis.cli.schema_store import schema_at
    from trellis.exchange.export import documents_of, user_tables
    from trellis.exchange.losses import losses_of
    from trellis.schema.documents.schema_format import Reading

    target = output_format(to, out)
    if file is not None and at is None:
        reading = read_schema(file, source)
    else:
        reading = Reading(schema_at(file, at, dataset, name))
    chosen = user_tables(reading.schema, table or (), system_columns=False)
    documents = documents_of(chosen, target)
    losses = (*reading.losses, *losses_of(chosen, target))
    if json:
        texts = {name: text for name, text in documents.items() if isinstance(text, str)}
        print_json({"documents": texts, "losses": [loss.to_dict() for loss in losses]})
        return
    for path in write_documents(documents, out, target):
        tell(f"schema {chosen.name} is in {path}")
    if not is_quiet():
        show_losses(losses, target.title, error_console())


def import_schema(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Schema document: of Trellis, JSON Schema, ODCS, StructType, Avro or a dialect.",
            show_default=False,
        ),
    ],
    to: At = None,
    format: Annotated[
        str | None, option("--format", metavar="NAME", help="Format of FILE, where it does not show it.")
    ] = None,
    contract: Annotated[
        str | None,
        option(
            "--contract", metavar="MODE|FILE", help="The contract of the tables, in place of that of FILE."
        ),
    ] = None,
    dataset: Dataset = None,
    name: Name = None,
    force: Annotated[bool, option("--force", help="Import it although changes are breaking.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Make a schema document the newest version in a destination, and create its tables.

    What it changes is shown first; breaking changes need --force. No rows are touched.
    """
    from trellis.cli.output.console import console, error_console, print_json
    from trellis.cli.output.schema_report import change_dict, show_difference, show_losses
    from trellis.cli.schema_files import read_schema
    from trellis.cli.schema_store import StoredSchema, imported, refuse_breaking, with_contract
    from trellis.cli.settings import contract_of

    store = StoredSchema.open(to, dataset, name, empty=True)
    reading = read_schema(file, format)
    schema = with_contract(reading.schema, contract_of(contract))
    after, changes = imported(store, file, schema)
    if not (json or is_quiet()):
        show_losses(reading.losses, "Trellis", error_console())
        show_difference(changes, console())
    if not force:
        refuse_breaking(file, changes)
    saved = store.pipeline.save_schema(after, origin=file) if changes else after
    if json:
        version = {"version": saved.stored_version, "version_hash": saved.stored_hash}
        losses = [loss.to_dict() for loss in reading.losses]
        print_json({"changes": [change_dict(c) for c in changes], "losses": losses, "schema": version})
    elif changes and not is_quiet():
        where = store.pipeline.destination.url
        typer.echo(f"\nschema {saved.name} is at version {saved.stored_version} in {where} now")
