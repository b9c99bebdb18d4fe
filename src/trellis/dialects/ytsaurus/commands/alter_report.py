"""`trellis table alter-table --dry-run`: the changes of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.cli.output.console import console, grid, indented, print_json

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.alter.changes import AlterPlan


def show_plan(plan: AlterPlan, json: bool) -> None:
    if json:
        print_json(plan.to_dict())
        return
    from rich.text import Text

    out = console()
    table = grid("", "Column", "Change", whole=("Column",))
    for change in plan.changes:
        style = "green" if change.verdict == "metadata only" else "bold red"
        table.add_row(Text(change.verdict, style=style), Text(change.column), Text(change.rule))
    if plan.changes:
        out.print(indented(table))
        out.print()
    if plan.allowed:
        out.print(f"{plan.path} can be altered; no data is read", style="bold")
        return
    out.print(f"{plan.path} cannot be altered without its data", style="bold red")
    if plan.rewrite:
        out.print(f"rewrite it: trellis table {plan.rewrite}", soft_wrap=True)
