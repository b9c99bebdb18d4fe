"""Help as a person reads it: paragraphs that wrap, and flags without a type."""

from __future__ import annotations

import inspect
from typing import Any

import typer

from trellis.cli.verbosity import verbosity_options


def tidy_help(command: Any, parent: typer.Context | None = None) -> Any:
    """The command, and those below it, with `-q` and `-v` and the help that Typer made of them put right.

    Typer keeps the line breaks of a docstring after its first paragraph, and shows a flag as `<bool>`.
    """
    if not hasattr(command, "commands"):
        command.params += verbosity_options()
    context = typer.Context(command, parent=parent, **command.context_settings)
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for parameter in (*command.params, command.get_help_option(context)):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for inner_command in getattr(command, "commands", {}).values():
        tidy_help(inner_command, context)
    return command
