"""`trellis pinot deliver`: the folder, then the cluster, and a report of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.cli.output.console import console, counted, grid, indented, print_json, progress
from trellis.cli.schema_store import StoredSchema
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.deliver import (
    JOB,
    Delivery,
    Wanted,
    Written,
    delivery_of,
    refuse_other,
    write,
)
from trellis.dialects.pinot.cluster.files import ROWS
from trellis.dialects.pinot.cluster.http import Http
from trellis.dialects.pinot.cluster.rollout import Done, Rollout, Stopped
from trellis.dialects.pinot.system import authored_of, table_name
from trellis.dialects.pinot.table.documents import Kafka
from trellis.dialects.pinot.table.job import CONTROLLER
from trellis.errors import UsageError


@dataclass(frozen=True)
class Order:
    """Where a delivery goes, and what it is to hold."""

    out: Path
    wanted: Wanted

    @staticmethod
    def of(
        out: str,
        format: str,
        rows: int | None,
        time_column: str | None,
        kafka: str | None,
        topic: str | None,
        job: str,
        job_type: str | None,
        data: str | None,
        segments: str | None,
        configs: Mapping[str, str],
        controller: str | None,
    ) -> Order:
        """Raises UsageError."""
        if (kafka is None) != (topic is None):
            raise UsageError("a REALTIME table needs both --kafka BROKERS and --topic NAME")
        stream = Kafka(kafka, topic) if kafka is not None and topic is not None else None
        url = Http.of(controller).url if controller else CONTROLLER
        kind = job_type or Wanted.job_type
        wanted = Wanted(format, rows or ROWS, stream, time_column, data, segments, job, kind, configs, url)
        return Order(Path(out), wanted)


def run(
    order: Order,
    place: tuple[str | None, str | None, str | None],
    controller: Controller | None,
    force: bool,
    wait: float,
    dry_run: bool,
    json: bool,
) -> None:
    """Deliver, and report. Raises TrellisError, after the steps that were done are shown."""
    refuse_other(order.out)
    store = StoredSchema.open(*place)
    authored, pipeline = authored_of(store.newest), store.pipeline
    delivery = delivery_of(authored, order.out, order.wanted, place[0] or pipeline.destination.url)
    name = table_name(delivery.schema)
    rows = pipeline.destination.row_counts(pipeline.dataset).get(name, 0)
    written = Written()
    if not dry_run:
        with progress() as tell:
            written = write(
                delivery,
                pipeline.destination,
                pipeline.dataset,
                order.out,
                order.wanted,
                lambda done: tell("writing", done, rows),
            )
        rows = written.rows
    report = Report(order, delivery, pipeline.where, rows, written, dry_run)
    if not json:
        report.show()
    steps: tuple[Done, ...] = ()
    try:
        if controller is not None:
            tables = delivery.tables
            steps = tuple(Rollout(controller, delivery.schema, tables, force, dry_run, wait).run())
    except Stopped as stopped:
        steps = stopped.steps
        raise
    finally:
        if json:
            print_json(report.to_dict(steps))
        elif controller is not None and steps:
            _show_steps(controller, steps)


@dataclass(frozen=True)
class Report:
    """What is in the folder, or would be."""

    order: Order
    delivery: Delivery
    where: str
    rows: int
    written: Written
    dry_run: bool

    def show(self) -> None:
        out, name = console(), table_name(self.delivery.schema)
        files = counted(len(self.written.files), "file")
        said = f"{counted(self.rows, 'row')} of {name} from {self.where}"
        if self.dry_run:
            out.print(
                f"Would deliver {said} to {self.order.out}; nothing was written", style="bold", soft_wrap=True
            )
        else:
            out.print(f"Delivered {said} to {self.order.out}", style="bold", soft_wrap=True)
            table = grid("", "")
            for what, path in self.documents().items():
                table.add_row(what, str(path))
            table.add_row(f"{files} of rows", f"{self.order.out}/data/*.{self.order.wanted.format}")
            out.print()
            out.print(indented(table))
        for note in self.delivery.notes:
            out.print(f"\n{note}", style="yellow", soft_wrap=True)
        for warning in self.written.warnings:
            out.print(f"\nwarning: {warning}", style="bold yellow", soft_wrap=True)
        if not self.dry_run:
            job = self.order.out / JOB
            out.print(
                f"\npinot-admin.sh LaunchDataIngestionJob -jobSpecFile {job}", style="cyan", soft_wrap=True
            )

    def documents(self) -> dict[str, Path]:
        made = {"schema": "schema.json", "OFFLINE table": "table-offline.json"}
        made |= {"REALTIME table": "table-realtime.json"} if self.delivery.realtime is not None else {}
        return {what: self.order.out / name for what, name in {**made, "job": JOB}.items()}

    def to_dict(self, steps: tuple[Done, ...]) -> dict[str, Any]:
        return {
            "table": table_name(self.delivery.schema),
            "out": str(self.order.out),
            "dry_run": self.dry_run,
            "rows": self.rows,
            "files": [{"path": str(each.path), "rows": each.rows} for each in self.written.files],
            "notes": list(self.delivery.notes),
            "warnings": list(self.written.warnings),
            "steps": [
                {"step": each.step, "outcome": each.outcome, "note": each.note or None} for each in steps
            ],
        }


def _show_steps(controller: Controller, steps: tuple[Done, ...]) -> None:
    from rich.text import Text

    out, styles = console(), {"done": "green", "failed": "bold red", "not yet": "yellow"}
    out.print(f"\nIn the cluster of {controller.url}", style="bold", soft_wrap=True)
    table = grid("", "", "", whole=("",))
    table.columns[2].no_wrap = False
    for each in steps:
        table.add_row(each.step, Text(each.outcome, style=styles.get(each.outcome, "")), Text(each.note))
    out.print(indented(table))
