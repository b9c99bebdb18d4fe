"""What `trellis snowplow shred` and `stream` were asked, as a shredder and a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast, get_args

from trellis.cli.commands.load import settings_of
from trellis.cli.output.console import console, progress
from trellis.cli.output.load_report import show
from trellis.cli.verbosity import is_quiet
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.commands.arguments import ShredArguments
from trellis.dialects.snowplow.events.families import Layout
from trellis.dialects.snowplow.options import NAMES, REVISIONS
from trellis.dialects.snowplow.runs.duplicates import Deduplication
from trellis.dialects.snowplow.runs.event_store import open_event_store
from trellis.dialects.snowplow.runs.manifest import Compression, FileFormat
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.windows import start_window_stream
from trellis.errors import UsageError, nearest
from trellis.pipelines.engine import runner_of
from trellis.pipelines.loading.job import ProgressCallback, ignore_progress
from trellis.pipelines.report import Report
from trellis.pipelines.streaming.options import DEFAULT_TRIGGER, interval_of
from trellis.pipelines.streaming.stream import OnBatch, Stream

_COMPRESSIONS: Final = tuple(name.lower() for name in get_args(Compression))


def open_shredder(arguments: ShredArguments, tell: ProgressCallback = ignore_progress) -> Shredder:
    """Raises UsageError, SchemaError, RegistryUnavailable."""
    _check("--format", arguments.format, get_args(FileFormat))
    _check("--layout", arguments.layout, get_args(Layout))
    _check("--compression", arguments.compression, _COMPRESSIONS)
    _check("--dedup", arguments.dedup, get_args(Deduplication))
    settings = settings_of(arguments.option, example="validate=false")
    for name in settings:
        _check("--option", name, tuple(choice for choice in NAMES if choice not in REVISIONS))
    rules = {"layout": arguments.layout, **({"compat": "true"} if arguments.compat else {})}
    return Shredder(
        Path(arguments.out),
        RegistryReferences.open(arguments.schema),
        runner_of(*arguments.engine, tell),
        cast("FileFormat", arguments.format),
        cast("Compression", arguments.compression.upper()),
        arguments.profile,
        cast("Deduplication", arguments.dedup),
        None if arguments.dedup_store is None else open_event_store(arguments.dedup_store),
        {**rules, **settings},
        tell,
        arguments.staging,
    )


def shred_each(arguments: ShredArguments, source: str) -> Iterator[Report]:
    """Shred runs, each when its report is asked for, below a bar on stderr. Raises what a shredder raises."""
    with progress() as tell:
        yield from open_shredder(arguments, tell).shred(source)


def show_shredded(source: str, reports: Sequence[Report]) -> None:
    for report in () if is_quiet() else reports:
        if report.rows.read or not report.notes:
            show(report, [source], console())
        else:  # it was passed over, or there already
            for note in report.notes:
                console().print(note, style="yellow", soft_wrap=True)


def start_windows(
    arguments: ShredArguments,
    source: str,
    trigger: str | None,
    checkpoint: str | None,
    reading: Mapping[str, str],
    on_batch: OnBatch,
) -> Stream:
    """Raises UsageError, SchemaError, RegistryUnavailable, SparkError."""
    return start_window_stream(
        open_shredder(arguments),
        arguments.schema,
        source,
        reading,
        interval_of(trigger or DEFAULT_TRIGGER),
        checkpoint,
        on_batch,
    )


def _check(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{option}: there is no {value!r}{nearest(value, choices)}")
