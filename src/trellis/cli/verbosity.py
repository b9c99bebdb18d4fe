"""How much a command says: `-q` and `-v`, which every command takes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

_chosen: set[str] = set()


def reset_verbosity() -> None:
    """Forget what an earlier command line in this process chose."""
    _chosen.clear()


def is_quiet() -> bool:
    return "quiet" in _chosen


def is_verbose() -> bool:
    return "verbose" in _chosen


def tell(note: str) -> None:
    """Print a note on stderr."""
    if not is_quiet():
        print(note, file=sys.stderr)


def _choose(parameter: typer.CallbackParam, value: bool) -> bool:
    if value:
        _chosen.add(str(parameter.name))
    return value


def _flag(short: str, long: str, help_: str) -> Any:
    return typer.Option(
        *(short, long),
        callback=_choose,
        expose_value=False,
        show_default=False,
        rich_help_panel="Output",
        help=help_,
    )


_app = typer.Typer(add_completion=False)


@_app.command()
def _options(
    quiet: Annotated[
        bool, _flag("-q", "--quiet", "Say nothing of what went well: no progress, report or notes.")
    ] = False,
    verbose: Annotated[
        bool, _flag("-v", "--verbose", "Say all: every change and statement, and what each step took.")
    ] = False,
) -> None:
    """Holds the options, which no other function takes as arguments."""


def verbosity_options() -> list[Any]:
    """The options as parameters of a command."""
    return [
        parameter
        for parameter in typer.main.get_command(_app).params
        if parameter.name in ("quiet", "verbose")
    ]
