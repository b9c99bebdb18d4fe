"""A dialect and a destination of another distribution, installed as pip installs it, on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trellis.dialects import names

SOURCES = Path(__file__).parents[1] / "src"
DIALECT = """
from trellis.dialects.registration import Registration


def open_dialect():
    from trellis.evolution.dialect.defaults import DialectDefaults

    class Acme(DialectDefaults):
        name = "acme"

    return Acme()


registration = Registration(dialect=open_dialect, option_example="colour=red")
"""
DESTINATION = """
from trellis.destinations.registration import Registration


def open_destination(url):
    from trellis.destinations.duckdb.destination import DuckDB
    from trellis.destinations.url import path_of

    destination = DuckDB(path_of(url, "acme:NAME") + ".acme")
    destination.url = url
    return destination


registration = Registration(open=open_destination, url_form="acme:NAME", other_schemes=("acmes",))
"""


class Site:
    """A folder of installed distributions, and a working directory."""

    def __init__(self, folder: Path) -> None:
        self.packages = folder / "packages"
        self.work = folder / "work"
        self.packages.mkdir()
        self.work.mkdir()
        (self.work / "x.jsonl").write_text('{"id": 7, "tags": ["a", "b"]}\n')

    def install(self, distribution: str, entry_points: str, **modules: str) -> None:
        metadata = self.packages / f"{distribution.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(entry_points)
        for name, code in modules.items():
            (self.packages / f"{name}.py").write_text(code)

    def trellis(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join((str(self.packages), str(SOURCES)))
        return subprocess.run(
            [sys.executable, "-m", "trellis.cli", *arguments],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )

    def load(self, *arguments: str) -> dict[str, object]:
        completed = self.trellis("load", "x.jsonl", "--json", *arguments)
        assert (completed.returncode, completed.stderr) == (0, "")
        report: dict[str, object] = json.loads(completed.stdout)
        return report


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_dialect_of_another_distribution(site: Site) -> None:
    site.install(
        "acme-dialect", "[trellis.dialects]\nacme = acme_dialect:registration\n", acme_dialect=DIALECT
    )
    report = site.load("--dialect", "acme", "--to", "duckdb:x.duckdb")
    assert (report["dialect"], report["rows"]) == (
        "acme",
        {"in": 1, "loaded": 1, "rejected": 0, "dropped": 0},
    )
    text = site.trellis("load", "--help").stdout
    assert f"Schema language: {', '.join(names())}, acme;" in text
    assert "colour=red (acme)" in text


def test_a_destination_of_another_distribution(site: Site) -> None:
    site.install(
        "acme-store", "[trellis.destinations]\nacme = acme_store:registration\n", acme_store=DESTINATION
    )
    report = site.load("--to", "acme:somewhere", "--table", "orders")
    assert report["destination"] == "acme:somewhere"
    assert (site.work / "somewhere.acme").is_file()
    shown = json.loads(site.trellis("schema", "show", "--at", "acmes:somewhere", "--json").stdout)
    assert {"orders", "orders__tags"} <= {*shown["tables"]}
    text = " ".join(site.trellis("load", "--help").stdout.replace("│", " ").split())
    assert "acme:NAME; default duckdb:trellis.duckdb" in text
    unknown = site.trellis("load", "x.jsonl", "--to", "acmee:x")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "error: 'acmee:x' names no destination: did you mean 'acme'?\n",
    )


GROUPS = {"dialect": "--dialect", "destination": "--to"}


@pytest.mark.parametrize("kind", GROUPS)
def test_an_entry_point_that_cannot_be_imported_is_one_sentence(site: Site, kind: str) -> None:
    site.install(
        "acme-broken",
        f"[trellis.{kind}s]\nbroken = acme_broken:registration\n",
        acme_broken="import no_such_library\n",
    )
    sentence = (
        f"{kind} 'broken' of acme-broken: acme_broken:registration cannot be imported "
        "(No module named 'no_such_library'); repair its distribution or uninstall it\n"
    )
    value = "broken:x" if kind == "destination" else "broken"
    used = site.trellis("load", "x.jsonl", GROUPS[kind], value)
    assert (used.returncode, used.stderr) == (2, f"note: {sentence}error: {sentence}")
    others = site.trellis("load", "x.jsonl", "--json")
    assert (others.returncode, others.stderr) == (0, f"note: {sentence}")


@pytest.mark.parametrize("kind", GROUPS)
def test_two_entry_points_of_one_name_are_one_sentence(site: Site, kind: str) -> None:
    entry_point = f"[trellis.{kind}s]\nacme = {{}}:registration\n"
    code = DIALECT if kind == "dialect" else DESTINATION
    site.install("acme-one", entry_point.format("acme_one"), acme_one=code)
    site.install("acme-two", entry_point.format("acme_two"), acme_two=code)
    sentence = (
        f"{kind} 'acme' is registered 2 times, as acme_one:registration of acme-one and "
        "acme_two:registration of acme-two; uninstall all but one of them\n"
    )
    used = site.trellis("load", "x.jsonl", GROUPS[kind], "acme:x" if kind == "destination" else "acme")
    assert (used.returncode, used.stderr) == (2, f"note: {sentence}error: {sentence}")
