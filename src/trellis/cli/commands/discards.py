"""`trellis discards` and `trellis rejects`: what was left out, counted, and loaded once it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trellis.cli.arguments import At, Dataset, Debug, Json, Name, option

if TYPE_CHECKING:
    from trellis.pipelines.pipeline import Pipeline

discards = typer.Typer(
    name="discards",
    help="List what was discarded, and load it once it fits.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

rejects = typer.Typer(
    name="rejects",
    help="List the records that were rejected.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@discards.command("list")
def list_kept(
    at: At = None, dataset: Dataset = None, name: Name = None, json: Json = False, debug: Debug = False
) -> None:
    """Count the discards of a dataset: per table, column and reason, with an example."""
    from dataclasses import asdict

    from trellis.cli.output.console import console, cut, grid, indented, print_json
    from trellis.pipelines.discards import list_discards

    counts = list_discards(_pipeline(at, dataset, name))
    if json:
        print_json({"discards": [asdict(discard) for discard in counts]})
        return
    if not counts:
        console().print("no value was discarded")
        return
    table = grid("Count", "Table", "Column", "Reason", "Example", "Kept in", right=("Count",))
    for discard in counts:
        example = repr(cut(discard.example, 40))
        table.add_row(
            f"{discard.count:,}", discard.table, discard.column, discard.reason, example, discard.kept_in
        )
    console().print(indented(table))


@discards.command("replay")
def replay(
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    table: Annotated[str | None, option("--table", metavar="NAME", help="Only values of this table.")] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Put discarded values back into their rows, and load discarded rows, where they fit by now.

    Widen the column or the contract first. What was replayed is not replayed again, nor listed; what still
    does not fit stays in the discards, and so does a value that was kept without its record.
    """
    from trellis.cli.output.console import console, counted, grid, indented, print_json
    from trellis.pipelines.discards import replay_discards

    done = replay_discards(_pipeline(at, dataset, name), table)
    if json:
        print_json(done.to_dict())
        return
    out, total = console(), sum(done.restored.values())
    if total:
        out.print(f"{counted(total, 'value')} put back", style="bold")
        restored = grid("Count", "Table", "Column", right=("Count",))
        for (owner, column), count in done.restored.items():
            restored.add_row(f"{count:,}", owner, column)
        out.print(indented(restored))
    for owner, count in done.rows.items():
        out.print(f"{counted(count, 'row')} loaded into {owner}", style="bold")
    out.print(f"{counted(done.left, 'value')} left in the discards" if done.left else "no discards are left")
    if refused := done.left - done.left_without_row:
        out.print(f"  {refused:,} without a place yet; widen the contract or the column first")
    if done.left_without_row:
        out.print(f"  {done.left_without_row:,} kept without their record, which has to be loaded again")


@rejects.command("list")
def list_rejected(
    at: At = None, dataset: Dataset = None, name: Name = None, json: Json = False, debug: Debug = False
) -> None:
    """Count the rejected records of a dataset: per file and reason, with an example."""
    from dataclasses import asdict

    from trellis.cli.output.console import console, cut, grid, indented, print_json
    from trellis.pipelines.discards import list_rejects

    counts = list_rejects(_pipeline(at, dataset, name))
    if json:
        print_json({"rejects": [asdict(reject) for reject in counts]})
        return
    if not counts:
        console().print("no record was rejected")
        return
    table = grid("Count", "File", "Reason", "Example", right=("Count",))
    for reject in counts:
        table.add_row(f"{reject.count:,}", reject.file, reject.reason, repr(cut(reject.example, 40)))
    console().print(indented(table))


def _pipeline(at: str | None, dataset: str | None, name: str | None) -> Pipeline:
    from trellis.cli.schema_store import StoredSchema
    from trellis.errors import UsageError
    from trellis.pipelines.config import find_config

    if at is None and find_config().to is None:
        raise UsageError(
            "missing option --to: name the destination that holds them, such as --to duckdb:shop.duckdb"
        )
    return StoredSchema.open(at, dataset, name).pipeline
