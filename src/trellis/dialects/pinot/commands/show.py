"""What the commands of `trellis pinot` print."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import counted, cut, grid, indented
from trellis.dialects.pinot.document.changes import Effort

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.dialects.pinot.cluster.check import Checked
    from trellis.dialects.pinot.document.plan import Plan
    from trellis.dialects.pinot.moment.sample import Sample, Tried

COMMAND = 400
"""So much is shown of a command: most of it is a schema."""
_STYLES = {"fault": "bold red", "unchecked": "magenta", "ignored": "yellow", "mind": "cyan"}


def show_checked(found: Checked, file: str, out: Console) -> None:
    """Every finding on its line, and whether Pinot takes the schema, as far as that was checked."""
    from rich.text import Text

    if found.findings:
        table = grid("", "Of", "Where", "Column", "What", whole=("Of",))
        for each in found.findings:
            level = Text(each.level, style=_STYLES[each.level])
            column = Text("" if each.column is None else cut(each.column))
            table.add_row(level, each.source, Text(each.pointer), column, Text(each.message))
        out.print(indented(table))
        out.print()
    faults = sum(each.level == "fault" for each in found.findings)
    name = found.schema.name
    columns = sum(1 for _ in found.schema.specs()) + (found.schema.time is not None)
    unchecked = sum(finding.level == "unchecked" for finding in found.findings)
    verdict = "Pinot takes it"
    if faults:
        verdict = f"{counted(faults, 'fault')}, Pinot refuses it"
    elif unchecked:
        verdict = f"no fault, but {counted(unchecked, 'expression')} not checked"
    named = f", schema {name} with {counted(columns, 'column')}" if name and not faults else ""
    out.print(f"{file}: {verdict}{named}", style="bold red" if faults else "bold", soft_wrap=True)


def checked_dict(found: Checked) -> dict[str, Any]:
    return {
        "schema": found.schema.name,
        "valid": found.valid,
        "findings": [asdict(each) for each in found.findings],
    }


def show_sample(found: Sample, format: str, out: Console) -> None:
    """What a format means, and what it makes of values."""
    from rich.text import Text

    form = found.format
    zone = f"zone {form.zone}" if form.kind == "SIMPLE_DATE_FORMAT" else ""
    means = [form.kind, f"pattern {form.pattern}" if form.pattern else "", _unit(form), zone]
    out.print(f"{format}: {', '.join(filter(None, means))}", style="bold", soft_wrap=True)
    for lint in found.lints:
        out.print(f"  {lint}", style="yellow", soft_wrap=True)
    if not found.values:
        return
    out.print()
    rows = [_cells(each) for each in found.values]
    headings = ("Value", "Millis", "Instant", "Written back")
    if sum(max(map(len, column)) + 2 for column in zip(headings, *rows, strict=True)) <= out.width:
        table = grid(*headings, right=("Millis",), whole=headings)
        for row in rows:
            table.add_row(*map(Text, row))
        out.print(indented(table))
    else:
        for row in rows:
            out.print(f"  {row[0]}", soft_wrap=True)
            for heading, cell in zip(headings[1:], row[1:], strict=True):
                if cell:
                    out.print(f"    {heading:<12}  {cell}", soft_wrap=True)
    notes = grid("", "")
    for each in found.values:
        style = "yellow" if each.error is None else "red"
        for said in each.lints if each.error is None else (each.error,):
            notes.add_row(Text(cut(repr(each.value), 30)), Text(said, style=style))
    if notes.row_count:
        out.print()
        out.print(indented(notes))


def _cells(tried: Tried) -> tuple[str, str, str, str]:
    if tried.error is not None:
        return repr(tried.value), "", "", ""
    return repr(tried.value), str(tried.millis), tried.instant or "", repr(tried.written)


def _unit(form: Any) -> str:
    if form.kind != "EPOCH":
        return ""
    return f"{form.size} {form.unit}" if form.size != 1 else str(form.unit)


def show_plan(found: Plan, controller: str, out: Console) -> None:
    """The changes, the verdict, and the steps as commands."""
    from rich.text import Text

    if not found.changes and not found.steps:
        out.print("the schemas say the same: nothing to do")
        return
    table = grid("Change", "What is there already", "Takes")
    for each in found.changes:
        style = {"new table": "bold red", "backfill": "yellow"}.get(each.effort.value, "")
        effort = "" if each.effort is Effort.NONE else each.effort.value
        table.add_row(Text(str(each)), Text(each.on_reload), Text(effort, style=style))
    out.print(indented(table))
    if found.in_place:
        out.print("\nPinot takes it in place; the steps, in this order", style="bold")
    else:
        out.print("\nPinot refuses it over the old schema", style="bold red")
        for problem in found.problems:
            out.print(f"  {problem}", style="red", soft_wrap=True)
        out.print("\nIt takes a new table; the steps, in this order", style="bold")
    commands = [step.curl(controller) or "" for step in found.steps]
    for number, (step, command) in enumerate(zip(found.steps, commands, strict=True), 1):
        out.print(f"{number:>3}. {step.said}", soft_wrap=True)
        if command:
            shown = command if len(command) <= COMMAND else f"{command[:COMMAND]}..."
            out.print(f"     {shown}", style="cyan", soft_wrap=True)
    if any(len(command) > COMMAND for command in commands):
        out.print("\nlong commands are cut; --json prints them whole", style="dim")


def plan_dict(found: Plan, controller: str) -> dict[str, Any]:
    return {
        "in_place": found.in_place,
        "problems": list(found.problems),
        "changes": [{**asdict(each), "effort": each.effort.value} for each in found.changes],
        "steps": [
            {"said": each.said, "method": each.method, "path": each.path, "command": each.curl(controller)}
            for each in found.steps
        ],
    }
