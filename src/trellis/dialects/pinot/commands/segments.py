"""`trellis pinot jars` and `trellis pinot segments`: Pinot's own classes, and segments that they build."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import Debug, EngineArguments, Json
from trellis.dialects.pinot.commands.arguments import Url
from trellis.errors import DestinationError, UsageError


def fetch_jars(debug: Debug = False) -> None:
    """Fetch the jars of Pinot's own classes by Maven: about 220 files, 150 MB.

    `load --option functions=pinot-jars`, `pinot validate --pinot-jars` and `pinot segments` need them, and a
    Java of 17 or later. They go into the folder of TRELLIS_PINOT_JARS, by default in the user's cache.
    """
    from trellis.cli.output.console import console
    from trellis.dialects.pinot.jars.gateway import chosen_folder

    folder = chosen_folder().absolute()
    _run_maven(folder)
    console().print(f"{len([*folder.glob('*.jar')])} jars are in {folder}", style="bold", soft_wrap=True)


@expand_groups
def build_delivered_segments(
    delivery: Annotated[
        str,
        typer.Argument(
            metavar="DELIVERY", help="Folder that `trellis pinot deliver` wrote.", show_default=False
        ),
    ],
    controller: Url = None,
    *,
    engine: EngineArguments,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Build the segments of a delivery in Spark tasks, by Pinot's own classes: DELIVERY/segments/NAME.tar.gz.

    With --controller they are pushed into the OFFLINE table, which `deliver --controller` adds. Every worker
    needs the jars of `trellis pinot jars` and a Java of 17 or later.
    """
    from dataclasses import asdict

    from trellis.cli.output.console import console, counted, grid, indented, print_json, progress
    from trellis.dialects.pinot.cluster.segments import SEGMENTS, build_segments, segment_orders
    from trellis.dialects.pinot.commands.inputs import connection
    from trellis.pipelines.engine import runner_of

    client = connection(controller)
    folder = Path(delivery, SEGMENTS)
    orders = segment_orders(Path(delivery), folder)
    with progress() as tell:
        runner = runner_of(*engine, tell)
        segments = build_segments(orders, runner.parallel, lambda done: tell("writing", done, len(orders)))
    if client is not None:
        for order, segment in zip(orders, segments, strict=True):
            client.push_segment(order.table_name, segment.path.name, segment.path.read_bytes())
    if json:
        built = [{**asdict(segment), "path": str(segment.path)} for segment in segments]
        print_json({"segments": built, "pushed": 0 if client is None else len(segments)})
        return
    rows = counted(sum(segment.rows for segment in segments), "row")
    out_console = console()
    out_console.print(f"Built {counted(len(segments), 'segment')} with {rows}", style="bold", soft_wrap=True)
    table = grid("Segment", "Rows", "Bytes", "CRC", right=("Rows", "Bytes", "CRC"))
    for segment in segments:
        table.add_row(
            str(folder / segment.path.name), f"{segment.rows:,}", f"{segment.bytes:,}", str(segment.crc)
        )
    out_console.print(indented(table))
    if client is not None:
        out_console.print(f"\nPushed {counted(len(segments), 'segment')} to {client.url}", soft_wrap=True)


def _run_maven(folder: Path) -> None:
    """Raises UsageError without Maven, DestinationError where it fails."""
    from trellis.dialects.pinot import jars

    pom = Path(jars.__file__).with_name("pom.xml")
    maven = shutil.which("mvn")
    if maven is None:
        raise UsageError(
            f"`mvn` is not on the PATH: install Maven, or put the jars that {pom} names into {folder}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    goal = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")
    command = [maven, "-B", "-q", "-f", str(pom), *goal]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise DestinationError(f"Maven did not fetch the jars that {pom} names:\n{ran.stdout[-2000:]}")
