"""What commands on tables open and print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.store.store import Store


def open_store(at: str) -> Store:
    from trellis.dialects.ytsaurus.store.store import Store

    return Store.open(at)


def print_report(report: Mapping[str, Any], text: str, json: bool) -> None:
    from trellis.cli.output.console import print_json

    if json:
        print_json(report)
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
