"""`trellis table infer`: a schema for rows, and why each column has its type."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import typer

from trellis.cli.output.console import error_console, grid, indented
from trellis.dialects.ytsaurus.commands.reports import print_report, standard_input

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.inference.learning import LearnedSchema


def open_rows(source: str) -> AbstractContextManager[BinaryIO]:
    """A file, standard input for `-`."""
    return nullcontext(standard_input()) if source == "-" else Path(source).open("rb")


def show_schema(learned: LearnedSchema, warnings: Sequence[str], json: bool) -> None:
    """The schema on standard output, the reasons beside it; `warnings` have been told."""
    from rich.text import Text

    from trellis.dialects.ytsaurus.formats.json_lines import to_json
    from trellis.dialects.ytsaurus.schema.document import schema_document
    from trellis.dialects.ytsaurus.yson.writer import dumps

    document = schema_document(learned.schema)
    if json:
        columns = [
            {"name": item.column.name, "type": item.column.simple.name, "reason": item.reason}
            for item in learned.columns
        ]
        print_report({"schema": to_json(document), "columns": columns}, "", json, warnings)
        return
    table = grid("Column", "Type", "Because of", whole=("Column", "Type"))
    for item in learned.columns:
        table.add_row(Text(item.column.name), item.column.simple.name, item.reason)
    error_console().print(indented(table))
    typer.echo(dumps(document, yson_format="pretty"))
