"""A delivery folder: the rows of a dataset as files, and every document a cluster needs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from trellis.destinations.base import Destination
from trellis.dialects.pinot.cluster.data_files import ROWS, DataFile, write_files
from trellis.dialects.pinot.cluster.file_rows import FileRows
from trellis.dialects.pinot.cluster.time_check import TimeCheck
from trellis.dialects.pinot.document.faults import Fault, SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import migrated
from trellis.dialects.pinot.document.validation.schema_rules import faults_of
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.stored_schema import Authored, columns_of, table_name
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.table.generated_config import (
    Kafka,
    WantedTable,
    left_out,
    offline_table,
    realtime_table,
    time_column_of,
)
from trellis.dialects.pinot.table.ingestion_job import CONTROLLER, FORMATS, IngestionJob, scheme_of
from trellis.errors import UsageError, nearest

JOB: Final = "ingestion-job.yaml"
SCHEMA: Final = "schema.json"
OFFLINE: Final = "table-offline.json"
REALTIME: Final = "table-realtime.json"
DATA: Final = "data"


@dataclass(frozen=True)
class Wanted:
    """What a delivery is to hold. `data` and `segments` are URIs of where files and segments will be.

    Without `data` the job reads the files where they were written.
    """

    format: str = "parquet"
    rows: int = ROWS
    kafka: Kafka | None = None
    time_column: str | None = None
    data: str | None = None
    segments: str | None = None
    framework: str = "standalone"
    job_type: str = "SegmentCreationAndTarPush"
    configs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    controller: str = CONTROLLER

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise UsageError(f"there is no format {self.format!r}{nearest(self.format, FORMATS)}")


@dataclass(frozen=True)
class Written:
    """The data files of a delivery, and what Pinot will not take of them."""

    files: tuple[DataFile, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.files)


@dataclass(frozen=True)
class Delivery:
    """The documents for a cluster, and what to mind about them. `zone`: of timestamps without one."""

    schema: PinotSchema
    offline: Mapping[str, Any]
    realtime: Mapping[str, Any] | None
    tables: tuple[WantedTable, ...]
    job: IngestionJob
    notes: tuple[str, ...]
    zone: str = "UTC"


def delivery_of(authored: Authored, out: Path, wanted: Wanted, where: str = "DEST") -> Delivery:
    """The documents of a delivery of what is at `where`. Raises UsageError, SchemaFaults."""
    if authored.schema is None:
        raise UsageError(
            f"{where} holds no Pinot schema; load into another dataset with --dialect pinot --schema FILE; "
            f"`trellis pinot convert --at {where}` proposes a schema for what is in this one"
        )
    schema = migrated(authored.schema)
    real_nulls = authored.options.view == "nullable"
    said, main = authored.table.document or None, wanted.time_column
    offline = offline_table(schema, said, main, real_nulls)
    realtime = (
        realtime_table(schema, wanted.kafka, said, main, real_nulls) if wanted.kafka is not None else None
    )
    both = (offline,) if realtime is None else (offline, realtime)
    faults: dict[Fault, None] = {}
    for table in both:
        faults.update(dict.fromkeys(faults_of(schema, authored.options.followed, table)))
    if faults:
        raise SchemaFaults(f"schema {schema.name}", faults)
    data = wanted.data or (out.absolute() / DATA).as_uri()
    if wanted.segments is None and scheme_of(data) == "file" and wanted.data is None:
        segments = (out.absolute() / "segments").as_uri()
    else:
        segments = wanted.segments or ""
    job = IngestionJob(
        table_name(schema),
        data,
        segments,
        wanted.format,
        wanted.controller,
        wanted.framework,
        wanted.job_type,
        configs=wanted.configs,
    )
    job.document()
    zone = authored.options.zone
    tables = tuple(WantedTable.of(each, said, main) for each in both)
    return Delivery(schema, offline, realtime, tables, job, tuple(_notes(authored, schema, wanted)), zone)


def write(
    delivery: Delivery,
    destination: Destination,
    dataset: str,
    out: Path,
    wanted: Wanted,
    tell: Callable[[int], None] = lambda _: None,
) -> Written:
    """Write the folder, all of it or nothing; one of an earlier delivery is replaced. Main times for which
    Pinot refuses a segment are written, and told in `warnings`.

    Raises UsageError where `out` holds other things, DestinationError from the rows.
    """
    rows = FileRows.of(columns_of(delivery.schema))
    times = TimeCheck.of(delivery.schema, table_config(delivery.offline), delivery.zone)
    look = times.look if isinstance(times, TimeCheck) else lambda _: None
    with _whole(out) as folder:
        (folder / DATA).mkdir()
        found = destination.batches(dataset, table_name(delivery.schema))
        files = write_files(rows, found, folder / DATA, wanted.format, wanted.rows, tell, look)
        (folder / SCHEMA).write_text(write_schema(delivery.schema) + "\n", encoding="utf-8")
        _document(folder / OFFLINE, delivery.offline)
        if delivery.realtime is not None:
            _document(folder / REALTIME, delivery.realtime)
        (folder / JOB).write_text(delivery.job.to_yaml(), encoding="utf-8")
    warning = times.warning if isinstance(times, TimeCheck) else times
    return Written(
        tuple(DataFile(out / DATA / each.path.name, each.rows) for each in files),
        () if warning is None else (warning,),
    )


def refuse_other(out: Path) -> None:
    """Raises UsageError where a folder holds something that is no delivery."""
    if out.exists() and not (out / JOB).exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"--out {out}: it holds other things; name a new folder, or one of an earlier delivery"
        )


@contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its place in the end."""
    refuse_other(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    made, old = (out.parent / f".{out.name}.{os.getpid()}.{word}" for word in ("new", "old"))
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    try:
        yield made
        if out.exists():
            out.rename(old)
        made.rename(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _document(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _notes(authored: Authored, schema: PinotSchema, wanted: Wanted) -> Iterator[str]:
    if authored.options.view == "stored":
        yield (
            "the rows hold defaults in place of nulls (view=stored), so Pinot cannot tell them from values; "
            "load with --option view=nullable to deliver true nulls"
        )
    elif not schema.column_nulls:
        yield "the rows hold true nulls, so the tables have nullHandlingEnabled"
    if authored.schema is not None and authored.schema.time is not None:
        yield "the legacy timeFieldSpec became a field of dateTimeFieldSpecs"
    if parts := left_out(authored.table.document):
        yield f"table-offline.json has no {', '.join(parts)}: the rows went through it already"
    times = [spec.name for spec in schema.date_times]
    main = time_column_of(schema, authored.table.document or None, wanted.time_column)
    if main is None:
        yield "there is no dateTime column, so the table has no time column: no retention, no time pruning"
    elif len(times) > 1 and wanted.time_column is None and authored.table.time_column is None:
        yield f"{main} is the time column, the first of {', '.join(times)}; --time-column names another"
    if wanted.data is not None:
        yield f"copy {DATA}/ to {wanted.data} before the job runs"
