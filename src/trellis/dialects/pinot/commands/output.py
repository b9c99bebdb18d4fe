"""The output of the commands of `trellis pinot`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import counted, cut, grid, indented
from trellis.dialects.pinot.schema_changes.changes import Effort

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from trellis.dialects.pinot.cluster.data_files import DataFile
    from trellis.dialects.pinot.cluster.delivery import Delivery
    from trellis.dialects.pinot.cluster.document_check import CheckResult
    from trellis.dialects.pinot.cluster.rollout import StepResult
    from trellis.dialects.pinot.schema_changes.migration_plan import Plan

COMMAND = 400
"""Characters shown of a command: most of it is a schema."""
_STYLES = {"fault": "bold red", "unchecked": "magenta", "ignored": "yellow", "mind": "cyan"}


def show_check_result(checked: CheckResult, file: str, out: Console) -> None:
    """Every finding on its line, and whether Pinot accepts the schema."""
    from rich.text import Text

    if checked.findings:
        table = grid("", "Of", "Where", "Column", "What", whole=("Of",))
        for finding in checked.findings:
            level = Text(finding.level, style=_STYLES[finding.level])
            column = Text("" if finding.column is None else cut(finding.column))
            table.add_row(level, finding.source, Text(finding.pointer), column, Text(finding.message))
        out.print(indented(table))
        out.print()
    faults = sum(finding.level == "fault" for finding in checked.findings)
    name = checked.schema.name
    columns = sum(1 for _ in checked.schema.specs())
    unchecked = sum(finding.level == "unchecked" for finding in checked.findings)
    verdict = "Pinot takes it"
    if faults:
        verdict = f"{counted(faults, 'fault')}, Pinot refuses it"
    elif unchecked:
        verdict = f"no fault, but {counted(unchecked, 'part')} not checked"
    named = f", schema {name} with {counted(columns, 'column')}" if name and not faults else ""
    out.print(f"{file}: {verdict}{named}", style="bold red" if faults else "bold", soft_wrap=True)


def check_result_dict(checked: CheckResult) -> dict[str, Any]:
    return {
        "schema": checked.schema.name,
        "valid": checked.valid,
        "findings": [asdict(finding) for finding in checked.findings],
    }


def show_plan(plan: Plan, controller: str, out: Console) -> None:
    """The changes, the verdict, and the steps as commands."""
    from rich.text import Text

    if not plan.changes and not plan.steps:
        out.print("the schemas are equal: nothing to do")
        return
    table = grid("Change", "What is there already", "Takes")
    for change in plan.changes:
        style = {"new table": "bold red", "backfill": "yellow"}.get(change.effort.value, "")
        effort = "" if change.effort is Effort.NONE else change.effort.value
        table.add_row(Text(str(change)), Text(change.on_reload), Text(effort, style=style))
    out.print(indented(table))
    if plan.in_place:
        out.print("\nPinot accepts it in place; the steps, in this order", style="bold")
    else:
        out.print("\nPinot refuses it as a replacement of the old schema", style="bold red")
        for problem in plan.problems:
            out.print(f"  {problem}", style="red", soft_wrap=True)
        out.print("\nIt needs a new table; the steps, in this order", style="bold")
    commands = [step.curl(controller) or "" for step in plan.steps]
    for number, (step, command) in enumerate(zip(plan.steps, commands, strict=True), 1):
        out.print(f"{number:>3}. {step.description}", soft_wrap=True)
        if command:
            displayed = command if len(command) <= COMMAND else f"{command[:COMMAND]}..."
            out.print(f"     {displayed}", style="cyan", soft_wrap=True)
    if any(len(command) > COMMAND for command in commands):
        out.print("\nlong commands are cut; --json prints them in full", style="dim")


def plan_dict(plan: Plan, controller: str) -> dict[str, Any]:
    return {
        "in_place": plan.in_place,
        "problems": list(plan.problems),
        "changes": [{**asdict(change), "effort": change.effort.value} for change in plan.changes],
        "steps": [{**asdict(step), "command": step.curl(controller)} for step in plan.steps],
    }


def show_delivery(
    delivery: Delivery,
    folder: Path,
    format: str,
    rows: int,
    where: str,
    files: Sequence[DataFile] | None,
    out: Console,
) -> None:
    """The files of a delivery and how to ingest them; `files` is None where nothing was written."""
    from trellis.dialects.pinot.cluster.delivery import JOB, OFFLINE, REALTIME, SCHEMA

    begin, end = ("Would deliver", "; nothing was written") if files is None else ("Delivered", "")
    title = f"{begin} {counted(rows, 'row')} of {delivery.schema.name} from {where} to {folder}{end}"
    out.print(title, style="bold", soft_wrap=True)
    if files is not None:
        documents = {"schema": SCHEMA, "OFFLINE table": OFFLINE, "REALTIME table": REALTIME, "job": JOB}
        table = grid("", "")
        for label, name in documents.items():
            if name != REALTIME or delivery.realtime is not None:
                table.add_row(label, str(folder / name))
        table.add_row(f"{counted(len(files), 'file')} of rows", f"{folder}/data/*.{format}")
        out.print()
        out.print(indented(table))
    for note in delivery.notes:
        out.print(f"\n{note}", style="yellow", soft_wrap=True)
    if files is not None:
        command = f"pinot-admin.sh LaunchDataIngestionJob -jobSpecFile {folder / JOB}"
        out.print(f"\n{command}", style="cyan", soft_wrap=True)


def delivery_dict(
    delivery: Delivery,
    folder: Path,
    rows: int,
    files: Sequence[DataFile] | None,
    steps: Sequence[StepResult],
) -> dict[str, Any]:
    return {
        "table": delivery.schema.name,
        "out": str(folder),
        "dry_run": files is None,
        "rows": rows,
        "files": [{"path": str(data_file.path), "rows": data_file.rows} for data_file in files or ()],
        "notes": list(delivery.notes),
        "steps": [{"step": step.step, "outcome": step.outcome, "note": step.note or None} for step in steps],
    }


def show_steps(steps: Sequence[StepResult], controller: str, out: Console) -> None:
    """What was done in the cluster."""
    from rich.text import Text

    styles = {"done": "green", "failed": "bold red", "started": "yellow"}
    out.print(f"\nIn the cluster of {controller}", style="bold", soft_wrap=True)
    table = grid("", "", "", whole=("",))
    table.columns[2].no_wrap = False
    for step in steps:
        table.add_row(step.step, Text(step.outcome, style=styles.get(step.outcome, "")), Text(step.note))
    out.print(indented(table))
