"""What `trellis snowplow load` and `status` were asked, and what they print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.table import Table

from trellis.cli.output.console import console, print_json
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.runs.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.warehouse import open_warehouse


@contextmanager
def open_loader(to: str, schema: str, dataset: str) -> Iterator[RunLoader]:
    """Raises UsageError, SchemaError, DestinationError."""
    warehouse = open_warehouse(to)
    try:
        yield RunLoader(warehouse, open_registry(schema), dataset)
    finally:
        warehouse.close()


def print_runs(reports: Sequence[RunReport], as_json: bool) -> None:
    if as_json:
        print_json({"runs": [report.to_dict() for report in reports]})
        return
    table = Table("Run", "State", "Table", "Rows", box=None, header_style="bold")
    for report in reports:
        rows = [(name, str(count)) for name, count in report.rows.items()] or [("", "")]
        for number, (name, count) in enumerate(rows):
            first = number == 0
            table.add_row(report.run if first else "", report.state if first else "", name, count)
    console().print(table)
    for report in reports:
        for statement in report.statements:
            console().print(f"{report.run}: {statement}", soft_wrap=True, markup=False, highlight=False)
        if report.discards:
            message = f"{report.run}: {report.discards} values did not fit, see table _trellis_discards"
            console().print(message, style="yellow")
