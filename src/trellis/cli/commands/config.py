"""`trellis config`: what an editor wants to know of trellis.yaml."""

from __future__ import annotations

import typer

from trellis.cli.arguments import Debug

configuration = typer.Typer(
    name="config",
    help="Help editors with trellis.yaml.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@configuration.command("schema")
def print_schema(debug: Debug = False) -> None:
    """Print a JSON Schema of trellis.yaml, from which editors complete and check it."""
    from trellis.cli.config_schema import config_schema
    from trellis.cli.output.console import print_json

    print_json(config_schema())
