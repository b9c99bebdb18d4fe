"""Runs of enriched events into run folders of shredded ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from trellis.destinations.base import CatalogTable
from trellis.destinations.folder import exclusive_lock
from trellis.dialects import get_dialect
from trellis.dialects.registration import ReferenceResolver
from trellis.dialects.snowplow.columns.profiles import get_profile
from trellis.dialects.snowplow.enriched.fields import LINE_EXTENSIONS
from trellis.dialects.snowplow.runs.duplicates import Deduplication, renamed_note
from trellis.dialects.snowplow.runs.event_store import EventStore
from trellis.dialects.snowplow.runs.layouts import BAD_PATH
from trellis.dialects.snowplow.runs.manifest import Compression, FileFormat, find_runs
from trellis.dialects.snowplow.runs.run_folder import HIDDEN, IncompleteRun, RunFolder
from trellis.engine.input.read_options import ReadOptions
from trellis.engine.plan import Counts
from trellis.engine.records.files import Records
from trellis.engine.runner import Runner
from trellis.engine.spark.storage import current_storage
from trellis.engine.storage.storage import EmptyFolder, Storage
from trellis.errors import UsageError
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.schemas import TableRequest
from trellis.pipelines.loading.job import LoadInput, LoadJob, ProgressCallback, ignore_progress
from trellis.pipelines.loading.reject_limit import RejectLimit
from trellis.pipelines.loading.runner import LoadRunner
from trellis.pipelines.records import records_of
from trellis.pipelines.report import Report, TableReport
from trellis.pipelines.schema_folders import SchemaFolders
from trellis.schema.model import Schema

DIALECT: Final = "snowplow"
_LOCK_WAIT: Final = 600.0
"""Seconds to wait for another shredder of the same run."""


@dataclass(frozen=True)
class Shredder:
    """How runs are shredded, and where to."""

    out: Path
    resolve: ReferenceResolver
    runner: Runner
    format: FileFormat = "csv"
    compression: Compression = "NONE"
    profile: str | None = None
    deduplication: Deduplication = "all"
    store: EventStore | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tell: ProgressCallback = ignore_progress
    staging: str | None = None
    """The folder or URL where rows wait for their files; None: below `out`."""

    def shred(self, source: str) -> Iterator[Report]:
        """Shred a run folder, or all in a folder that are not in `out` yet.

        A run is shredded when its report is asked for. In a folder of runs one without files is passed over,
        and one that is incomplete in `out` is refused after the others. Raises UsageError, SchemaError,
        RegistryUnavailable, SparkError.
        """
        return self._shred_each(find_runs(source), source)

    def _shred_each(self, runs: Sequence[Path], source: str) -> Iterator[Report]:
        reading = ReadOptions(line_extensions=LINE_EXTENSIONS)
        incomplete: list[IncompleteRun] = []
        for run in runs:
            if run != Path(source) and _is_empty(run):
                yield self._report_of_nothing(run)
                continue
            try:
                yield self.shred_run(records_of([str(run)], self.runner, read_options=reading), run.name)
            except IncompleteRun as error:
                incomplete.append(error)
        if incomplete:
            raise UsageError("; ".join(map(str, incomplete)))

    def _report_of_nothing(self, run: Path) -> Report:
        note = (
            f"{run}: the run has no files and was passed over; shred again when they are there, or delete "
            "the folder"
        )
        schema = get_dialect(DIALECT).schemas.new_schema(DIALECT)
        url = str(self.out / run.name)
        return Report(run.name, "", url, DIALECT, schema, Counts(), notes=(note,))

    def shred_run(self, records: Records, name: str, identity: str = "") -> Report:
        """Shred records into a run folder of this name, unless it is there.

        `identity` is what the run is called where its name may be another one when it is shredded again.
        Raises UsageError, SchemaError, RegistryUnavailable, SparkError.
        """
        layout = self.settings.get("layout", "model")
        if layout == "wide" and self.format == "orc":
            raise UsageError(
                "the manifest of a run allows wide rows in Parquet and JSON alone, not in ORC; choose "
                "--format parquet, which Spark and DuckDB read, or --layout model"
            )
        if layout == "model" and self.format == "json":
            raise UsageError(
                "JSON has no merged columns; write it with --layout version or wide, or choose --format csv"
            )
        has_lines = self.format == "csv" or (self.format == "json" and layout == "version")
        target = RunFolder(
            self.out,
            name,
            get_profile(self.profile or ("redshift" if has_lines else "spark")),
            "csv" if has_lines else self.format,
            self.compression,
            self.deduplication,
            self.store,
            self.resolve,
            identity or name,
        )
        context = _RunContext(
            target,
            {**self.settings, "text": has_lines, "as_json": self.format == "json"},
            self.tell,
            self.staging,
        )
        job = LoadJob(
            (LoadInput(records, TableRequest("")),),
            DIALECT,
            resolve=self.resolve,
            reject_limit=RejectLimit.of("100%"),
        )
        metadata = context.rules.metadata.tables()
        loader = LoadRunner(context, DIALECT, target.url, metadata, SchemaFolders())
        with exclusive_lock(str(target.lock), _LOCK_WAIT, remove=True):
            report = loader.run(job, load_id=name)
        with suppress(OSError):  # another run may be under way
            Path(target.staging("")).rmdir()
        return _report_of_files(report, target)


def _is_empty(run: Path) -> bool:
    try:
        current_storage().list_files(str(run))
    except EmptyFolder:
        return True
    return False


def _report_of_files(report: Report, target: RunFolder) -> Report:
    """The report of what is in the files: copies of events count as dropped, and there was nothing before."""
    if target.manifest is None:
        return report
    dropped = len(target.duplicates.dropped)
    report.rows.loaded -= dropped
    report.rows.dropped += dropped
    tables = tuple(
        replace(
            table,
            rows=target.written.get(table.name, table.rows),
            columns_added=tuple(name for name in table.columns_added if name not in HIDDEN),
        )
        for table in report.tables
    )
    names = {table.name for table in tables}
    contexts = tuple(  # of events that got new ids
        TableReport(name, rows, created=True) for name, rows in target.written.items() if name not in names
    )
    return replace(
        report,
        tables=(*tables, *contexts),
        changes=(),
        rejected_lines=str(target.path / BAD_PATH),
        notes=(*report.notes, *renamed_note(target.duplicates)),
    )


@dataclass
class _RunContext:
    """The load of one run: it starts from no schema, as each run folder stands for itself."""

    destination: RunFolder
    settings: Mapping[str, Any]
    tell: ProgressCallback
    staging: str | None
    name: str = DIALECT
    dialect: str = DIALECT
    dataset: str = ""

    @property
    def rules(self) -> Dialect:
        return get_dialect(self.dialect)

    @property
    def storage(self) -> Storage:
        return current_storage()

    def look(self, schema_name: str) -> tuple[Schema, Mapping[str, CatalogTable] | None]:
        schemas = self.rules.schemas
        settings = {**self.settings, "is_run": True}
        family = self.destination.abilities.family
        return schemas.configure(schemas.new_schema(schema_name), settings, family), None

    def declared(self, schema: Schema) -> Schema:
        return schema
