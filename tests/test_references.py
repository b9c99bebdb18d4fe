"""What docstrings, comments and lists of rows refer to is in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs/conformance"
ROWS = sorted((ROOT / "tests/dialects").glob("*/rows.txt"))
CITED = re.compile(r"\b([DPR])-(\d{2,3})\b")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)")


def test_there_are_rows_to_look_for() -> None:
    assert {path.parent.name for path in ROWS} == {"dlt", "pinot", "rudderstack", "snowplow", "ytsaurus"}


@pytest.mark.parametrize("rows", ROWS, ids=lambda path: path.parent.name)
def test_every_behaviour_row_stands_on_its_page(rows: Path) -> None:
    page = (PAGES / f"{rows.parent.name}.md").read_text()
    ids = [line.split()[0] for line in rows.read_text().splitlines() if line.strip()]
    missing = [row for row in ids if not re.search(rf"\b{row[0]}-?{row[1:]}\b", page)]
    assert not missing


def test_rows_that_code_cites_are_on_a_page() -> None:
    pages = "".join(path.read_text() for path in PAGES.glob("*.md"))
    modules = sorted((ROOT / "src").rglob("*.py"))
    cited = {match.group(0) for path in modules for match in CITED.finditer(path.read_text())}
    assert cited
    assert not {row for row in cited if not re.search(rf"\b{row}\b", pages)}


def test_links_of_the_documentation_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages for link in LINK.findall(page.read_text())]
    assert links
    assert not [f"{page}: {link}" for page, link in links if not (page.parent / link).exists()]
