"""`trellis stream`: what arrives in folders and topics, loaded batch by batch."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import Checkpoint, OnViolation, Trigger
from trellis.cli.commands.load import RecordArguments
from trellis.errors import DestinationError

if TYPE_CHECKING:
    from trellis.pipelines.streaming.report import BatchReport
    from trellis.pipelines.streaming.stream import Stream


@expand_groups
def stream_records(
    records: RecordArguments,
    *,
    trigger: Trigger = None,
    checkpoint: Checkpoint = None,
    on_violation: OnViolation = None,
) -> None:
    """Load what arrives: files below folders, topics (kafka://broker/topic), tables that grow.

    Each batch is one load, and one line of output. Started again, the stream goes on where it ended, and a
    batch that was interrupted is loaded once. Ctrl-C and SIGTERM let the running batch finish.
    """
    from trellis.cli.output.console import quiet_children
    from trellis.cli.spark_start import start_engine

    settings = records.settings(trigger=trigger, checkpoint=checkpoint, on_violation=on_violation)
    with quiet_children(records.debug), StopSignals() as stop:
        start_engine(settings, records.sources)
        from trellis.cli.settings import LoadCommand

        work = LoadCommand.of(settings)
        output = StreamOutput(records.json)
        options: dict[str, Any] = {
            **work.options,
            "trigger": settings.trigger,
            "checkpoint": settings.checkpoint,
            "on_violation": settings.on_violation,
        }
        stream = work.pipeline.stream(records.sources, on_batch=output.print_batch, **options)
        output.follow(stream, stop, ", ".join(records.sources), work.pipeline.where)
    if output.failures:
        raise typer.Exit(DestinationError.exit_code)


class StreamOutput:
    """What the command prints: a line for each batch, with --json an object, and nothing else then."""

    def __init__(self, json: bool) -> None:
        self.json = json
        self.batches = self.failures = 0

    def follow(self, stream: Stream, stop: StopSignals, source: str, where: str) -> None:
        """Wait for the end of the stream. Raises what ended it, TrellisError."""
        self.print_line(f"Streaming {source} into {where}; checkpoint {stream.checkpoint}")
        with stop.of(stream):
            stream.wait()
        if not self.batches:
            self.print_line(f"nothing new in {source}")

    def print_batch(self, batch: BatchReport) -> None:
        from trellis.cli.output.console import print_json

        self.batches += 1
        self.failures += len(batch.failures)
        if self.json:
            print_json(batch.to_dict())
            sys.stdout.flush()
        else:
            self.print_line(str(batch))

    def print_line(self, line: str) -> None:
        if not self.json:
            print(line, flush=True)


class StopSignals:
    """Ctrl-C and SIGTERM: the first lets the running batch finish, the second ends the stream at once."""

    def __enter__(self) -> StopSignals:
        self._stream: Stream | None = None
        self._stopping = False
        self._before = {
            number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    @contextmanager
    def of(self, stream: Stream) -> Iterator[None]:
        self._stream = stream
        try:
            yield
        finally:
            self._stream = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._stream is None or self._stopping:
            raise KeyboardInterrupt
        self._stopping = True
        print("stopping after the running batch; again to stop at once", file=sys.stderr)
        self._stream.request_stop()

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
