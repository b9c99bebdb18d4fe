"""What commands on tables open and print."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from trellis.errors import UsageError

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.store.store import Store


def open_store(at: str) -> Store:
    from trellis.dialects.ytsaurus.store.store import Store

    return Store.open(at)


def standard_input() -> BinaryIO:
    """Raises UsageError where there is none."""
    if sys.stdin is None:
        raise UsageError("standard input is closed; the command reads it: ... < FILE")
    return sys.stdin.buffer


def print_blocks(blocks: Iterable[bytes]) -> None:
    """Print rows as they are read."""
    sys.stdout.flush()
    for block in blocks:
        sys.stdout.buffer.write(block)


def print_report(report: Mapping[str, Any], text: str, json: bool, warnings: Sequence[str] = ()) -> None:
    """`warnings` have been told; in the object of --json they are too."""
    from trellis.cli.output.console import print_json

    if json:
        print_json({**report, "warnings": warnings} if warnings else report)
    elif text:
        typer.echo(text)


def print_value(value: Any, format: str | None) -> None:
    from trellis.cli.output.console import print_json
    from trellis.dialects.ytsaurus.formats.format import Format
    from trellis.dialects.ytsaurus.formats.json_lines import to_json

    parsed = Format.parse(format or "<format=pretty>yson")
    if parsed.name == "json":
        print_json(to_json(value))
    else:
        typer.echo(parsed.dumps(value))
