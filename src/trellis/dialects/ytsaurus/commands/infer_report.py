"""`trellis table infer`: a schema for rows, and why each column has its type."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trellis.cli.output.console import error_console, grid, indented, print_json

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.inference.learning import LearnedSchema


def read_source(source: str) -> bytes:
    """The bytes of a file, of standard input for `-`."""
    return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()


def show_schema(learned: LearnedSchema, json: bool) -> None:
    """The schema on standard output, the reasons beside it."""
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
        print_json({"schema": to_json(document), "columns": columns})
        return
    table = grid("Column", "Type", "Because of", whole=("Column", "Type"))
    for item in learned.columns:
        table.add_row(Text(item.column.name), item.column.simple.name, item.reason)
    error_console().print(indented(table))
    typer.echo(dumps(document, yson_format="pretty"))
