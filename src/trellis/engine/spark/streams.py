"""Streams as Spark queries: files that arrive as frames, a query over batches, what it reports, its end.

Where a batch is loaded depends on the session: in this process, or with Spark Connect in a Python process
beside the server. The two sides talk through a `BatchChannel`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from uuid import uuid4

from trellis import errors
from trellis.engine.spark.failures import job_failure, reader_failure
from trellis.engine.spark.session import is_connect
from trellis.errors import SparkError, TrellisError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener
    from pyspark.sql.streaming.query import StreamingQuery

PATH: Final = "path"
_FILES: Final = f"{PATH} STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_STOPPED: Final = "trellis: the stream was asked to stop before this batch"
_EVENT_SECONDS: Final = 5
_REPEATED_BATCH_FAULT: Final = 'because the return value of "scala.Option.get()" is null'
"""Spark 4.1 cannot measure the lag of a topic after a repeated batch, which is done, and ends the query."""

BatchWork = Callable[["DataFrame", int], str]
"""Loads a batch, given its frame and its number, and gives a report of it as text."""


def read_file_names(
    session: SparkSession, locations: Mapping[str, str], options: Mapping[str, str]
) -> DataFrame:
    """The names of files as they appear below some paths, as a stream. Their content is not read.

    `locations` has the paths by what the user calls them. Raises UsageError, SparkError.
    """
    frames = [_file_names(session, name, location, options) for name, location in locations.items()]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _file_names(session: SparkSession, name: str, location: str, options: Mapping[str, str]) -> DataFrame:
    reader = session.readStream.format("binaryFile").schema(_FILES)
    try:
        frame = reader.options(**{"recursiveFileLookup": "true", **options}).load(location)
        names = frame.select(PATH, "modificationTime", "length")
        _ = names.schema
    except Exception as failure:
        raise reader_failure(failure, name, "a stream of files", "") from failure
    return names


class NewFile(NamedTuple):
    """A file that appeared."""

    path: str
    size: int


def new_files_of(batch: DataFrame) -> list[NewFile]:
    """The files of a batch of `read_file_names`, those that were written first before the others."""
    try:
        rows = batch.collect()
    except Exception as failure:
        raise job_failure(failure) from failure
    ordered = sorted(rows, key=lambda row: (row.modificationTime, row.path))
    return [NewFile(_plain_path(row.path), row.length) for row in ordered]


def _plain_path(path: str) -> str:
    """A path as Hadoop writes it, which escapes nothing.

    >>> _plain_path("file:/raw/a%20b.jsonl"), _plain_path("s3a://raw/a.jsonl")
    ('/raw/a%20b.jsonl', 's3a://raw/a.jsonl')
    """
    return path.removeprefix("file:") if path.startswith("file:/") else path


# ---- what a batch tells the process that waits for the stream


class BatchChannel(Protocol):
    """Carries the reports of batches one way and the wish to stop the other."""

    def put_report(self, session: SparkSession, batch_id: int, report: str) -> None: ...

    def put_failure(self, session: SparkSession, failure: TrellisError) -> None: ...

    def pop_report(self, batch_id: int) -> str | None:
        """The report of a batch, once."""
        ...

    def failure(self) -> TrellisError | None: ...

    def request_stop(self) -> None: ...

    def is_stopping(self, session: SparkSession) -> bool: ...


@dataclass
class LocalChannel:
    """Between threads of this process."""

    reports: dict[int, str] = field(default_factory=dict)
    error: TrellisError | None = None
    stopping: threading.Event = field(default_factory=threading.Event)

    def put_report(self, session: SparkSession, batch_id: int, report: str) -> None:
        self.reports[batch_id] = report

    def put_failure(self, session: SparkSession, failure: TrellisError) -> None:
        self.error = failure

    def pop_report(self, batch_id: int) -> str | None:
        return self.reports.pop(batch_id, None)

    def failure(self) -> TrellisError | None:
        return self.error

    def request_stop(self) -> None:
        self.stopping.set()

    def is_stopping(self, session: SparkSession) -> bool:
        return self.stopping.is_set()


class ConnectChannel:
    """Through the conf of a Spark Connect session, which the client and its workers on the server share."""

    def __init__(self, session: SparkSession) -> None:
        self.session: SparkSession | None = session
        self.prefix = f"spark.trellis.stream.{uuid4().hex}"

    def __getstate__(self) -> dict[str, object]:
        return {"prefix": self.prefix, "session": None}  # a worker has a session of its own

    def put_report(self, session: SparkSession, batch_id: int, report: str) -> None:
        session.conf.set(f"{self.prefix}.{batch_id}", report)

    def put_failure(self, session: SparkSession, failure: TrellisError) -> None:
        kind = next(kind for kind in type(failure).__mro__ if kind.__module__ == errors.__name__)
        session.conf.set(f"{self.prefix}.failure", json.dumps([kind.__name__, str(failure)]))

    def pop_report(self, batch_id: int) -> str | None:
        key = f"{self.prefix}.{batch_id}"
        report = self._get(key)
        if report is not None and self.session is not None:
            self.session.conf.unset(key)
        return report

    def failure(self) -> TrellisError | None:
        text = self._get(f"{self.prefix}.failure")
        if text is None:
            return None
        name, message = json.loads(text)
        kind: type[TrellisError] = getattr(errors, name)
        return kind(message)

    def request_stop(self) -> None:
        assert self.session is not None
        self.session.conf.set(f"{self.prefix}.stop", "true")

    def is_stopping(self, session: SparkSession) -> bool:
        return session.conf.get(f"{self.prefix}.stop", "false") == "true"

    def _get(self, key: str) -> str | None:
        assert self.session is not None
        return self.session.conf.get(key, None)


# ---- the query


@dataclass
class BatchFunction:
    """What `foreachBatch` calls. Spark Connect ships it to the server, so it holds no session.

    Relative paths mean there what they mean here, if that machine has the folder.
    """

    work: BatchWork
    channel: BatchChannel
    folder: str = field(default_factory=os.getcwd)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with suppress(OSError):
            os.chdir(self.folder)

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        session = frame.sparkSession
        if self.channel.is_stopping(session):
            raise RuntimeError(_STOPPED)  # a batch that returns counts as done
        try:
            report = self.work(frame, batch_id)
        except TrellisError as failure:
            self.channel.put_failure(session, failure)
            raise
        self.channel.put_report(session, batch_id, report)


@dataclass(frozen=True)
class BatchProgress:
    """What Spark says of a batch that is done. `lag` counts the records that the source has beyond it, where
    the source says so."""

    seconds: float
    lag: int | None = None


class BatchQuery:
    """A running query that hands each batch to some work.

    `on_batch` is called for each batch that is done, with Spark's progress and the report of the work.
    Raises UsageError, SparkError.
    """

    def __init__(
        self,
        frame: DataFrame,
        work: BatchWork,
        checkpoint: str,
        interval: str | None,
        on_batch: Callable[[BatchProgress, str], object],
    ) -> None:
        session = frame.sparkSession
        self.session = session
        self.checkpoint = checkpoint
        self.channel: BatchChannel = ConnectChannel(session) if is_connect(session) else LocalChannel()
        self.on_batch = on_batch
        self.started = threading.Event()
        self.ended = threading.Event()
        self.listener = _listener(self)
        session.streams.addListener(self.listener)
        writer = frame.writeStream.foreachBatch(BatchFunction(work, self.channel))
        writer = writer.option("checkpointLocation", checkpoint)
        writer = (
            writer.trigger(availableNow=True) if interval is None else writer.trigger(processingTime=interval)
        )
        self.writer = writer
        self.repeated = False
        try:
            self.query: StreamingQuery = writer.start()
        except Exception as failure:
            session.streams.removeListener(self.listener)
            raise query_failure(failure, checkpoint) from failure
        self.started.set()

    def wait(self, seconds: float) -> bool:
        """Whether the query ended within some time. Raises what ended it, TrellisError."""
        try:
            ended = self.query.awaitTermination(seconds)  # type: ignore[arg-type]
        except Exception as failure:
            if _REPEATED_BATCH_FAULT in str(failure) and not self.repeated:
                self.repeated = True
                self.query = self.writer.start()
                self.ended.clear()
                return False
            self._finish()
            if _STOPPED in str(failure):
                return True
            raise self.channel.failure() or query_failure(failure, self.checkpoint) from failure
        if ended:
            self._finish()
        return bool(ended)

    def request_stop(self) -> None:
        """Let no further batch begin."""
        self.channel.request_stop()

    def stop_if_idle(self) -> bool:
        """End the query unless a batch runs; whether it ended. After `request_stop`."""
        if self.query.isActive and self.query.status["isTriggerActive"]:
            return False
        self.query.stop()
        return True

    def kill(self) -> None:
        """End the query in the middle of a batch."""
        self.query.stop()
        self._finish()

    def _finish(self) -> None:
        """Wait for the progress of the last batches, which listeners get later than the query ends."""
        self.ended.wait(_EVENT_SECONDS)
        with suppress(Exception):  # a session that is gone has no listeners
            self.session.streams.removeListener(self.listener)

    def _progress(self, progress: Any) -> None:
        self.started.wait(_EVENT_SECONDS)
        if str(progress.runId) != str(self.query.runId):
            return
        report = self.channel.pop_report(progress.batchId)
        if report is not None:
            lag = lag_of(json.loads(progress.json)["sources"])
            self.on_batch(BatchProgress(progress.batchDuration / 1000, lag), report)

    def _terminated(self, run_id: str) -> None:
        self.started.wait(_EVENT_SECONDS)
        if run_id == str(self.query.runId):
            self.ended.set()


def _listener(query: BatchQuery) -> StreamingQueryListener:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802
            return

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            query._progress(event.progress)

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            return

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            query._terminated(str(event.runId))

    return Listener()


def lag_of(sources: Sequence[Mapping[str, Any]]) -> int | None:
    """The records between the end of a batch and the newest ones, of sources that count them by partition.

    >>> lag_of([{"latestOffset": {"orders": {"0": 9, "1": 5}}, "endOffset": {"orders": {"0": 7, "1": 5}}}])
    2
    >>> lag_of([{"latestOffset": None, "endOffset": {"logOffset": 0}}])
    """
    counted = [
        offset - source["endOffset"].get(topic, {}).get(partition, 0)
        for source in sources
        if isinstance(source.get("latestOffset"), dict) and isinstance(source.get("endOffset"), dict)
        for topic, offsets in source["latestOffset"].items()
        if isinstance(offsets, dict)
        for partition, offset in offsets.items()
    ]
    return sum(counted) if counted else None


def query_id(session: SparkSession, checkpoint: str) -> str:
    """The id of the query that a checkpoint belongs to: another one where the checkpoint is deleted."""
    try:
        row = session.read.text(f"{checkpoint}/metadata").first()
    except Exception as failure:
        raise job_failure(failure) from failure
    if row is None:
        raise SparkError(f"{checkpoint}: the checkpoint has no query id; name another with --checkpoint")
    return str(json.loads(row.value)["id"])


def query_failure(failure: Exception, checkpoint: str) -> TrellisError:
    """Why a query did not start, or ended."""
    if "CONCURRENT_STREAM_LOG_UPDATE" in str(failure) or "Multiple streaming jobs detected" in str(failure):
        return UsageError(
            f"{checkpoint}: another process runs a stream with this checkpoint; stop one of them, or name "
            "another checkpoint with --checkpoint"
        )
    return job_failure(failure)
