"""`trellis pinot deliver`: the folder, then the cluster, and a report of both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.cli.output.console import console, counted, grid, indented, print_json, progress
from trellis.cli.schema_store import StoredSchema
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.data_files import DataFile
from trellis.dialects.pinot.cluster.delivery import (
    JOB,
    OFFLINE,
    REALTIME,
    SCHEMA,
    Delivery,
    DeliverySettings,
    check_target_folder,
    delivery_of,
    table_for,
    write,
)
from trellis.dialects.pinot.cluster.rollout import Rollout, RolloutFailed, StepResult
from trellis.dialects.pinot.stored_schema import Authored, authored_of, table_name
from trellis.errors import UsageError


def run(
    out: Path,
    settings: DeliverySettings,
    place: tuple[str | None, str | None, str | None],
    documents: Authored | None,
    controller: Controller | None,
    force: bool,
    dry_run: bool,
    json: bool,
) -> None:
    """Deliver, and report. Raises TrellisError after the finished steps are shown.

    `documents` are those of the user for what another dialect loaded.
    """
    check_target_folder(out)
    store = StoredSchema.open(*place)
    authored, pipeline = authored_of(store.newest), store.pipeline
    if documents is not None and authored.schema is not None:
        raise UsageError(f"--schema: {pipeline.where} holds a Pinot schema already; leave --schema out")
    table = None if documents is None else table_for(documents, store.newest)
    authored = documents or authored
    delivery = delivery_of(authored, out, settings, place[0] or pipeline.destination.url, table)
    rows = pipeline.destination.row_counts(pipeline.dataset).get(delivery.table, 0)
    files: list[DataFile] = []
    if not dry_run:
        destination = pipeline.destination, pipeline.dataset
        with progress() as tell:
            files = write(delivery, *destination, out, settings, lambda done: tell("writing", done, rows))
        rows = sum(data_file.rows for data_file in files)
    report = Report(out, settings.format, delivery, pipeline.where, rows, files, dry_run)
    if not json:
        report.show()
    steps: tuple[StepResult, ...] = ()
    try:
        if controller is not None:
            rollout = Rollout(controller, delivery.schema, delivery.tables, force, dry_run)
            steps = tuple(rollout.run())
    except RolloutFailed as failure:
        steps = failure.steps
        raise
    finally:
        if json:
            print_json(report.to_dict(steps))
        elif controller is not None and steps:
            _show_steps(controller, steps)


@dataclass(frozen=True)
class Report:
    """The content of the delivery folder."""

    folder: Path
    format: str
    delivery: Delivery
    where: str
    rows: int
    files: list[DataFile]
    dry_run: bool

    def show(self) -> None:
        out = console()
        rows = f"{counted(self.rows, 'row')} of {table_name(self.delivery.schema)} from {self.where}"
        begin, end = ("Would deliver", "; nothing was written") if self.dry_run else ("Delivered", "")
        out.print(f"{begin} {rows} to {self.folder}{end}", style="bold", soft_wrap=True)
        if not self.dry_run:
            documents = {"schema": SCHEMA, "OFFLINE table": OFFLINE, "REALTIME table": REALTIME, "job": JOB}
            table = grid("", "")
            for label, name in documents.items():
                if name != REALTIME or self.delivery.realtime is not None:
                    table.add_row(label, str(self.folder / name))
            files = f"{counted(len(self.files), 'file')} of rows"
            table.add_row(files, f"{self.folder}/data/*.{self.format}")
            out.print()
            out.print(indented(table))
        for note in self.delivery.notes:
            out.print(f"\n{note}", style="yellow", soft_wrap=True)
        if not self.dry_run:
            command = f"pinot-admin.sh LaunchDataIngestionJob -jobSpecFile {self.folder / JOB}"
            out.print(f"\n{command}", style="cyan", soft_wrap=True)

    def to_dict(self, steps: tuple[StepResult, ...]) -> dict[str, Any]:
        return {
            "table": table_name(self.delivery.schema),
            "out": str(self.folder),
            "dry_run": self.dry_run,
            "rows": self.rows,
            "files": [{"path": str(data_file.path), "rows": data_file.rows} for data_file in self.files],
            "notes": list(self.delivery.notes),
            "steps": [
                {"step": step.step, "outcome": step.outcome, "note": step.note or None} for step in steps
            ],
        }


def _show_steps(controller: Controller, steps: tuple[StepResult, ...]) -> None:
    from rich.text import Text

    out, styles = console(), {"done": "green", "failed": "bold red", "started": "yellow"}
    out.print(f"\nIn the cluster of {controller.url}", style="bold", soft_wrap=True)
    table = grid("", "", "", whole=("",))
    table.columns[2].no_wrap = False
    for step in steps:
        table.add_row(step.step, Text(step.outcome, style=styles.get(step.outcome, "")), Text(step.note))
    out.print(indented(table))
