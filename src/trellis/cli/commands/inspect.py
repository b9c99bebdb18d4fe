"""`trellis inspect`: what is really in the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import ConfigFile, Debug, EngineArguments, Format, Json, ReadOption, Sources
from trellis.pipelines.engine import engine_of

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.engine.survey.paths import Place
    from trellis.pipelines.inspect import Inspection, PathReport, RecordFault

LIMIT = 100
FAULTS = 8
MIXED = 10
EXAMPLE, PATH = 10, 16  # the least room they get

At = Callable[["Place"], str]


@expand_groups
def inspect_records(
    sources: Sources,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Paths to show; 0 is all.")
    ] = LIMIT,
    format: Format = None,
    read_option: ReadOption = None,
    config: ConfigFile = None,
    *,
    engine: EngineArguments,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show every path in the records and every kind of value found there, with counts and examples.

    All records are looked at, never a sample.
    """
    from trellis.cli import arguments
    from trellis.cli.commands.load import settings_of
    from trellis.cli.output.console import console, print_json, progress, quiet_children
    from trellis.cli.spark_start import start_engine
    from trellis.pipelines.config import Config, find_config

    read_options = settings_of(read_option, "--read-option", "sep=;", exact=True)
    settings = Config(**engine._asdict(), format=format, read_options=read_options).over(find_config(config))
    with quiet_children(bool(arguments.debug)):
        start_engine(replace(settings, to=None), sources)
        from trellis.pipelines.inspect import inspect

        with progress() as tell:
            inspection = inspect(
                sources,
                tell,
                engine=engine_of(settings.engine) if settings.engine else None,
                master=settings.master,
                remote=settings.remote,
                format=settings.format,
                read_options=settings.read_options,
            )
    if json:
        print_json(inspection.to_dict())
    else:
        show(inspection, limit, console())


def show(inspection: Inspection, limit: int, out: Console) -> None:
    """Every path on its line, with a line more for each further kind; then what is wrong."""
    from trellis.cli.output.console import counted, some

    at, many = _namer(inspection.files), len(inspection.files) > 1
    shown = inspection.paths[: limit or None]
    files = inspection.files[0] if len(inspection.files) == 1 else counted(len(inspection.files), "file")
    title = f"{counted(inspection.records, 'record')} in {files}, {counted(len(inspection.paths), 'path')}"
    out.print(title, style="bold", soft_wrap=True)
    if shown:
        _paths(shown, at, many, out)
    if len(shown) < len(inspection.paths):
        out.print(
            f"\n  and {counted(len(inspection.paths) - len(shown), 'more path')}; --limit 0 shows all",
            style="dim",
        )
    mixed = [path.path for path in inspection.paths if path.mixed]
    if mixed:
        names = some(mixed, MIXED)
        out.print(f"\n{counted(len(mixed), 'path')} with values of several kinds: {names}", style="yellow")
    bad, doubled = inspection.rejects, inspection.duplicate_keys
    _faults("line is no record", "lines are no records", bad, at, many, out)
    _faults("duplicate key in an object", "duplicate keys in an object", doubled, at, many, out)


def _paths(paths: Sequence[PathReport], at: At, many: bool, out: Console) -> None:
    from rich.text import Text

    from trellis.cli.output.console import cut, grid, indented

    rows = [row for path in paths for row in _rows(path, at)]
    heads = ["Path", "Kind", "Count", "Null", "Missing", "First at" if many else "Line", "Example"]
    widths = [max(len(head), *(len(row[column]) for row in rows)) for column, head in enumerate(heads)]
    used = [any(str(row[column]) for row in rows) for column in range(len(heads))]
    room = out.width - 2 - sum(widths[at] + 2 for at in range(1, 6) if used[at])
    used[6] = used[6] and room >= PATH + 2 + EXAMPLE
    names = max(room - (EXAMPLE + 2 if used[6] else 0), PATH)
    leaves = {path.path: _leaf(path) for path in paths} if widths[0] > names else {}
    names = min(names, max(map(len, leaves.values()), default=widths[0]))
    table = grid(
        *(head for head, is_used in zip(heads, used, strict=True) if is_used),
        right=("Count", "Null", "Missing", "Line"),
        whole=("Path", "Kind", "First at", "Example"),
    )
    for name, kind, *others, example in rows:
        name = leaves.get(name, name)
        cells: list[Any] = [
            cut(name, names),
            kind,
            *others,
            Text(_short(example, room - names - 2), style="dim"),
        ]
        table.add_row(*(cell for cell, is_used in zip(cells, used, strict=True) if is_used))
    out.print()
    out.print(indented(table))


def _rows(path: PathReport, at: At) -> list[tuple[str, Any, str, str, str, str, str]]:
    from rich.text import Text

    rows: list[tuple[str, Any, str, str, str, str, str]] = []
    kinds = [report for report in path.kinds if report.kind != "null"] or list(path.kinds)
    for report in kinds:
        kind = Text(report.kind, style="yellow" if path.mixed else "")
        if report.kind == "string" and path.timestamps:
            rest = "" if path.timestamps == report.count else f" ({path.timestamps:,})"
            kind.append(f", time{rest}", style="cyan")
        first = not rows
        nulls, missing = (f"{number:,}" if number and first else "" for number in (path.nulls, path.missing))
        name = path.path if first else ""
        rows.append((name, kind, f"{report.count:,}", nulls, missing, at(report.first), report.example))
    return rows


def _leaf(path: PathReport) -> str:
    """The last step of a path, indented: `order.line_items[].sku` becomes `sku` below the others."""
    last = "[]" if path.path.endswith("[]") else path.path[path.path.rfind(".") + 1 :]
    if path.path.endswith('"'):
        last = path.path[path.path.rfind('"', 0, -1) :]
    return "  " * min(path.depth, 20) + last


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _faults(one: str, more: str, faults: tuple[RecordFault, ...], at: At, many: bool, out: Console) -> None:
    from trellis.cli.output.console import cut, grid, indented

    if not faults:
        return
    total = sum(fault.count for fault in faults)
    out.print(f"\n{total:,} {one if total == 1 else more}", style="bold red")
    table = grid("", "", "")
    table.columns[0].justify = "right"
    for fault in sorted(faults, key=lambda fault: -fault.count)[:FAULTS]:
        table.add_row(
            f"{fault.count:,}",
            cut(fault.what, 60),
            f"first at {at(fault.first)}" if many else f"first on line {at(fault.first)}",
        )
    out.print(indented(table))
    if len(faults) > FAULTS:
        out.print(f"  and {len(faults) - FAULTS:,} more", style="dim")


def _namer(files: Sequence[str]) -> At:
    """How places are written: only what tells the files apart."""
    if len(files) < 2:
        return lambda place: f"{place.line:,}"
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
    names = {file: os.path.relpath(file, folder) for file in files}
    return lambda place: f"{names.get(place.file, place.file)}:{place.line}"
