"""Plans of migrations for a person, and as a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from trellis.cli.output.console import counted
from trellis.warehouses.migration_plan import MigrationPlan, MigrationStep, likely_renames

if TYPE_CHECKING:
    from rich.console import Console

_COSTS: Final = {"metadata": "", "rewrite": "rewrites the table", "impossible": "impossible"}


def show_plan(plan: MigrationPlan, out: Console) -> None:
    """Each change with its cost, and the statements below it."""
    from rich.text import Text

    if not plan.steps:
        out.print("no differences")
        return
    for step in plan.steps:
        line = Text(f"  {step.text}")
        if step.breaking:
            line.append("  BREAKING", style="bold red")
        if remarks := _remarks(step):
            line.append(f"  ({remarks})", style="dim")
        out.print(line)
        for statement in step.statements:
            for text in statement.splitlines():
                out.print(f"      {text}", style="cyan", soft_wrap=True)
    breaking = sum(step.breaking for step in plan.steps)
    rewrites = sum(step.cost == "rewrite" for step in plan.steps)
    costs = f"; {rewrites} rewrite{'s' if rewrites == 1 else ''} a table" if rewrites else ""
    out.print(f"\n{counted(len(plan.steps), 'change')}, {breaking or 'none'} breaking{costs}", style="bold")
    for rename in likely_renames(plan):
        out.print(f"if a column is only renamed, add --rename {rename}", soft_wrap=True)


def script_of(plan: MigrationPlan) -> str:
    """The statements as a script, each below what it is for."""
    return "".join(f"{line}\n" for line in _script_lines(plan))


def _script_lines(plan: MigrationPlan) -> Iterator[str]:
    is_transactional = plan.warehouse.transactional_ddl
    version = plan.before.stored_version
    yield f"-- schema {plan.after.name}, from version {version}, for {plan.warehouse.title}"
    if is_transactional:
        yield "BEGIN;"
    for step in plan.steps:
        remarks = _remarks(step)
        yield f"-- {step.text}{f' ({remarks})' if remarks else ''}"
        yield from (f"{statement};" for statement in step.statements)
    if is_transactional:
        yield "COMMIT;"


def _remarks(step: MigrationStep) -> str:
    backfill = "backfill" if step.backfill else ""
    return "; ".join(filter(None, (_COSTS[step.cost], backfill, step.note)))


def plan_dict(plan: MigrationPlan) -> dict[str, Any]:
    """The plan as `--json` prints it."""
    return {
        "warehouse": plan.warehouse.name,
        "version": plan.before.stored_version,
        "steps": [step.to_dict() for step in plan.steps],
        "likely_renames": [*likely_renames(plan)],
    }
