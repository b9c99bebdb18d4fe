"""Schemas, their versions and their differences for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import by_parent, counted, cut, grid, indented
from trellis.dialects import system_prefixes
from trellis.schema.compare import AddColumn, AddTable, ChangeSchema, DropColumn, DropTable
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.system import is_system
from trellis.schema.value_rules import RULES

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.pipelines.datasets.schema_history import Changes, Version
    from trellis.schema.documents.schema_format import Loss

_HIDDEN = ("x-normalizer", "x-loader", "x-extractor", "row_key", "parent_key", "root_key", NESTED_TYPE)

_HINT_NAMES = {RULES: "rules", PII: "pii"}


def show(schema: Schema, out: Console) -> None:
    """Each table with its columns."""
    prefixes = system_prefixes()
    tables = [table for table in schema.tables.values() if not is_system(table.name, *prefixes)]
    version = f", version {schema.stored_version}" if schema.stored_version else ""
    out.print(f"schema {schema.name}{version}, {counted(len(tables), 'table')}", style="bold")
    if schema.stored_hash:
        out.print(f"hash {schema.stored_hash}", style="dim")
    for depth, table in by_parent(tables):
        _show_table(table, depth, out)
    hidden = len(schema.tables) - len(tables)
    if hidden:
        out.print(
            f"\nand {counted(hidden, 'table')} of Trellis' own bookkeeping; --yaml shows them", style="dim"
        )


def _show_table(table: Table, depth: int, out: Console) -> None:
    from rich.text import Text

    properties = (
        [f"below {cut(table.parent)}"]
        if table.parent
        else [str(table.hints.get("write_disposition") or "append")]
    )
    strategy, contract = table.hints.get("x-merge-strategy"), table.hints.get("schema_contract")
    properties += [f"strategy {strategy}"] if strategy else []
    properties += [f"contract {_plain(contract)}"] if contract else []
    left = 2 * depth
    out.print()
    head = Text(cut(table.name, 72), "bold").append(f"  {', '.join(properties)}", "default not bold")
    out.print(indented(head, left))
    if table.description:
        out.print(indented(table.description, left + 2), style="italic")
    rows = grid("Column", "Type", "Hints", whole=("Column", "Type"))
    for column in table.columns.values():
        style = "dim" if is_system(column.name, *system_prefixes()) else ""
        rows.add_row(
            Text(cut(column.name), style),
            Text(_type(column), style or "cyan"),
            Text(_hints(table, column), style),
        )
    out.print(indented(rows, left + 2))


def _type(column: Column) -> str:
    if column.data_type is None:
        return "not known yet"
    if column.hint(NESTED_TYPE):
        from trellis.engine.arrow.nested_types import described

        return described(column) or column.data_type
    size = [str(number) for number in (column.precision, column.scale) if number is not None]
    zone = " without time zone" if column.timezone is False else ""
    return column.data_type + (f"({', '.join(size)})" if size else "") + zone


def _hints(table: Table, column: Column) -> str:
    hints = ["required"] if column.required else []
    if column.is_variant:
        base = column.name.rpartition("__v_")[0]
        hints.append(f"variant of {cut(base)}" if base in table.columns else "variant")
    for key, value in column.hints.items():
        if key in _HIDDEN or value in (None, False):
            continue
        name = _HINT_NAMES.get(key, key).replace("_", " ")
        hints.append(name if value is True else f"{name} {_plain(value)}")
    if column.description and not column.is_variant:
        hints.append(column.description)
    return ", ".join(hints)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={member}" for key, member in value.items())
    return str(value)


def show_versions(name: str, versions: Sequence[Version], out: Console) -> None:
    """The newest version last, as in a log one reads on from."""
    if not versions:
        out.print(f"schema {name}: no change of this table or column")
        return
    out.print(f"schema {name}, {counted(len(versions), 'version')}\n", style="bold")
    whole = ("When (UTC)", "Load")
    table = grid("Version", *whole, "What changed", "Came from", right=("Version",), whole=whole)
    for version in versions:
        when = version.at.strftime("%Y-%m-%d %H:%M:%S") if version.at else ""
        head = (str(version.schema.stored_version), when, version.load_id or "")
        if not version.changes:
            table.add_row(*head, "bookkeeping tables only", "")
        for change in version.changes:
            cause = version.cause_of(change)
            table.add_row(*head, f"{_sign(change)[0]} {_sentence(change)}", cause.place if cause else "")
            head = ("", "", "")
    out.print(indented(table))


def show_difference(changes: Changes, out: Console) -> None:
    """Every change on its line, the breaking ones marked, and the sum."""
    from rich.text import Text

    if not changes:
        out.print("no differences")
        return
    table = grid("", "")
    for change in changes:
        sign, style = _sign(change)
        sentence = Text(_sentence(change))
        if change.breaking:
            sentence.append("  BREAKING", style="bold red")
        table.add_row(Text(sign, style=style), sentence)
    out.print(indented(table))
    breaking = sum(change.breaking for change in changes)
    out.print(
        f"\n{counted(len(changes), 'change')}, {breaking or 'none'} breaking",
        style="bold red" if breaking else "bold",
    )


def show_losses(losses: Sequence[Loss], title: str, out: Console) -> None:
    """What a document does not say, or another could not take over, each with its reason."""
    if not losses:
        return
    out.print(f"\n{counted(len(losses), 'detail')} lost in {title}", style="bold")
    table = grid("Table", "Column", "Lost", "Why", whole=("Table", "Column"))
    for loss in losses:
        table.add_row(cut(loss.table, 30), cut(loss.column or "", 30), loss.what, loss.reason)
    out.print(indented(table))


def _sign(change: Any) -> tuple[str, str]:
    if isinstance(change, (AddTable, AddColumn)):
        return "+", "green"
    return ("-", "red") if isinstance(change, (DropTable, DropColumn)) else ("~", "yellow")


def change_dict(change: AddTable | Any) -> dict[str, Any]:
    """One change as `--json` prints it."""
    return {
        "change": type(change).__name__,
        "table": None if isinstance(change, ChangeSchema) else change.table,
        "column": None if isinstance(change, ChangeSchema) else change.column,
        "breaking": change.breaking,
        "text": change.describe(),
    }


def _sentence(change: Any) -> str:
    return " ".join(_cut_words(change.describe().split(" ")))


def _cut_words(words: Iterable[str]) -> Iterator[str]:
    return (cut(word, 60) for word in words)
