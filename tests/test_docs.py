"""The documentation is true: its commands parse and its Python compiles."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer
import typer.main

from doc_blocks import ROOT, Block, blocks, commands
from trellis.cli.app import app

PLACEHOLDERS = ("...", "…")
"""What stands for arguments that are left out."""


def parse(words: list[str]) -> None:
    """Raises what the command line prints as bad usage, where it would refuse the words."""
    if words[0] == "--profile":  # an option of the program itself
        words = words[2:]
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="trellis")
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, words)
        context = typer.Context(command, info_name=name, parent=context)
    command.make_context(context.info_name, words, parent=context.parent)


COMMANDS = [
    pytest.param(words, id=f"{block}-{' '.join(words)[:60]}")
    for block in blocks()
    if not block.language
    for words in commands(block)
    if not any(placeholder in word for word in words for placeholder in PLACEHOLDERS)
]
PYTHON = [pytest.param(block, id=str(block)) for block in blocks() if block.language == "python"]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_of_the_documentation_parses(words: list[str]) -> None:
    parse(words)


def test_there_are_commands_to_parse() -> None:
    assert len(COMMANDS) > 60
    with pytest.raises(Exception, match="No such option"):
        parse(["load", "x.jsonl", "--no-such-option"])


@pytest.mark.parametrize("block", PYTHON)
def test_python_of_the_documentation_compiles_and_its_imports_are_there(block: Block) -> None:
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "trellis":
            assert node.module is not None
            module = import_module(node.module)
            assert not [alias.name for alias in node.names if not hasattr(module, alias.name)]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "trellis":
                    import_module(alias.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "trellis":
            known = hasattr(import_module("trellis"), node.attr)
            assert known or (ROOT / "src/trellis" / node.attr).exists()


def test_the_cursor_of_the_readme_loads_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = [
        {"id": number, "updated_at": f"2026-02-{number % 28 + 1:02}T00:00:00Z"} for number in range(500)
    ]

    def fetch_orders(since: str, page: int) -> list[dict[str, Any]]:
        rows = [order for order in orders if str(order["updated_at"]) >= since]
        return rows[page * 100 : (page + 1) * 100]

    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in blocks() if block.page == "README.md" and "incremental(" in block.text)
    exec(block.text, {"fetch_orders": fetch_orders})
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute("SELECT count(DISTINCT id) FROM shop_data.orders").fetchall() == [(500,)]
