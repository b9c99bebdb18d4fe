"""One batch of a stream is one load: its id follows from the query and the batch, so a repeated batch is a
load that the destination knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable
from trellis.engine.storage.storage import Storage
from trellis.pipelines.history import LoadHistory, LoadOutcome, begin_outcome
from trellis.pipelines.loading.job import LoadInput, LoadJob, ProgressCallback, ignore_progress
from trellis.pipelines.loading.options import LoadSettings
from trellis.pipelines.report import Report
from trellis.pipelines.streaming.report import BatchReport
from trellis.pipelines.streaming.sources import Batch, Batches
from trellis.schema.model import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from trellis.pipelines.pipeline import Pipeline

Stored = tuple[Schema, Mapping[str, CatalogTable] | None]


class StreamContext:
    """A pipeline as loads see it that follow each other.

    The schema is read from the destination for the first load, and again only after a load that changed it,
    failed, or met a commit of another writer: a commit that starts from an old schema is a conflict.
    """

    tell: ProgressCallback = staticmethod(ignore_progress)

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.dialect = pipeline.dialect
        self.dataset = pipeline.dataset
        self.destination = pipeline.destination
        self.settings = pipeline.settings
        self.staging = pipeline.staging
        self.storage: Storage = pipeline.storage
        self._known: Stored | None = None
        self._looked: Stored | None = None

    def look(self, schema_name: str) -> Stored:
        known, self._known = self._known, None
        self._looked = known or self.pipeline.look(schema_name)
        return self._looked

    def declared(self, schema: Schema) -> Schema:
        return self.pipeline.declared(schema)

    def keep(self, report: Report) -> None:
        """Let the next load start from where this one did, if it changed nothing there."""
        if self._looked is not None and report.schema.stored_hash == self._looked[0].stored_hash:
            self._known = self._looked


@dataclass
class BatchLoader:
    """Loads the batches of one stream. With Spark Connect it travels to the server before the first one."""

    pipeline: Pipeline
    settings: LoadSettings
    batches: Batches
    checkpoint: str
    quarantines: bool

    def __post_init__(self) -> None:
        self._query_id: str | None = None
        self._context: StreamContext | None = None
        self._job: LoadJob | None = None
        self._last_batch: int | None = None

    def __call__(self, frame: DataFrame, batch_id: int) -> str:
        from trellis.engine.spark.streams import query_id

        if self._query_id is None:
            self._query_id = query_id(frame.sparkSession, self.checkpoint)
        load_id = f"{self._query_id}-{batch_id}"
        history = LoadHistory(self.pipeline.destination.url, self.pipeline.dataset)
        report = history.record(
            begin_outcome(self.pipeline.name, self.pipeline.dialect),
            lambda outcome: self._load(frame, load_id, self._last_batch != batch_id - 1, outcome),
        )
        self._last_batch = batch_id
        return BatchReport.of(batch_id, report).to_json()

    def _load(self, frame: DataFrame, load_id: str, repeats: bool, outcome: LoadOutcome) -> Report:
        """`repeats`: the batch may have been loaded before, as none that follows another one has."""
        if self._context is None:
            self._context = StreamContext(self.pipeline)
        job = self._job_of(self.batches.open(frame))
        runner = self.pipeline.load_runner(self._context)
        report = runner.run(job, load_id, outcome=outcome, repeats=repeats)
        if not report.already_loaded:
            self._context.keep(report)
            self._job = replace(job, state=None)  # it is in the destination now
        return report

    def _job_of(self, batch: Batch) -> LoadJob:
        if self._job is None:
            job = self.pipeline.load_job(batch.files, batch.records, self.settings)
            return replace(job, quarantines=self.quarantines)
        (feed,) = self._job.feeds
        return replace(self._job, feeds=(LoadInput(batch.records, feed.request),))
