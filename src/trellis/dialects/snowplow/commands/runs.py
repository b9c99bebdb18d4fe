"""What `trellis snowplow load` and `status` were asked, and what they print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast, get_args

from trellis.cli.output.console import console, counted, grid, indented
from trellis.cli.output.load_report import show_statements
from trellis.cli.verbosity import is_quiet
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.client.references import listed_uris
from trellis.dialects.snowplow.client.short_names import short_name_notes
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.loading.verification import Verification
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE
from trellis.dialects.snowplow.runs.warehouses.duckdb import MissingFile
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.errors import UsageError, nearest

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def open_loader(
    to: str,
    schema: str,
    dataset: str,
    verify: str = "count",
    retries: int = 0,
    *,
    read_only: bool = False,
    missing: MissingFile = "refuse",
) -> Iterator[RunLoader]:
    """`read_only` and `missing` are those of `open_warehouse`.

    Raises UsageError, SchemaError, DestinationError.
    """
    verification, attempts = verification_of(verify), Retries.of(retries)
    warehouse = attempts.run(lambda _: open_warehouse(to, read_only=read_only, missing=missing))
    try:
        yield RunLoader(warehouse, open_registry(schema), dataset, verification, attempts)
    finally:
        warehouse.close()


def verification_of(text: str) -> Verification:
    """Raises UsageError."""
    choices = get_args(Verification)
    if text not in choices:
        raise UsageError(f"--verify: there is no {text!r}{nearest(text, choices)}")
    return cast(Verification, text)


def show_loaded(reports: Sequence[RunReport]) -> None:
    if not is_quiet():
        show_runs(reports)


def show_runs(reports: Sequence[RunReport]) -> None:
    out = console()
    table = grid("Run", "State", "Table", "Rows", right=("Rows",), whole=("Run", "State"))
    for report in reports:
        rows = [(name, f"{count:,}") for name, count in report.rows.items()] or [("", "")]
        for number, (name, count) in enumerate(rows):
            first = number == 0
            table.add_row(report.run if first else "", report.state if first else "", name, count)
    out.print(indented(table))
    for report in reports:
        show_statements(f"Statements of {report.run}", report.statements, out)
    for report in reports:
        _show_notes(report, out)
        if report.state == "loaded":
            out.print(f"{report.run}: {report.balance}", style="bold", soft_wrap=True)


def show_states(reports: Sequence[RunReport]) -> None:
    table = grid("Run", "State", whole=("Run", "State"))
    for report in reports:
        table.add_row(report.run, report.state)
    out = console()
    out.print(indented(table))
    for report in reports:
        _show_notes(report, out)


def _show_notes(report: RunReport, out: Console) -> None:
    for note in _notes(report):
        out.print(f"{report.run}: {note}", style="yellow", soft_wrap=True)


def _notes(report: RunReport) -> Iterator[str]:
    if report.state == "incomplete":
        yield (
            f"it has no {COMPLETION_FILE}; wait for its shredder to end, or delete the folder and shred the "
            "run again"
        )
    if report.discards:
        yield f"{counted(report.discards, 'value')} did not fit, see table _trellis_discards"
    if report.failed:
        yield f"{counted(report.failed, 'event')} failed, see table failed_events"
    if report.missing:
        yield (
            f"when it was shredded the registry did not have {listed_uris(report.missing)}; publish what is "
            "missing, and load the events that failed with `trellis snowplow replay`"
        )
    if report.recovered:
        yield f"tables of versions that do not fit the others: {', '.join(report.recovered)}"
    yield from short_name_notes(report.shortened, report.not_kept)
    if report.attempts > 1:
        yield f"loaded with attempt {report.attempts}"
