"""`trellis loads`: what became of the loads of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trellis.cli.arguments import OUTPUT, At, Dataset, Debug, Json, option

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.pipelines.history import LoadOutcome

STYLES = {"loaded": "green", "partly failed": "yellow", "failed": "red"}
ATTENTION = 1


def list_loads(
    load_id: Annotated[
        str | None, typer.Argument(metavar="LOAD", help="Show the tables of this load.", show_default=False)
    ] = None,
    at: At = None,
    dataset: Dataset = None,
    most: Annotated[int, option("--limit", metavar="N", help="Newest loads to show, default 20.")] = 20,
    exit_code: Annotated[
        bool, option("--exit-code", panel=OUTPUT, help="End with 1 if something needs attention.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the loads of a dataset, also those that failed, and what needs attention.

    A dataset needs attention after a failed load until one succeeds, a table after it failed until it is
    loaded, and when it has nearly as many columns as the destination takes.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.cli.settings import open_pipeline
    from trellis.errors import UsageError, nearest
    from trellis.pipelines.config import Config, find_config
    from trellis.pipelines.history import alerts_of

    config = Config(to=at, dataset=dataset).over(find_config())
    if config.to is None:
        raise UsageError("missing option --to: name the destination, such as --to duckdb:shop.duckdb")
    outcomes = open_pipeline(config).loads()
    alerts = alerts_of(outcomes)
    shown = outcomes[-most:]
    if load_id is not None:
        shown = [outcome for outcome in outcomes if outcome.load_id == load_id]
        if not shown:
            raise UsageError(f"no load {load_id!r}{nearest(load_id, [o.load_id for o in outcomes])}")
    if json:
        print_json({"loads": [outcome.to_dict() for outcome in shown], "alerts": alerts})
    else:
        _show(shown, load_id is not None, alerts, console())
    if alerts and exit_code:
        raise typer.Exit(ATTENTION)


def _show(outcomes: list[LoadOutcome], with_tables: bool, alerts: list[str], out: Console) -> None:
    from rich.text import Text

    from trellis.cli.output.console import cut, grid, indented

    if not outcomes:
        out.print("no loads recorded; each machine records the loads that it starts")
        return
    loads = grid(
        "Load", "Started", "State", "Rows", "Seconds", "Retries", right=("Rows", "Seconds", "Retries")
    )
    for outcome in reversed(outcomes):
        rows = f"{outcome.rows['loaded']:,} of {outcome.rows['in']:,}" if outcome.rows else ""
        loads.add_row(
            outcome.load_id,
            f"{outcome.started[:19]}Z",
            Text(outcome.state, style=STYLES[outcome.state]),
            rows,
            f"{outcome.seconds.get('all', 0):.1f}",
            str(outcome.retries or ""),
        )
    out.print(indented(loads))
    if with_tables:
        for outcome in outcomes:
            tables = grid("Table", "Rows", "State", "Error", right=("Rows",))
            for table in outcome.tables:
                tables.add_row(cut(table.name), f"{table.rows:,}", table.state, table.error)
            out.print()
            if outcome.tables:
                out.print(indented(tables))
            else:
                out.print(f"  {outcome.error}", soft_wrap=True)
    if alerts:
        out.print("\nNeeds attention", style="bold yellow")
        for alert in alerts:
            out.print(f"  {alert}", soft_wrap=True)
