"""The output of the commands of `trellis pinot`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import counted, cut, grid, indented
from trellis.dialects.pinot.schema_changes.changes import Effort

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.dialects.pinot.cluster.document_check import CheckResult
    from trellis.dialects.pinot.date_time.format import FormatPreview, ParsedValue
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


def show_preview(preview: FormatPreview, format: str, out: Console) -> None:
    """The meaning of a format, and the values read with it."""
    from rich.text import Text

    form = preview.format
    zone = f"zone {form.zone}" if form.kind == "SIMPLE_DATE_FORMAT" else ""
    means = [form.kind, f"pattern {form.pattern}" if form.pattern else "", _unit(form), zone]
    out.print(f"{format}: {', '.join(filter(None, means))}", style="bold", soft_wrap=True)
    for lint in preview.lints:
        out.print(f"  {lint}", style="yellow", soft_wrap=True)
    if not preview.values:
        return
    out.print()
    headings = ("Value", "Millis", "Instant", "Written back")
    table = grid(*headings, right=("Millis",), whole=headings)
    for value in preview.values:
        table.add_row(*map(Text, _cells(value)))
    out.print(indented(table))
    notes = grid("", "")
    for value in preview.values:
        style = "yellow" if value.error is None else "red"
        for message in value.lints if value.error is None else (value.error,):
            notes.add_row(Text(cut(repr(value.value), 30)), Text(message, style=style))
    if notes.row_count:
        out.print()
        out.print(indented(notes))


def _cells(preview: ParsedValue) -> tuple[str, str, str, str]:
    if preview.error is not None:
        return repr(preview.value), "", "", ""
    return repr(preview.value), str(preview.millis), preview.instant or "", repr(preview.written)


def _unit(form: Any) -> str:
    if form.kind != "EPOCH":
        return ""
    return f"{form.size} {form.unit}" if form.size != 1 else str(form.unit)


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
        "steps": [
            {
                "said": step.description,
                "method": step.method,
                "path": step.path,
                "command": step.curl(controller),
            }
            for step in plan.steps
        ],
    }
