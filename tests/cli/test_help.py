"""Help says all there is, the manual says it again, and neither takes long."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import trellis as package
from trellis.cli.app import app
from trellis.cli.commands.generate import generate_records
from trellis.cli.commands.load import load_records
from trellis.dialects import registrations
from trellis.generate import PROFILES

MANUAL = Path(__file__).parents[2] / "docs" / "cli.md"
SRC = Path(__file__).parents[2] / "src"


def commands_of(app: typer.Typer) -> dict[str, Any]:
    """Every command by the words that call it."""
    commands: dict[str, Any] = {}
    waiting = [("trellis", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        inner = getattr(command, "commands", {})
        if name != "trellis" and not inner:
            commands[name] = command
        waiting += [(f"{name} {word}", inner_command) for word, inner_command in inner.items()]
    return commands


COMMANDS = commands_of(app)


def test_there_are_all_commands():
    schema = ("show", "history", "diff", "drift", "export", "import", "convert", "plan", "apply", "lint")
    groups = (*(f"schema {word}" for word in schema), "discards list", "discards replay", "rejects list")
    words = (
        "load",
        "plan",
        "stream",
        "run",
        "drop",
        "inspect",
        "loads",
        "files",
        "docs",
        "config schema",
        "generate",
        *groups,
    )
    app_of_plugins = typer.Typer()
    app_of_plugins.command("generate")(generate_records)
    app_of_plugins.command("load")(load_records)
    for registration in registrations().values():
        registration.add_commands(app_of_plugins)
    assert {*COMMANDS} == {f"trellis {word}" for word in words} | {*commands_of(app_of_plugins)}


SHARED_OPTIONS = {
    **dict.fromkeys(("trellis load", "trellis plan", "trellis stream"), "Arguments of load and plan"),
    "trellis snowplow stream": "trellis snowplow shred",
}
"""The section of the manual with options that a command has beside those of its own section."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_a_place_in_the_manual(trellis, name):
    ran = trellis(*name.split()[1:], "--help")
    assert ran.code == 0
    manual = MANUAL.read_text(encoding="utf-8")
    assert f"## {name}" in manual
    titles = [name, *([SHARED_OPTIONS[name]] if name in SHARED_OPTIONS else [])]
    section = "".join(manual.split(f"## {title}")[1].split("\n## ")[0] for title in titles)
    options = [option for param in COMMANDS[name].params for option in param.opts if option.startswith("--")]
    missing = [option for option in options if f"`{option}" not in section]
    assert not {*missing} - {"--help", "--debug"}
    text = re.sub(r"[^\w-]+", " ", ran.out)
    assert not [option for option in options if option not in text]


def test_help_wraps_and_shows_flags_without_a_type(trellis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = trellis("plan", "--help").out.splitlines()
    assert lines[5:8] == [
        " The whole input is read and its commit rehearsed: the new tables and columns,",
        " the statements, the discards and the rejects are those that the load will",
        " have, and what it refuses the plan refuses.",
    ]
    assert "│ --json                 Print one JSON object and nothing else.               │" in lines
    assert "│ --help  -h        Show this message and exit.                                │" in lines


def test_help_and_manual_name_every_profile_of_made_up_records(trellis):
    section = MANUAL.read_text(encoding="utf-8").split("## trellis generate")[1].split("\n## ")[0]
    help_text = trellis("generate", "--help").out
    for profile in PROFILES:
        assert re.search(rf"\b{profile}\b", help_text), profile
        assert f"`{profile}`" in section


def test_the_manual_names_no_option_there_is_not():
    known = {option for command in COMMANDS.values() for param in command.params for option in param.opts}
    known |= {"--version", "--quiet", "--verbose"}
    documented = {*re.findall(r"`(--[a-z-]+)", MANUAL.read_text(encoding="utf-8"))}
    assert documented - known - {"--help"} == set()


def test_help_lists_the_commands(trellis):
    out = trellis().out
    for word in ("load", "plan", "inspect", "generate", "schema"):
        assert re.search(rf"│ {word} ", out)
    out = trellis("schema").out
    for word in ("show", "history", "diff", "export", "import", "lint"):
        assert re.search(rf"│ {word} ", out)


def test_version(trellis):
    assert trellis("--version").out == f"trellis {package.__version__}"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from trellis.cli.app import run; run(['--help']); "
        "print([m for m in ('pyarrow', 'duckdb', 'pyspark', 'numpy', 'pandas') if m in sys.modules])"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SRC)}
    )
    assert completed.stdout.endswith("[]\n")
