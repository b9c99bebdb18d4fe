"""`trellis pinot infer`: a schema for Pinot, with the reason of every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from trellis.cli.arguments import HOW, OUTPUT, WHERE, Debug, Json, Sources, option

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from trellis.dialects.pinot.infer.proposal import Proposal


def infer_schema(
    sources: Sources,
    name: Annotated[
        str | None,
        option("--name", metavar="TABLE", panel=WHERE, help="Name of the table, default that of its file."),
    ] = None,
    dimension: Annotated[
        list[str] | None,
        option("--dimension", metavar="COLUMN", panel=HOW, help="A column that is a dimension; repeatable."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        option("--metric", metavar="COLUMN", panel=HOW, help="A column that is a metric; repeatable."),
    ] = None,
    time: Annotated[
        list[str] | None,
        option(
            "--time",
            metavar="COLUMN",
            panel=HOW,
            help="A column that holds times; repeatable, and the first one is the main time.",
        ),
    ] = None,
    unnest: Annotated[
        list[str] | None,
        option("--unnest", metavar="FIELD", panel=HOW, help="A list whose elements become rows; repeatable."),
    ] = None,
    out: Annotated[
        str | None,
        option(
            "--out", metavar="DIR", panel=OUTPUT, help="Write NAME-schema.json and NAME-table.json there."
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Propose a Pinot schema and table config for files: types, roles and times, each with its reason.

    All records are read, never a sample, and the types hold every value.
    """
    from trellis.cli.output.console import console, print_json, progress
    from trellis.dialects.pinot.cluster.schema_inference import Choices, infer, write

    columns = (tuple(names or ()) for names in (dimension, metric, time, unnest))
    choices = Choices(name or "", *columns)
    with progress() as tell:
        proposal = infer(sources, choices, tell)
    written = write(proposal, out) if out is not None else ()
    if json:
        print_json(proposal.to_dict())
    else:
        show(proposal, written, console())


def show(proposal: Proposal, written: Sequence[Path], out: Console) -> None:
    """Every column with its reason, the notes, and the paths of the documents."""
    from trellis.cli.output.console import counted, cut, grid, indented

    rows, columns = counted(proposal.rows, "row"), counted(len(proposal.columns), "column")
    title = f"table {proposal.schema.name} from {rows}, {columns}"
    out.print(title, style="bold", soft_wrap=True)
    if proposal.columns:
        table = grid("Column", "Type", "Role", "Format", "Why", whole=("Column", "Type", "Role", "Format"))
        for column in proposal.columns:
            role = column.spec.field_type.value.replace("_", "-").lower()
            name, form = cut(column.spec.name), column.spec.format or ""
            table.add_row(name, column.type_name, role, form, column.why)
        out.print()
        out.print(indented(table))
    if proposal.schema.column_nulls:
        nullable = sum(not column.spec.not_null for column in proposal.columns)
        handling = f"{counted(nullable, 'column')} may be null: enableColumnBasedNullHandling is on"
        out.print(f"\n{handling}", soft_wrap=True)
    if proposal.notes:
        out.print("\nto look at", style="yellow")
        notes = grid("", "", whole=())
        for note in proposal.notes:
            notes.add_row(cut(note.column), note.message)
        out.print(indented(notes))
    if written:
        out.print(f"\nwrote {' and '.join(map(str, written))}", soft_wrap=True)
