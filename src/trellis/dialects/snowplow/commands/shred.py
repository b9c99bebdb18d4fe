"""`trellis snowplow shred` and `stream`: enriched events into run folders."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import Checkpoint, Debug, Json, ReadOption, Trigger
from trellis.dialects.snowplow.commands.arguments import ShredArguments


@expand_groups
def shred_runs(
    source: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A run=... folder, or a folder of them.", show_default=False),
    ],
    arguments: ShredArguments,
    *,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Shred runs of enriched events into files of rows, one folder for each run.

    A folder appears when it is complete. Runs that are there already are passed over.
    """
    from trellis.cli.output.console import print_reports, quiet_children
    from trellis.dialects.snowplow.commands.shredder import show_shredded, shred_each

    with quiet_children(debug):
        print_reports("runs", shred_each(arguments, source), json, partial(show_shredded, source))


@expand_groups
def stream_runs(
    source: Annotated[
        str,
        typer.Argument(metavar="DIR", help="Where files of enriched events arrive.", show_default=False),
    ],
    arguments: ShredArguments,
    *,
    trigger: Trigger = None,
    checkpoint: Checkpoint = None,
    read_option: ReadOption = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Shred files of enriched events as they arrive: each window becomes a run folder.

    Started again, the stream goes on where it ended, and a window that was interrupted is shredded once. A
    schema that is published meanwhile counts from the next window on.
    """
    from trellis.cli.commands.load import settings_of
    from trellis.cli.commands.stream import StopSignals, StreamOutput
    from trellis.cli.output.console import quiet_children
    from trellis.dialects.snowplow.commands.shredder import start_windows

    output = StreamOutput(json)
    with quiet_children(debug), StopSignals() as stop:
        reading = settings_of(read_option, "--read-option", "maxFilesPerTrigger=10", exact=True)
        stream = start_windows(arguments, source, trigger, checkpoint, reading, output.print_batch)
        output.follow(stream, stop, source, arguments.out)
