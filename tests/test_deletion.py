"""Each dialect is a folder that can be deleted: what remains imports, loads and keeps its tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from trellis.dialects import DEFAULT_DIALECT, names

ROOT = Path(__file__).parents[1]
DIALECTS = sorted(path.parent.name for path in (ROOT / "src/trellis/dialects").glob("*/registration.py"))
SALE = {"type": "track", "messageId": "1", "event": "Sale", "receivedAt": "2024-02-29T10:00:00Z"}
"""A record that every dialect takes that reads JSON of any kind."""
ENRICHED = ("web", "web", "", "2024-02-29 10:00:00", "", "unstruct", "c6ef3124-b53a-4b13-a233-0088f79dcbcb",
            *[""] * 3, "ssc-1", "stream-1", *[""] * 119)  # fmt: skip
"""The fields of an event as Snowplow enriches it."""
IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
import trellis

names = [module.name for module in walk_packages(trellis.__path__, "trellis.")]
for name in names:
    if not name.endswith(".__main__"):
        import_module(name)
print(*names, sep="\\n")
"""
RUN_COMMANDS = """
from contextlib import redirect_stdout
from io import StringIO
from json import dumps, loads
import sys
from trellis.cli.app import run

printed = []
for arguments in loads(sys.argv[1]):
    with redirect_stdout(StringIO()) as output:
        assert run(arguments) == 0
    printed.append(output.getvalue())
print(dumps(printed))
"""
IMPORT_TESTS = """
from importlib import import_module
from pathlib import Path
import sys

sys.path.insert(0, "tests")
for path in sorted(Path("tests").rglob("*.py")):
    import_module(".".join(path.relative_to("tests").with_suffix("").parts))
    print(path.as_posix())
"""


@dataclass(frozen=True)
class Remaining:
    """A copy of the project without one dialect."""

    deleted: str
    folder: Path

    @property
    def dialects(self) -> list[str]:
        """Those that can load."""
        return [name for name in names() if name in DIALECTS and name != self.deleted]

    def run(self, *arguments: str, code: int = 0) -> str:
        """What a Python of the copy prints; what it says on stderr where it is to fail."""
        completed = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src"), "TRELLIS_PROPERTIES": "few"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == code, completed.stdout + completed.stderr
        return completed.stderr if code else completed.stdout

    def trellis(self, *commands: Sequence[str]) -> list[str]:
        """What each of the commands prints, all in one process: they have the imports in common."""
        printed: list[str] = json.loads(self.run("-c", RUN_COMMANDS, json.dumps(commands)))
        return printed

    def pytest(self, *arguments: str) -> str:
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)


@pytest.fixture(scope="module", params=DIALECTS)
def remaining(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Remaining]:
    folder, name = tmp_path_factory.mktemp(f"without-{request.param}"), str(request.param)
    for part in ("src", "tests", "docs", "examples"):
        shutil.copytree(ROOT / part, folder / part)  # with what Python has compiled: collecting takes half
    for page in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / page, folder)
    shutil.rmtree(folder / "src/trellis/dialects" / name)
    shutil.rmtree(folder / "tests/dialects" / name)
    (folder / "docs" / f"{name}.md").unlink()
    (folder / "sale.jsonl").write_text(json.dumps(SALE) + "\n")
    (folder / "enriched").write_text("\t".join(ENRICHED) + "\n")
    yield Remaining(name, folder)
    shutil.rmtree(folder)


def test_there_are_dialects_to_delete() -> None:
    assert DIALECTS


def test_every_other_module_imports(remaining: Remaining) -> None:
    modules = remaining.run("-c", IMPORT_ALL).split()
    assert {f"trellis.dialects.{name}.dialect" for name in remaining.dialects} < {*modules}
    assert not [module for module in modules if f".{remaining.deleted}" in module]


def test_help_is_that_of_the_others(remaining: Remaining) -> None:
    code = "from trellis.dialects import names; print(*names())"
    assert remaining.run("-c", code).split() == remaining.dialects
    for text in remaining.trellis(["--help"], ["load", "--help"], ["generate", "--help"]):
        assert "Usage: trellis" in text
        if remaining.deleted != DEFAULT_DIALECT:
            assert remaining.deleted not in text


def test_the_others_load(remaining: Remaining) -> None:
    commands = list[Sequence[str]]()
    for name in remaining.dialects:
        to, source = f"duckdb:{name}.duckdb", "enriched" if name == "snowplow" else "sale.jsonl"
        commands.append(["load", source, "--to", to, "--dialect", name, "--json"])
        commands.append(["schema", "show", "--at", to, "--json"])
    printed = [json.loads(text) for text in remaining.trellis(*commands)]
    for name, report, shown in zip(remaining.dialects, printed[::2], printed[1::2], strict=True):
        assert (report["dialect"], report["rows"]["loaded"]) == (name, 1)
        assert shown["tables"]


def test_the_deleted_one_is_named_in_one_sentence(remaining: Remaining) -> None:
    load = ("-m", "trellis.cli", "load", "sale.jsonl")
    if remaining.deleted == DEFAULT_DIALECT:
        assert remaining.run(*load, code=2) == (
            f"error: the default dialect {DEFAULT_DIALECT} is not installed; choose another with "
            f"--dialect NAME (dialect=NAME in Python): {' or '.join(remaining.dialects)}\n"
        )
    else:
        error = remaining.run(*load, "--dialect", remaining.deleted, code=2)
        assert error.startswith(f"error: there is no dialect {remaining.deleted!r}: ")
        assert error.count("\n") == 1


def test_the_tests_of_the_others_import(remaining: Remaining) -> None:
    modules = remaining.run("-c", IMPORT_TESTS).split()
    folders = {"/".join(path.split("/")[:3]) for path in modules if path.startswith("tests/dialects/")}
    assert {f"tests/dialects/{name}" for name in remaining.dialects} <= folders
    assert f"tests/dialects/{remaining.deleted}" not in folders


def test_the_tests_of_the_core_pass(remaining: Remaining) -> None:
    core = ("test_imports.py", "schema", "evolution", "warehouses")
    assert " passed" in remaining.pytest(*(f"tests/{path}" for path in core))
