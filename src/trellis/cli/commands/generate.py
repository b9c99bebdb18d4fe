"""`trellis generate`: made-up records, for tests and first steps."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from trellis.cli.arguments import Debug, option
from trellis.dialects import registrations

PROFILES = (
    "shop",
    "shop_3",
    "shop_10",
    "shop_30",
    "github",
    "wide",
    "flat",
    "nasty",
    *(p for r in registrations().values() for p in r.profiles),
)
"""Their names, for the help; what they are is imported when the command runs."""


def generate_records(
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="How many lines.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="The same seed gives the same bytes.")] = 0,
    profile: Annotated[
        str,
        typer.Option("--profile", metavar="NAME", help=f"{', '.join(PROFILES[:-1])} or {PROFILES[-1]}."),
    ] = "shop",
    columns: Annotated[
        int, typer.Option("--columns", metavar="N", help="How many columns the profile wide has.")
    ] = 300,
    to: Annotated[
        str | None,
        option("--to", metavar="FILE", help="File to write, compressed for .gz and .zst."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write made-up records as JSON lines, to stdout or a file."""
    from trellis import generate

    if to is None:
        out = sys.stdout.buffer
        for line in generate.generate(rows, seed, profile, columns):
            out.write(line + b"\n")
        out.flush()
        return
    size = generate.write(to, rows, seed, profile, columns)
    typer.echo(f"{rows:,} lines of profile {profile} in {to}, {size:,} bytes before packing", err=True)
