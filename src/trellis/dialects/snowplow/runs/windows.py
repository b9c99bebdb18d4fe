"""The shredder as a stream of files: what arrives within a window becomes a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.enriched.fields import LINE_EXTENSIONS
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.storage.location import absolute
from trellis.errors import UsageError
from trellis.pipelines.loading.options import LoadSettings
from trellis.pipelines.streaming.report import BatchReport
from trellis.pipelines.streaming.sources import Batches, open_stream
from trellis.pipelines.streaming.stream import OnBatch, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAMESPACE: Final = UUID("0d9c7d53-2a3f-4f3e-8a52-6a1e5d0b9f0c")


_CHECKPOINTS: Final = ".trellis-checkpoints"


@dataclass
class WindowShredder:
    """Shreds each batch of a stream of files into a run folder.

    The name of the folder ends in an id that follows from the query and the batch, so a batch that is
    repeated finds its run. The registry is opened anew for each, so all events of a window meet one state of
    it.
    """

    shredder: Shredder
    registry: str
    batches: Batches
    checkpoint: str

    def __call__(self, frame: DataFrame, batch_id: int) -> str:
        from trellis.engine.spark.streams import query_id

        query = query_id(frame.sparkSession, self.checkpoint)
        identity = str(uuid5(_NAMESPACE, f"{query}/{batch_id}"))
        shredder = replace(self.shredder, resolve=RegistryReferences.open(self.registry))
        records = self.batches.open(frame).records
        return BatchReport.of(
            batch_id, shredder.shred_run(records, self._run_name(identity), identity)
        ).to_json()

    def _run_name(self, identity: str) -> str:
        """The name of the run folder that a batch has, or is to have."""
        runs = self.shredder.out.glob(f"run=*-{identity}")
        name = f"run={datetime.now(timezone.utc):%Y-%m-%d-%H-%M-%S}-{identity}"
        return next((run.name for run in runs), name)


def start_window_stream(
    shredder: Shredder,
    registry: str,
    source: str,
    reading: Mapping[str, str],
    interval: str | None,
    checkpoint: str | None,
    on_batch: OnBatch | None = None,
) -> Stream:
    """Start to shred the files that arrive below a path, each window by the registry as it is then.

    `reading` are options of Spark's stream of files. Raises UsageError, SparkError.
    """
    from trellis.engine.spark.job import SparkRunner

    if not isinstance(shredder.runner, SparkRunner):
        raise UsageError("a stream runs on Spark; start it without --engine inline (TRELLIS_ENGINE)")
    settings = LoadSettings(read_options=reading)
    opened = open_stream(source, settings, shredder.runner, LINE_EXTENSIONS)
    digest = sha256(opened.title.encode()).hexdigest()[:12]
    place = absolute(checkpoint or str(shredder.out / _CHECKPOINTS / digest))
    return Stream(opened, WindowShredder(shredder, registry, opened.batches, place), interval, on_batch)
