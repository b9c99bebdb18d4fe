"""`trellis`: the commands put together, and what becomes of an error."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from trellis import __version__
from trellis.cli import arguments
from trellis.cli.commands.config import configuration
from trellis.cli.commands.discards import discards, rejects
from trellis.cli.commands.docs import write_pages
from trellis.cli.commands.files import show_files
from trellis.cli.commands.generate import generate_records
from trellis.cli.commands.inspect import inspect_records
from trellis.cli.commands.load import load_records, plan_load
from trellis.cli.commands.loads import list_loads
from trellis.cli.commands.run import drop_resources, run_source
from trellis.cli.commands.schema import schemas
from trellis.cli.commands.stream import stream_records
from trellis.cli.help_text import tidy_help
from trellis.cli.output.console import completed, print_json, print_warning
from trellis.cli.output.standard_output import discard_standard_output, is_of_standard_output
from trellis.cli.verbosity import reset_verbosity
from trellis.dialects import registrations
from trellis.errors import TrellisError, UsageError
from trellis.pipelines.config import PROFILE, chosen_profile

STOPPED = 130
FAULT = 3

app = typer.Typer(
    name="trellis",
    help="The schema layer for Spark pipelines: semi-structured records become tables that grow with them.",
    epilog="Exit codes: 0 done, 1 the data broke the contract, 2 bad usage, 3 destination or Spark failed.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("load")(load_records)
app.command("plan")(plan_load)
app.command("stream")(stream_records)
app.command("run")(run_source)
app.command("drop")(drop_resources)
app.command("inspect")(inspect_records)
app.add_typer(schemas, name="schema")
app.add_typer(discards, name="discards")
app.add_typer(rejects, name="rejects")
app.command("loads")(list_loads)
app.command("files")(show_files)
app.command("docs")(write_pages)
app.add_typer(configuration, name="config")
for _registration in registrations().values():
    _registration.add_commands(app)
app.command("generate")(generate_records)
_ERROR_FORMS = {
    name: form
    for _registration in registrations().values()
    for name, form in _registration.error_forms.items()
}
_GROUPS = {group.name: group.typer_instance for group in app.registered_groups}


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"trellis {__version__}")
        raise typer.Exit


@app.callback()
def main(
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help=f"A profile of trellis.yaml (or {PROFILE})."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Options before the command."""
    chosen_profile.set(profile)


def run(argv: Sequence[str]) -> int:
    """Run one command line and give its exit code. Errors are one sentence on stderr."""
    arguments.debug.clear()
    reset_verbosity()
    completed.clear()
    warnings.showwarning = print_warning
    words = [*argv, "--help"] if not argv or (len(argv) == 1 and argv[0] in _GROUPS) else list(argv)
    with _Interrupts() as interrupts:
        try:
            command = tidy_help(typer.main.get_command(app))
            code = command.main(words, prog_name="trellis", standalone_mode=False)
            sys.stdout.flush()
        except SystemExit:  # what Typer and Rich make of a broken pipe
            return _nobody_listens()
        except (KeyboardInterrupt, typer.Abort):
            code = STOPPED
        except Exception as bad:
            if isinstance(bad, BrokenPipeError) and is_of_standard_output(bad):
                return _nobody_listens()
            if not interrupts.came:
                return _failed(bad, words)
            code = STOPPED
    if code == STOPPED:
        loading = bool(words) and words[0] == "load"
        _say("stopped; nothing was loaded" if loading else "stopped")
        if completed:
            print_json(completed)
    return code if isinstance(code, int) else 0


def _failed(bad: Exception, argv: Sequence[str]) -> int:
    """Print what went wrong, with --json as an object too, and give the exit code."""
    if arguments.debug:
        traceback.print_exception(bad)
    if is_of_standard_output(bad):
        discard_standard_output()
    message, exit_code = _explained(bad, argv)
    _error(message)
    if "--json" in argv:
        code = UsageError.error_code if exit_code == UsageError.exit_code else "internal"
        error = {
            "type": type(bad).__name__,
            "code": code,
            "message": message,
            "retryable": False,
            "exit_code": exit_code,
        }
        if isinstance(bad, TrellisError):
            error = bad.to_dict()
        form = _ERROR_FORMS.get(next(iter(_words(argv)), ""))
        print_json({**completed, "error": error} if form is None else form(bad, error))
    return exit_code


def _explained(bad: Exception, argv: Sequence[str]) -> tuple[str, int]:
    """The sentence for an error, and its exit code."""
    if isinstance(bad, TrellisError):
        return str(bad), bad.exit_code
    usage: Any = getattr(bad, "format_message", None)  # Typer's own errors: unknown options and the like
    if usage is not None:
        message, command = _plain(usage()), " ".join(["trellis", *_words(argv)])
        known = "did you mean" in message
        return message if known else f"{message}; {command} --help lists the options", 2
    if isinstance(bad, OSError) and bad.strerror:
        is_usage = isinstance(bad, (FileNotFoundError, IsADirectoryError, NotADirectoryError))
        reason = f"{bad.strerror[0].lower()}{bad.strerror[1:]}"
        if is_of_standard_output(bad):
            return f"{bad.filename}: {reason}; send the output to where it can be written", FAULT
        return f"{bad.filename or 'the system'}: {reason}", 2 if is_usage else FAULT
    message = str(bad).strip().partition("\n")[0]
    return (
        f"internal error in Trellis ({type(bad).__name__}{f': {message}' if message else ''}); "
        "run it again with --debug and report what that shows"
    ), FAULT


class _Interrupts:
    """Tells whether Ctrl-C came, even where a library made an error of its own of it, as PySpark does."""

    def __enter__(self) -> _Interrupts:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self.writer, False)
        self.before = signal.set_wakeup_fd(self.writer) if _main_thread() else None
        return self

    @property
    def came(self) -> bool:
        try:
            return signal.SIGINT in os.read(self.reader, 64)
        except BlockingIOError:
            return False

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.set_wakeup_fd(self.before)
        os.close(self.reader)
        os.close(self.writer)


def _main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _words(argv: Sequence[str]) -> list[str]:
    """The command that was meant: the first words that name one."""
    if not argv or argv[0] not in (*(command.name for command in app.registered_commands), *_GROUPS):
        return []
    group = _GROUPS.get(argv[0])
    inner = [command.name for command in group.registered_commands] if group else []
    return list(argv[: 2 if len(argv) > 1 and argv[1] in inner else 1])


def _plain(message: str) -> str:
    text = " ".join(message.split()).rstrip(".")
    text = re.sub(r"\.? \(?(?:Possible options:|Did you mean) (.+?)(?:\)|\?|$)", r": did you mean \1?", text)
    return text[:1].lower() + text[1:]


def _error(text: str) -> None:
    from trellis.cli.output.console import error_console

    console = error_console()
    console.print("error: ", style="bold red", end="")
    console.print(text, soft_wrap=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _nobody_listens() -> int:
    """Whoever read our output has seen enough: end in silence."""
    discard_standard_output()
    return 0
