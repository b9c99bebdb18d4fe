"""A report for a person: what went where, what drifted, what was left out, and that nothing is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trellis.cli.output.console import ENDLESS, by_parent, counted, cut, grid, indented, some
from trellis.cli.verbosity import is_verbose
from trellis.evolution.record_outcome import DUPLICATE_KEY
from trellis.schema.compare import AddColumn, AddTable, Change, DropColumn, DropTable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from trellis.pipelines.report import Report, Tally
    from trellis.schema.model import Column, Table

NAMES = 8
CHANGES = 12
STATEMENTS = 12
STATEMENT = 400
DISCARDS = "_trellis_discards"
REJECTS = "_trellis_rejects"


def show(report: Report, sources: Sequence[str], out: Console) -> None:
    """Print the whole report."""
    if report.already_loaded:
        for note in report.notes:
            out.print(note, style="yellow")
        return
    _headline(report, sources, out)
    _tables(report, out)
    _drift(report, out)
    _variants(report, out)
    _statements(report, out)
    _left_out("value", "discarded", _place(report.kept_in), report.discards, report, out)
    _left_out("value", "truncated", _place((DISCARDS,)), report.truncated, report, out)
    lines = f"{report.rejected_lines} for the lines and reasons" if report.rejected_lines else ""
    _left_out("row", "rejected", lines or _place((REJECTS,)), report.rejects, report, out)
    _failures(report, out)
    notes = (*report.notes, *report.alerts.values())
    if notes:
        out.print()
    for note in notes:
        out.print(note, style="yellow")
    _balance(report, out)


def _headline(report: Report, sources: Sequence[str], out: Console) -> None:
    where = f"{report.destination}, dataset {report.dataset}" if report.dataset else report.destination
    what = some(sources, 3)
    if report.dry_run:
        out.print(f"Plan of loading {what} into {where}; nothing was written", style="bold", soft_wrap=True)
    else:
        out.print(f"Loaded {what} into {where}", style="bold", soft_wrap=True)


def _tables(report: Report, out: Console) -> None:
    from rich.text import Text

    if not report.tables:
        return
    merges = any(table_report.merged for table_report in report.tables)
    columns = ("Table", "Rows", "Merged", "New") if merges else ("Table", "Rows", "New")
    table = grid(*columns, right=("Rows",), whole=("Table",))
    room = max(40, out.width - 70)
    for depth, table_report in by_parent(report.tables):
        names = [name for name in table_report.columns_added if not _of_ours(report, name)]
        if table_report.created:
            new = Text(f"table, {counted(len(table_report.columns_added), 'column')}", style="green")
            new.append(
                f": {some(names, NAMES, len(table_report.columns_added))}" if depth == 0 and names else "",
                style="default",
            )
        elif table_report.columns_added:
            new = Text(counted(len(table_report.columns_added), "column"), style="green")
            new.append(
                f": {some(names or table_report.columns_added, NAMES, len(table_report.columns_added))}",
                style="default",
            )
        else:
            new = Text("")
        merged = (table_report.merged,) if merges else ()
        name = f"{'  ' * depth}{cut(table_report.name, room)}"
        table.add_row(name, f"{table_report.rows:,}", *merged, new)
    out.print()
    out.print(indented(table))


def _of_ours(report: Report, column: str) -> bool:
    """Whether it is a bookkeeping column, which every table has."""
    from trellis.dialects import get_dialect

    return column.startswith(get_dialect(report.dialect).capabilities.system_prefix)


def _drift(report: Report, out: Console) -> None:
    """What changed in a dataset that was there before. Where all is new, nothing drifted."""
    created = {change.table for change in report.changes if isinstance(change, AddTable)}
    if all(table_report.name in created for table_report in report.tables) and len(created) == len(
        report.changes
    ):
        return
    drifted = [
        change
        for change in report.changes
        if not (isinstance(change, AddColumn) and change.definition.is_variant)
    ]
    changes(drifted, out, "What changed", None if is_verbose() else CHANGES)


def changes(all_changes: Sequence[Change], out: Console, title: str, most: int | None = None) -> None:
    """Changes as sentences, with a sign in front."""
    if not all_changes:
        return
    out.print(f"\n{title}", style="bold")
    table = grid("", "")
    for change in all_changes[:most]:
        sign, style = ("+", "green") if isinstance(change, (AddTable, AddColumn)) else ("~", "yellow")
        if isinstance(change, (DropTable, DropColumn)):
            sign, style = "-", "red"
        table.add_row(*_styled(sign, style, change.describe(), getattr(change, "breaking", False)))
    out.print(indented(table))
    if most is not None and len(all_changes) > most:
        out.print(f"  and {counted(len(all_changes) - most, 'more change')}; -v lists all", style="dim")


def _styled(sign: str, style: str, text: str, breaking: bool) -> tuple[Text, Text]:
    from rich.text import Text

    sentence = Text(" ".join(cut(word, 60) for word in text.split(" ")))
    if breaking:
        sentence.append(" (breaking)", style="bold red")
    return Text(sign, style=style), sentence


def _variants(report: Report, out: Console) -> None:
    variants = [
        (report.schema.tables[table], column)
        for table, columns in _added(report.changes)
        for column in columns
        if column.is_variant
    ]
    if not variants:
        return
    out.print("\nVariant columns, for values that do not fit the type of their column", style="bold")
    table = grid("", "")
    for owner, column in variants[:NAMES]:
        base = owner.columns.get(column.name.rpartition("__v_")[0])
        fits = f"{column.data_type} values of {cut(base.name)}, which is {base.data_type}" if base else ""
        table.add_row(f"{cut(owner.name)}.{cut(column.name)}", fits)
    out.print(indented(table))
    if len(variants) > NAMES:
        out.print(f"  and {len(variants) - NAMES:,} more", style="dim")


def _added(all_changes: Sequence[Change]) -> Iterator[tuple[str, Sequence[Column]]]:
    for change in all_changes:
        if isinstance(change, AddTable):
            definition: Table = change.definition
            yield definition.name, tuple(definition.columns.values())
        elif isinstance(change, AddColumn):
            yield change.table, (change.definition,)


def _statements(report: Report, out: Console) -> None:
    show_statements("Statements", report.statements, out)
    if report.ddl is not None:
        show_statements(f"As {report.ddl[0]} would get it", report.ddl[1], out)


def show_statements(title: str, statements: Sequence[str], out: Console) -> None:
    """On a terminal the beginning of the first ones, unless all was asked for."""
    if not statements:
        return
    out.print(f"\n{title}", style="bold")
    shown = (
        statements
        if is_verbose() or out.width == ENDLESS
        else [_first_part(text) for text in statements[:STATEMENTS]]
    )
    for statement in shown:
        out.print(indented(statement), style="cyan")
    if len(statements) > len(shown):
        out.print(f"  and {len(statements) - len(shown):,} more; -v shows all", style="dim")
    elif any(part != text for part, text in zip(shown, statements, strict=True)):
        out.print("  statements that end in ... are shortened; -v shows them whole", style="dim")


def _first_part(statement: str) -> str:
    return statement if len(statement) <= STATEMENT else f"{statement[: STATEMENT - 3]}..."


def _place(tables: Sequence[str]) -> str:
    names = f"table {tables[0]}" if len(tables) == 1 else f"tables {' and '.join(tables)}"
    return f"{names} for source position and reason"


def _left_out(what: str, became: str, place: str, tally: Tally, report: Report, out: Console) -> None:
    if not tally.count:
        return
    would = "would be " if report.dry_run else ""
    look = "" if report.dry_run else f"; see {place}"
    out.print(f"\n{counted(tally.count, what)} {would}{became}{look}", style="bold yellow", soft_wrap=True)
    reason_counts = sorted(tally.by_reason.items(), key=lambda item: -item[1])
    reasons = grid("Rows", "Why", right=("Rows",))
    reasons.show_header = False
    for why, count in reason_counts[:NAMES]:
        reasons.add_row(f"{count:,}", _MEANS.get(why, why))
    out.print(indented(reasons))
    if len(reason_counts) > NAMES:
        out.print(f"  and {len(reason_counts) - NAMES:,} more reasons", style="dim")


def _failures(report: Report, out: Console) -> None:
    if not report.failures:
        return
    became = "would fail" if report.dry_run else "failed"
    tables = counted(len(report.failures), "table")
    out.print(f"\n{tables} {became}; the others are not affected", style="bold red")
    for failure in report.failures:
        out.print(f"  {counted(failure.rows, 'row')}: {failure.error}", soft_wrap=True)


def _balance(report: Report, out: Console) -> None:
    out.print(f"\n{report.balance}", style="bold" if report.balanced else "bold red")
    if not report.balanced:
        out.print(
            "the rows do not add up: this is an internal error in Trellis; please report it", style="bold red"
        )
    schema = report.schema
    took = report.seconds.get("all")
    out.print(
        f"schema {schema.name}, version {schema.stored_version}, hash {schema.stored_hash}", style="dim"
    )
    spent = f" in {took:.1f} s" if took is not None else ""
    if is_verbose():
        steps = (f"{step} {seconds:.1f} s" for step, seconds in report.seconds.items() if step != "all")
        out.print(", ".join(steps), style="dim")
    out.print(f"{'plan' if report.dry_run else 'load'} {report.load_id}{spent}", style="dim")


_MEANS = {
    "collision": "collision: another key of the record has the same column name",
    "duplicate key": DUPLICATE_KEY,
}
