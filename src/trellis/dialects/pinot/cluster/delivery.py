"""A delivery folder: the rows of a dataset as files, and every document a cluster needs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trellis.destinations.base import Destination
from trellis.dialects.pinot.cluster.data_files import ROWS, DataFile, FileRows, write_files
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.stored_schema import Authored, columns_of, pinot_column_name, table_name
from trellis.dialects.pinot.table.config import pinot_table_name
from trellis.dialects.pinot.table.generated_config import (
    TargetTable,
    has_stream,
    omitted_parts,
    target_table,
    time_column_of,
)
from trellis.dialects.pinot.table.ingestion_job import CONTROLLER, ingestion_job
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.dialects.pinot.validation.table_config.all_rules import cluster_faults
from trellis.errors import UsageError, nearest
from trellis.schema.documents.yaml_text import write as write_yaml
from trellis.schema.model import Schema, Table

JOB: Final = "ingestion-job.yaml"
SCHEMA: Final = "schema.json"
OFFLINE: Final = "table-offline.json"
REALTIME: Final = "table-realtime.json"
DATA: Final = "data"


@dataclass(frozen=True)
class DeliverySettings:
    """The settings of a delivery. `data` is the URI of the files for the job, where they do not stay where
    they were written.
    """

    format: str = "parquet"
    rows: int = ROWS
    time_column: str | None = None
    data: str | None = None
    controller: str = CONTROLLER


@dataclass(frozen=True)
class Delivery:
    """The documents for a cluster, and notes about them.

    `table` is the table of the dataset; `sources` are its columns by their names in the schema.
    """

    schema: PinotSchema
    offline: TargetTable
    realtime: TargetTable | None
    job: Mapping[str, Any]
    notes: tuple[str, ...]
    table: str
    sources: Mapping[str, str]

    @property
    def tables(self) -> list[TargetTable]:
        return [self.offline] if self.realtime is None else [self.offline, self.realtime]


def delivery_of(
    authored: Authored,
    out: Path,
    settings: DeliverySettings,
    where: str = "DEST",
    table: Table | None = None,
) -> Delivery:
    """The documents of a delivery of the dataset at `where`; of `table`, if another dialect loaded it.

    Raises UsageError, SchemaFaults.
    """
    if authored.schema is None:
        raise UsageError(
            f"{where} holds no Pinot schema; load into another dataset with --dialect pinot --schema FILE; "
            f"`trellis schema convert --at {where} --to pinot` writes a schema of this one, for --schema FILE"
        )
    schema = authored.schema
    real_nulls = authored.options.view == "nullable"
    choices = (schema, authored.table.document or None, settings.time_column, real_nulls)
    offline = target_table("OFFLINE", *choices)
    realtime = target_table("REALTIME", *choices) if has_stream(authored.table.document) else None
    data = settings.data or (out.absolute() / DATA).as_uri()
    segments = "" if settings.data else (out.absolute() / "segments").as_uri()
    name, controller = table_name(schema), settings.controller
    job = ingestion_job(name, data, segments, settings.format, controller)
    notes = tuple(_notes(authored, schema, settings))
    sources = {pinot_column_name(column): column for column in (table.columns if table else ())}
    delivery = Delivery(schema, offline, realtime, job, notes, table.name if table else name, sources)
    configs = [table.config for table in delivery.tables]
    faults = [
        fault
        for config in configs
        for fault in (*faults_of(schema, config), *cluster_faults(schema, config))
        if not fault.unchecked
    ]
    if faults:
        raise SchemaFaults(f"schema {schema.name}", dict.fromkeys(faults))
    return delivery


def table_for(authored: Authored, schema: Schema) -> Table:
    """The table of a dataset of another dialect that a schema of the user describes.

    Raises UsageError without one, and for parts of the table config that only a load with this dialect
    carries out.
    """
    if parts := omitted_parts(authored.table.document):
        raise UsageError(
            f"--table-config: {', '.join(parts)} would not be applied to rows that another dialect loaded: "
            "load them with --dialect pinot, or remove it"
        )
    tables = {pinot_table_name(name): table for name, table in schema.tables.items()}
    tables.update(schema.tables)
    name = table_name(authored.schema) if authored.schema else ""
    if name not in tables:
        raise UsageError(f"--schema: there is no table {name!r}{nearest(name, tables)}")
    return tables[name]


def write(
    delivery: Delivery,
    destination: Destination,
    dataset: str,
    out: Path,
    settings: DeliverySettings,
    tell: Callable[[int], None] = lambda _: None,
) -> list[DataFile]:
    """Write the folder, all of it or nothing; one of an earlier delivery is replaced. Returns the data files.

    Raises UsageError where `out` holds other files, DestinationError from the rows.
    """
    rows = FileRows(columns_of(delivery.schema), delivery.sources)
    with _atomic_folder(out) as folder:
        (folder / DATA).mkdir()
        batches = destination.batches(dataset, delivery.table)
        files = write_files(rows, batches, folder / DATA, settings.format, settings.rows, tell)
        (folder / SCHEMA).write_text(write_schema(delivery.schema) + "\n", encoding="utf-8")
        _document(folder / OFFLINE, delivery.offline.config)
        if delivery.realtime is not None:
            _document(folder / REALTIME, delivery.realtime.config)
        (folder / JOB).write_text(write_yaml(delivery.job), encoding="utf-8")
    return [DataFile(out / DATA / data_file.path.name, data_file.rows) for data_file in files]


def check_target_folder(out: Path) -> None:
    """Raises UsageError where a folder holds anything but a delivery."""
    if out.exists() and not (out / JOB).exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"--out {out}: it holds other files; choose a new folder, or one of an earlier delivery"
        )


@contextmanager
def _atomic_folder(out: Path) -> Iterator[Path]:
    """A temporary folder next to `out` that replaces it at the end."""
    check_target_folder(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    new, old = (out.parent / f".{out.name}.{os.getpid()}.{word}" for word in ("new", "old"))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        yield new
        if out.exists():
            out.rename(old)
        new.rename(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _document(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _notes(authored: Authored, schema: PinotSchema, settings: DeliverySettings) -> Iterator[str]:
    if authored.options.view == "stored":
        yield (
            "the rows hold defaults in place of nulls (view=stored), so Pinot cannot tell them from values; "
            "load with --option view=nullable to deliver true nulls"
        )
    elif not schema.column_nulls:
        yield "the rows hold true nulls, so the tables have nullHandlingEnabled"
    if parts := omitted_parts(authored.table.document):
        yield f"table-offline.json has no {', '.join(parts)}: it is applied to the rows already"
    times = [spec.name for spec in schema.date_times]
    main = time_column_of(schema, authored.table.document or None, settings.time_column)
    if main is None:
        yield "the table has no time column: no retention, no time pruning; choose one with --time-column"
    elif len(times) > 1 and settings.time_column is None and authored.table.time_column is None:
        yield f"{main} is the time column, the first of {', '.join(times)}; choose another with --time-column"
    if settings.data is not None:
        yield f"copy {DATA}/ to {settings.data} before the job runs"
