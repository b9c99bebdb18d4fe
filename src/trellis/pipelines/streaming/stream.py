"""A stream that runs: waited for, stopped between two batches, told of batch by batch."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from trellis.destinations.folder import is_temporary
from trellis.dialects import get_dialect
from trellis.engine.runner import Runner
from trellis.engine.staging.stage import folder_name
from trellis.engine.storage.location import spark_location
from trellis.errors import UsageError
from trellis.pipelines.history import state_folder
from trellis.pipelines.streaming.batch_loader import BatchLoader
from trellis.pipelines.streaming.options import StreamSettings
from trellis.pipelines.streaming.report import BatchReport
from trellis.pipelines.streaming.sources import StreamSource, open_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from trellis.engine.spark.streams import BatchProgress
    from trellis.pipelines.pipeline import Pipeline

LOGGER: Final = logging.getLogger("trellis.stream")
CHECKPOINTS: Final = "checkpoints"
_POLL: Final = 0.2

OnBatch = Callable[[BatchReport], object]


class BatchWork(Protocol):
    """What is done with each batch. `checkpoint` is absolute."""

    checkpoint: str

    def __call__(self, frame: DataFrame, batch_id: int) -> str:
        """A `BatchReport` as JSON."""
        ...


class Stream:
    """A running stream. Each batch is a line of the logger `trellis.stream`, and a call of `on_batch`.

    `checkpoint` is where Spark keeps how far it is; a stream that is started with it again goes on there.
    """

    def __init__(
        self, source: StreamSource, work: BatchWork, interval: str | None, on_batch: OnBatch | None
    ) -> None:
        from trellis.engine.spark.streams import BatchQuery

        self.checkpoint = work.checkpoint
        self.last: BatchReport | None = None
        self._on_batch = on_batch
        self._stopping = False
        self._query = BatchQuery(source.frame, work, work.checkpoint, interval, self._finish_batch)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most so long; whether it has come.

        It comes with the data under `available-now`, else with `stop`. Raises what ended the stream:
        ContractError, DestinationError, SparkError ...
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _POLL if end is None else min(_POLL, max(end - time.monotonic(), 0.001))
            if self._query.wait(left):
                return True
            if self._stopping:
                self._query.stop_if_idle()
            if end is not None and time.monotonic() >= end:
                return False

    def request_stop(self) -> None:
        """Begin no further batch; `wait` returns once the running one is loaded."""
        self._stopping = True
        self._query.request_stop()

    def stop(self) -> None:
        """Let the running batch finish, and end. Raises what `wait` raises."""
        self.request_stop()
        self.wait()

    def kill(self) -> None:
        """End in the middle of a batch. The next start repeats it; what was loaded is not loaded twice."""
        self._query.kill()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is None:
            self.stop()
        else:
            self.kill()

    def _finish_batch(self, progress: BatchProgress, report: str) -> None:
        batch = BatchReport.from_json(report).finished(progress.seconds, progress.lag)
        self.last = batch
        LOGGER.info("%s", batch, extra={"batch": batch.to_dict()})
        if self._on_batch is not None:
            self._on_batch(batch)


def start_stream(
    pipeline: Pipeline, source: Any, settings: StreamSettings, runner: Runner, on_batch: OnBatch | None
) -> Stream:
    """Start to load a stream. Raises UsageError, SparkError."""
    from trellis.engine.spark.job import SparkRunner
    from trellis.engine.spark.packages import request_storage

    if not isinstance(runner, SparkRunner):
        raise UsageError("a stream runs on Spark; start it without --engine inline (TRELLIS_ENGINE)")
    line_extensions = get_dialect(pipeline.dialect).capabilities.line_extensions
    for place in (settings.checkpoint, pipeline.staging, pipeline.destination.abilities.staging):
        request_storage(place or "")
    opened = open_stream(source, settings.load, runner, line_extensions)
    table = pipeline.root_table(settings.load.table, opened.name)
    load = replace(settings.load, table=table or None)
    checkpoint = settings.checkpoint or default_checkpoint(pipeline, table, opened.title)
    checkpoint = spark_location(checkpoint)
    runner.session_at([checkpoint])
    loader = BatchLoader(pipeline, load, opened.batches, checkpoint, settings.quarantines)
    return Stream(opened, loader, settings.interval, on_batch)


def default_checkpoint(pipeline: Pipeline, table: str, title: str) -> str:
    """Another folder for each pipeline, dataset, table and source."""
    digest = hashlib.sha256(f"{pipeline.dataset}\0{table}\0{title}".encode()).hexdigest()[:12]
    return f"{_checkpoint_root(pipeline)}/{folder_name(pipeline.name)}-{digest}"


def _checkpoint_root(pipeline: Pipeline) -> str:
    """A place that outlives this machine's temporary files: without its checkpoint a stream begins anew."""
    destination = pipeline.destination
    if root := pipeline.staging or destination.abilities.staging:
        return f"{root.rstrip('/')}/{CHECKPOINTS}"
    root = destination.staging("")
    if is_temporary(root):
        return str(state_folder(CHECKPOINTS) / Path(root).name)
    return f"{root.rstrip('/')}/{CHECKPOINTS}"
